//! Signs the user in through the pages, as a browser without a script does.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::Fallible;
use crate::http::{Answer, Http};

pub(crate) const CALLBACK: &str = "http://localhost:8765/callback";
pub(crate) const PASSWORD: &str = "cuatro palabras sin sentido";
const SCOPE: &str = "openid offline_access SVC.ES.NEWPOL.ACC.API SVC.ES.EquipoContex SVC.ES.Webhooks";
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

/// An OAuth client with its secret.
#[derive(Clone, Debug)]
pub(crate) struct Application {
    pub(crate) id: String,
    pub(crate) secret: String,
}

/// The tokens of a sign-in.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    pub(crate) access: String,
    pub(crate) refresh: String,
}

impl Tokens {
    fn of(answer: Answer) -> Fallible<Self> {
        let tokens = answer.expect(200)?.json();
        let text = |name: &str| tokens[name].as_str().map(ToOwned::to_owned).ok_or("a token is missing");
        Ok(Self { access: text("access_token")?, refresh: text("refresh_token")? })
    }
}

impl Application {
    /// A sign-in of the user to this application.
    pub(crate) async fn sign_in(&self, http: &Http, public_url: &str, email: &str) -> Fallible<Tokens> {
        let query = encode(&[
            ("client_id", &self.id),
            ("response_type", "code"),
            ("redirect_uri", CALLBACK),
            ("scope", SCOPE),
            ("state", "s"),
        ]);
        let mut browser = Browser { http, origin: public_url, cookies: BTreeMap::new() };
        let mut page = browser.get(&format!("/auth/core/connect/authorize?{query}")).await?;
        for _ in 0..8 {
            let location =
                page.headers.get("location").and_then(|value| value.to_str().ok()).map(ToOwned::to_owned);
            page = match location {
                Some(url) if url.starts_with(CALLBACK) => {
                    let query = url.split_once('?').map_or("", |(_, query)| query);
                    let code = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "code");
                    let (_, code) = code.ok_or_else(|| format!("no code in {url}"))?;
                    return self.exchange(http, public_url, &code).await;
                }
                Some(path) => browser.get(&path).await?,
                None => browser.submit(&page, email).await?,
            };
        }
        Err(format!("the sign-in ended at {}: {}", page.status, page.text()).into())
    }

    async fn exchange(&self, http: &Http, public_url: &str, code: &str) -> Fallible<Tokens> {
        let fields = [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", CALLBACK)];
        Tokens::of(self.request_token(http, public_url, &fields).await?)
    }

    /// The next tokens; the refresh token is used up.
    pub(crate) async fn refresh(&self, http: &Http, public_url: &str, token: &str) -> Fallible<Tokens> {
        let fields = [("grant_type", "refresh_token"), ("refresh_token", token)];
        Tokens::of(self.request_token(http, public_url, &fields).await?)
    }

    async fn request_token(
        &self,
        http: &Http,
        public_url: &str,
        fields: &[(&str, &str)],
    ) -> Fallible<Answer> {
        let own = [("client_id", self.id.as_str()), ("client_secret", self.secret.as_str())];
        let body = encode(&[fields, &own].concat());
        http.post(&format!("{public_url}/auth/core/connect/token"), &[FORM], body).await
    }
}

struct Browser<'a> {
    http: &'a Http,
    origin: &'a str,
    cookies: BTreeMap<String, String>,
}

impl Browser<'_> {
    async fn get(&mut self, path: &str) -> Fallible<Answer> {
        self.send("GET", path, String::new()).await
    }

    async fn send(&mut self, method: &str, path: &str, body: String) -> Fallible<Answer> {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let (cookies, path) = (cookies.join("; "), path_of(path));
        let headers = [FORM, ("cookie", cookies.as_str()), ("accept", "text/html")];
        let answer = self.http.send(method, &format!("{}{path}", self.origin), &headers, body.into()).await?;
        for cookie in answer.headers.get_all("set-cookie") {
            let pair = cookie.to_str()?.split(';').next().unwrap_or_default();
            if let Some((name, value)) = pair.split_once('=') {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        Ok(answer)
    }

    /// Fills the page's form: e-mail and password, or the first tenant.
    async fn submit(&mut self, page: &Answer, email: &str) -> Fallible<Answer> {
        let text = page.text();
        let form = text.split("<form").find(|form| form.contains("method=\"post\"")).ok_or("no form")?;
        let action = attribute(form, "action").ok_or("a form without action")?;
        let mut fields: Vec<(String, String)> = Vec::new();
        for input in form.split("<input").skip(1) {
            let tag = input.split('>').next().unwrap_or_default();
            let (Some(name), value) = (attribute(tag, "name"), attribute(tag, "value").unwrap_or_default())
            else {
                continue;
            };
            let value = match name.as_str() {
                "username" => email.to_owned(),
                "password" => PASSWORD.to_owned(),
                _ => value,
            };
            if !fields.iter().any(|(known, _)| *known == name) {
                fields.push((name, value));
            }
        }
        fields.push(("decision".into(), "allow".into()));
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.send("POST", &action, encode(&fields)).await
    }
}

/// The path and query of an address of the service, whatever host it names.
fn path_of(url: &str) -> &str {
    match url.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
        None => url,
    }
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!("{name}=\""))?;
    Some(rest.split('"').next()?.replace("&amp;", "&"))
}

fn encode(fields: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

/// A value of a JSON answer as text.
pub(crate) fn text(value: &Value) -> Fallible<String> {
    value.as_str().map(ToOwned::to_owned).ok_or_else(|| format!("no text: {value}").into())
}
