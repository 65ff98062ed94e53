//! Signs in through the pages with plain forms, and sends the crate's HTTP requests.

use std::{collections::BTreeMap, error::Error, time::Duration};

use openidconnect::{HttpRequest, HttpResponse, url::Url};
use serde_json::Value;
use ureq::Agent;

fn agent() -> Agent {
    let config = Agent::config_builder()
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(30)));
    config.build().new_agent()
}

/// Sends a request of the crate; does not follow redirects.
pub fn call(request: HttpRequest) -> Result<HttpResponse, ureq::Error> {
    let (parts, mut body) = agent().run(request)?.into_parts();
    Ok(HttpResponse::from_parts(parts, body.read_to_vec()?))
}

/// Revokes a token.
pub fn revoke(issuer: &str, app: &Value, token: &str) -> Result<(), Box<dyn Error>> {
    let text = |member: &str| app[member].as_str().unwrap_or_default().to_owned();
    let fields = [
        ("client_id".to_owned(), text("client_id")),
        ("client_secret".to_owned(), text("client_secret")),
        ("token".to_owned(), token.to_owned()),
    ];
    let answer = Web::default().go(&Url::parse(&format!("{issuer}/connect/revocation"))?, Some(&fields))?;
    if answer.status().is_success() { Ok(()) } else { Err(format!("revocation: {answer:?}").into()) }
}

/// A minimal browser: cookies, redirects and forms.
#[derive(Default)]
pub struct Web {
    cookies: BTreeMap<String, String>,
}

impl Web {
    /// Follows redirects and submits forms like a browser; returns the parameters of the callback.
    pub fn sign_in(
        mut self,
        url: &str,
        user: &Value,
        tenant: &str,
        callback: &str,
    ) -> Result<BTreeMap<String, String>, Box<dyn Error>> {
        let mut here = Url::parse(url)?;
        let mut answer = self.go(&here, None)?;
        for _ in 0..12 {
            if let Some(location) = answer.headers().get("location") {
                here = here.join(location.to_str()?)?;
                if here.as_str().starts_with(callback) {
                    return Ok(here.query_pairs().into_owned().collect());
                }
                answer = self.go(&here, None)?;
                continue;
            }
            let page = String::from_utf8(answer.into_body())?;
            let (action, mut fields) = form(&page).ok_or_else(|| format!("no form at {here}: {page}"))?;
            if page.contains("name=\"password\"") {
                for (name, member) in [("username", "email"), ("password", "password")] {
                    fields.push((name.to_owned(), user[member].as_str().unwrap_or_default().to_owned()));
                }
            } else {
                fields.push(("tenant".to_owned(), tenant.to_owned()));
            }
            here = here.join(&action)?;
            answer = self.go(&here, Some(&fields))?;
        }
        Err(format!("sent around in circles: {here}").into())
    }

    fn go(&mut self, url: &Url, fields: Option<&[(String, String)]>) -> Result<HttpResponse, Box<dyn Error>> {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut body = Url::parse("http://localhost")?;
        body.query_pairs_mut().extend_pairs(fields.unwrap_or_default());
        let request = openidconnect::http::Request::builder()
            .method(if fields.is_some() { "POST" } else { "GET" })
            .uri(url.as_str())
            .header("cookie", cookies.join("; "))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body.query().unwrap_or_default().as_bytes().to_vec())?;
        let answer = call(request)?;
        for line in answer.headers().get_all("set-cookie") {
            let pair = line.to_str()?.split(';').next().and_then(|pair| pair.split_once('='));
            self.cookies.extend(pair.map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
        Ok(answer)
    }
}

/// The action and the hidden fields of the POST form.
fn form(page: &str) -> Option<(String, Vec<(String, String)>)> {
    let form = page.split("<form").skip(1).find(|form| form.contains("method=\"post\""))?;
    let action = attribute(form.split('>').next()?, "action")?;
    let inputs = form.split("</form>").next()?.split("<input").skip(1);
    let hidden = inputs.filter(|input| input.starts_with(" type=\"hidden\""));
    let fields = hidden.filter_map(|input| Some((attribute(input, "name")?, attribute(input, "value")?)));
    Some((action, fields.collect()))
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    Some(rest.split('"').next()?.replace("&amp;", "&"))
}
