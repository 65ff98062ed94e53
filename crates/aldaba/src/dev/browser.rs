//! A browser without a screen: goes through the pages of a sign-in as a person would, up to the code.

use std::collections::BTreeMap;

use aldaba_client::{HttpTransport, Transport as _, TransportError};
use axum::http::{Request, Response, StatusCode, header};
use bytes::Bytes;

use crate::exit::Failure;

/// More pages than any sign-in has.
const PAGES_MAX: usize = 12;

/// Who signs in, and what they choose.
#[derive(Debug)]
pub(super) struct Person<'a> {
    pub(super) email: &'a str,
    pub(super) password: &'a str,
    /// Where there is a choice; else the first that is offered.
    pub(super) tenant: Option<&'a str>,
}

pub(super) struct Browser<'a> {
    transport: HttpTransport,
    /// Without a slash at its end.
    origin: &'a str,
    cookies: BTreeMap<String, String>,
}

impl<'a> Browser<'a> {
    pub(super) fn new(origin: &'a str) -> Result<Self, Failure> {
        let transport = HttpTransport::new().map_err(|error| Failure::Failed(error.to_string()))?;
        Ok(Self { transport, origin, cookies: BTreeMap::new() })
    }

    /// From the authorization request to the code that the application would be sent at `callback`.
    pub(super) async fn sign_in(
        &mut self,
        authorize: &str,
        callback: &str,
        person: &Person<'_>,
    ) -> Result<String, Failure> {
        let mut page = self.get(authorize).await?;
        let (mut has_entered, mut has_chosen) = (false, false);
        for _ in 0..PAGES_MAX {
            let location = page.headers().get(header::LOCATION).and_then(|place| place.to_str().ok());
            let text = String::from_utf8_lossy(page.body()).into_owned();
            let has_field = |name: &str| text.contains(&format!("name=\"{name}\""));
            page = match location {
                Some(place) if place.starts_with(callback) => return code(place),
                Some(place) => self.get(place).await?,
                None if page.status() != StatusCode::OK => break,
                None if has_field("password") && !has_entered => {
                    has_entered = true;
                    let fields = [("username", person.email), ("password", person.password)];
                    self.submit(&text, &fields).await?
                }
                None if has_field("tenant") && !has_chosen => {
                    has_chosen = true;
                    let first = first_choice(&text);
                    let tenant = person.tenant.or(first.as_deref()).unwrap_or_default();
                    self.submit(&text, &[("tenant", tenant), ("decision", "allow")]).await?
                }
                None => break,
            };
        }
        Err(stuck(person, self.origin, page.status(), has_entered, has_chosen))
    }

    /// Posts a form, not as a browser but as an application.
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
        let answer = self.post(&action, &fields).await?;
        self.take_cookies(&answer);
        Ok(answer)
    }

    /// A path on this host; nothing leads elsewhere but the callback, to which nobody goes.
    async fn get(&mut self, path: &str) -> Result<Response<Bytes>, Failure> {
        let request =
            Request::get(format!("{}{path}", self.origin)).header(header::COOKIE, self.cookie_line());
        let answer = self.send(request.body(Bytes::new())).await?;
        self.take_cookies(&answer);
        Ok(answer)
    }

    async fn send(
        &self,
        request: Result<Request<Bytes>, axum::http::Error>,
    ) -> Result<Response<Bytes>, Failure> {
        let request = request.map_err(|error| Failure::Failed(format!("{}: {error}", self.origin)))?;
        self.transport.send(request).await.map_err(|fault| {
            let why = match fault {
                TransportError::Unreachable(why) => why,
                TransportError::TimedOut(after) => format!("no answer within {} s", after.as_secs()),
                TransportError::TooLarge { bytes_max } => format!("an answer of over {bytes_max} bytes"),
            };
            let remedy = "start aldaba dev, and paste the export lines that it prints";
            Failure::Failed(format!("{} cannot be reached ({why}); {remedy}", self.origin))
        })
    }

    fn cookie_line(&self) -> String {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        cookies.join("; ")
    }

    fn take_cookies(&mut self, answer: &Response<Bytes>) {
        for line in answer.headers().get_all(header::SET_COOKIE) {
            let pair = line.to_str().ok().and_then(|line| line.split(';').next()?.split_once('='));
            if let Some((name, value)) = pair {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
    }
}

/// What the callback was told.
fn code(callback: &str) -> Result<String, Failure> {
    let query = callback.split_once('?').map_or("", |(_, query)| query);
    let told: BTreeMap<_, _> = form_urlencoded::parse(query.as_bytes()).collect();
    told.get("code").map(ToString::to_string).ok_or_else(|| {
        let why = told.get("error_description").or_else(|| told.get("error"));
        let why = why.map_or("it was told nothing", |why| &**why);
        Failure::Refused(format!("the application got no code: {why}"))
    })
}

fn stuck(
    person: &Person<'_>,
    origin: &str,
    status: StatusCode,
    has_entered: bool,
    has_chosen: bool,
) -> Failure {
    let remedy = "dev token signs in only where aldaba dev runs, with what it printed";
    let what = if has_chosen {
        let tenant = person.tenant.unwrap_or_default();
        format!("{} may not choose the tenant {tenant:?}; name another with --tenant", person.email)
    } else if has_entered {
        format!("{origin} does not sign {} in with dev's password ({status}); {remedy}", person.email)
    } else {
        format!("{origin} does not know this client ({status}); {remedy}")
    };
    Failure::Refused(what)
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
