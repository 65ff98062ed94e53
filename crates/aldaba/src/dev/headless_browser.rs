//! A minimal browser that submits the forms of a sign-in up to the authorization code.

use std::collections::BTreeMap;

use aldaba_client::{HttpTransport, Transport as _, TransportError};
use axum::http::{Request, Response, StatusCode, header};
use bytes::Bytes;

use super::credentials::{CALLBACK_URI, Client};
use crate::exit::Failure;

/// The most pages of one sign-in.
const PAGES_MAX: usize = 12;

/// The user who signs in, and the tenant to choose.
#[derive(Debug)]
pub(super) struct SignInUser<'a> {
    pub(super) email: &'a str,
    pub(super) password: &'a str,
    /// Used if the user has several tenants; none chooses the first.
    pub(super) tenant: Option<&'a str>,
}

pub(super) struct HeadlessBrowser<'a> {
    transport: HttpTransport,
    /// Without a trailing slash.
    origin: &'a str,
    cookies: BTreeMap<String, String>,
}

impl<'a> HeadlessBrowser<'a> {
    pub(super) fn new(origin: &'a str) -> Result<Self, Failure> {
        let transport = HttpTransport::new().map_err(|error| Failure::Failed(error.to_string()))?;
        Ok(Self { transport, origin, cookies: BTreeMap::new() })
    }

    /// Follows the pages from the authorization request to the redirect to `callback`, and returns its code.
    pub(super) async fn sign_in(
        &mut self,
        authorize: &str,
        callback: &str,
        user: &SignInUser<'_>,
    ) -> Result<String, Failure> {
        let mut page = self.get(authorize).await?;
        let (mut password_sent, mut tenant_sent) = (false, false);
        for _ in 0..PAGES_MAX {
            let location = page.headers().get(header::LOCATION).and_then(|value| value.to_str().ok());
            let text = String::from_utf8_lossy(page.body()).into_owned();
            let has_field = |name: &str| text.contains(&format!("name=\"{name}\""));
            page = match location {
                Some(url) if url.starts_with(callback) => return code(url),
                Some(path) => self.get(path).await?,
                None if page.status() != StatusCode::OK => break,
                None if has_field("password") && !password_sent => {
                    password_sent = true;
                    let fields = [("username", user.email), ("password", user.password)];
                    self.submit(&text, &fields).await?
                }
                None if has_field("tenant") && !tenant_sent => {
                    tenant_sent = true;
                    let first = first_choice(&text);
                    let tenant = user.tenant.or(first.as_deref()).unwrap_or_default();
                    self.submit(&text, &[("tenant", tenant), ("decision", "allow")]).await?
                }
                None => break,
            };
        }
        Err(sign_in_failure(user, self.origin, page.status(), password_sent, tenant_sent))
    }

    /// Exchanges the code of a client of `dev`.
    pub(super) async fn exchange(&self, client: &Client, code: &str) -> Result<Response<Bytes>, Failure> {
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", CALLBACK_URI),
            ("client_id", client.client_id.as_str()),
            ("client_secret", client.client_secret.as_str()),
        ];
        self.post("/auth/core/connect/token", &fields).await
    }

    /// Posts a form without storing the cookies of the response.
    pub(super) async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Result<Response<Bytes>, Failure> {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = Request::post(format!("{}{path}", self.origin))
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(header::COOKIE, self.cookie_line());
        self.send(request.body(Bytes::from(body))).await
    }

    async fn submit(&mut self, page: &str, filled: &[(&str, &str)]) -> Result<Response<Bytes>, Failure> {
        let form = page.split("<form").skip(1).find(|form| tag_of(form).contains("method=\"post\""));
        let form = form.and_then(|form| form.split("</form>").next()).unwrap_or_default();
        let action = attribute(tag_of(form), "action").unwrap_or_default();
        let hidden: Vec<(String, String)> = inputs(form)
            .filter(|input| attribute(input, "type").as_deref() == Some("hidden"))
            .filter_map(|input| Some((attribute(input, "name")?, attribute(input, "value")?)))
            .collect();
        let hidden = hidden.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let fields: Vec<(&str, &str)> = hidden.chain(filled.iter().copied()).collect();
        let response = self.post(&action, &fields).await?;
        self.store_cookies(&response);
        Ok(response)
    }

    /// Requests a path of the identity provider. Every redirect except the callback is a path.
    async fn get(&mut self, path: &str) -> Result<Response<Bytes>, Failure> {
        let request =
            Request::get(format!("{}{path}", self.origin)).header(header::COOKIE, self.cookie_line());
        let response = self.send(request.body(Bytes::new())).await?;
        self.store_cookies(&response);
        Ok(response)
    }

    async fn send(
        &self,
        request: Result<Request<Bytes>, axum::http::Error>,
    ) -> Result<Response<Bytes>, Failure> {
        let request = request.map_err(|error| Failure::Failed(format!("{}: {error}", self.origin)))?;
        self.transport.send(request).await.map_err(|fault| {
            let why = match fault {
                TransportError::Unreachable(why) => why,
                TransportError::TimedOut(after) => format!("no response within {} s", after.as_secs()),
                TransportError::TooLarge { bytes_max } => {
                    format!("a response of more than {bytes_max} bytes")
                }
            };
            let remedy = "start `aldaba dev` and paste the export lines that it prints";
            Failure::Failed(format!("cannot reach {} ({why}); {remedy}", self.origin))
        })
    }

    fn cookie_line(&self) -> String {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        cookies.join("; ")
    }

    fn store_cookies(&mut self, response: &Response<Bytes>) {
        for line in response.headers().get_all(header::SET_COOKIE) {
            let pair = line.to_str().ok().and_then(|line| line.split(';').next()?.split_once('='));
            if let Some((name, value)) = pair {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
    }
}

/// The code in the callback's query.
fn code(callback: &str) -> Result<String, Failure> {
    let query = callback.split_once('?').map_or("", |(_, query)| query);
    let parameters: BTreeMap<_, _> = form_urlencoded::parse(query.as_bytes()).collect();
    parameters.get("code").map(ToString::to_string).ok_or_else(|| {
        let why = parameters.get("error_description").or_else(|| parameters.get("error"));
        let why = why.map_or("the callback has no code and no error", |why| &**why);
        Failure::Refused(format!("the client got no code: {why}"))
    })
}

fn sign_in_failure(
    user: &SignInUser<'_>,
    origin: &str,
    status: StatusCode,
    password_sent: bool,
    tenant_sent: bool,
) -> Failure {
    let remedy = "use the variables that the running `aldaba dev` printed";
    let message = if tenant_sent {
        let tenant = user.tenant.unwrap_or_default();
        format!("{} is not a member of the tenant {tenant:?}; choose another with --tenant", user.email)
    } else if password_sent {
        format!(
            "{origin} refused the sign-in of {} with the password of dev ({status}); {remedy}",
            user.email
        )
    } else {
        format!("{origin} refused the authorization request of this client ({status}); {remedy}")
    };
    Failure::Refused(message)
}

fn tag_of(element: &str) -> &str {
    element.split('>').next().unwrap_or_default()
}

fn inputs(form: &str) -> impl Iterator<Item = &str> {
    form.split("<input").skip(1).map(tag_of)
}

fn first_choice(page: &str) -> Option<String> {
    let mut choices = inputs(page).filter(|input| attribute(input, "name").as_deref() == Some("tenant"));
    attribute(choices.next()?, "value")
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    let value = rest.split('"').next()?;
    let plain = value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    Some(plain.replace("&#39;", "'").replace("&amp;", "&"))
}
