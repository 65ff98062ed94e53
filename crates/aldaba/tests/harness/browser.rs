//! A headless browser: it stores cookies, parses forms and follows redirects when a test says so.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Deref;

use super::{HttpRequest, HttpResponse};

/// Talks to one host. A new browser has no cookies.
pub(crate) struct Browser {
    origin: String,
    cookies: RefCell<BTreeMap<String, String>>,
    headers: Vec<(&'static str, String)>,
}

/// A response to the browser.
#[derive(Debug)]
pub(crate) struct Page {
    response: HttpResponse,
}

impl Deref for Page {
    type Target = HttpResponse;

    fn deref(&self) -> &HttpResponse {
        &self.response
    }
}

/// A form of a page.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) action: String,
    pub(crate) method: String,
    pub(crate) fields: Vec<(String, String)>,
    /// The options of a passkey's ceremony, as JSON.
    pub(crate) passkey_options: Option<String>,
}

impl Browser {
    pub(crate) fn new(origin: &str) -> Self {
        Self { origin: origin.to_owned(), cookies: RefCell::default(), headers: Vec::new() }
    }

    /// Sends this header with every request from now on.
    pub(crate) fn with_header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(crate) fn cookie(&self, name: &str) -> Option<String> {
        self.cookies.borrow().get(name).cloned()
    }

    /// The cookies as a request's header has them.
    pub(crate) fn cookie_header(&self) -> String {
        let cookies = self.cookies.borrow();
        let cookies: Vec<String> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        cookies.join("; ")
    }

    pub(crate) fn set_cookie(&self, name: &str, value: &str) {
        self.cookies.borrow_mut().insert(name.to_owned(), value.to_owned());
    }

    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Page {
        self.send(HttpRequest::get(&self.url(path)))
    }

    #[track_caller]
    pub(crate) fn post(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        let request =
            HttpRequest::post(&self.url(path)).header("content-type", "application/x-www-form-urlencoded");
        self.send(request.body(encode_form(fields)))
    }

    /// Submits a form with some fields added or replaced.
    #[track_caller]
    pub(crate) fn submit(&self, form: &Form, filled: &[(&str, &str)]) -> Page {
        let mut fields: Vec<(&str, &str)> = form
            .fields
            .iter()
            .filter(|(name, _)| !filled.iter().any(|(other, _)| other == name))
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        fields.extend_from_slice(filled);
        match form.method.as_str() {
            "post" => self.post(&form.action, &fields),
            _ => self.get(&format!("{}?{}", form.action, encode_form(&fields))),
        }
    }

    /// Follows redirects as long as they stay on this host.
    #[track_caller]
    pub(crate) fn follow_redirects(&self, mut page: Page) -> Page {
        for _ in 0..10 {
            if !page.location().starts_with('/') {
                return page;
            }
            page = self.get(page.location());
        }
        panic!("redirect loop: {page:?}");
    }

    #[track_caller]
    pub(crate) fn send(&self, mut request: HttpRequest) -> Page {
        request = request.header("cookie", &self.cookie_header());
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let response = request.send();
        for line in response.headers.get_all("set-cookie") {
            let line = line.to_str().unwrap();
            let (name, value) = line.split(';').next().unwrap().split_once('=').unwrap();
            if line.contains("Max-Age=0") {
                self.cookies.borrow_mut().remove(name);
            } else {
                self.set_cookie(name, value);
            }
        }
        Page { response }
    }

    fn url(&self, path: &str) -> String {
        if path.starts_with("http") { path.to_owned() } else { format!("{}{path}", self.origin) }
    }
}

impl Page {
    pub(crate) fn location(&self) -> &str {
        self.header("location")
    }

    /// The query parameters of a redirect.
    #[track_caller]
    pub(crate) fn params(&self) -> BTreeMap<String, String> {
        let (_, query) = self.location().split_once('?').unwrap_or_else(|| panic!("no query: {self:?}"));
        decode_form(query)
    }

    /// The page's form with this method, including its hidden and prefilled fields.
    #[track_caller]
    pub(crate) fn form(&self, method: &str) -> Form {
        self.forms()
            .into_iter()
            .find(|form| form.method == method)
            .unwrap_or_else(|| panic!("no {method} form in {}", self.text()))
    }

    pub(crate) fn forms(&self) -> Vec<Form> {
        let text = self.text();
        let pieces = text.split("<form").skip(1);
        pieces
            .map(|piece| {
                let (tag, rest) = piece.split_once('>').unwrap();
                let inside = rest.split("</form>").next().unwrap();
                let inputs = inside.split("<input").skip(1).map(|input| input.split('>').next().unwrap());
                let filled = inputs.filter(|tag| {
                    !["radio", "checkbox"].contains(&attribute(tag, "type").unwrap_or_default().as_str())
                        || tag.contains(" checked")
                });
                let fields = filled.filter_map(|tag| {
                    Some((attribute(tag, "name")?, attribute(tag, "value").unwrap_or_default()))
                });
                Form {
                    action: attribute(tag, "action").unwrap_or_default(),
                    method: attribute(tag, "method").unwrap_or_else(|| "get".into()).to_lowercase(),
                    fields: fields.collect(),
                    passkey_options: attribute(tag, "data-passkey-options"),
                }
            })
            .collect()
    }

    /// The values that a radio or checkbox field offers.
    pub(crate) fn choices(&self, name: &str) -> Vec<String> {
        let inputs = self.text().split("<input").skip(1).map(|input| input.split('>').next().unwrap());
        inputs
            .filter(|tag| attribute(tag, "name").as_deref() == Some(name))
            .filter_map(|tag| attribute(tag, "value"))
            .collect()
    }

    pub(crate) fn has_field(&self, name: &str) -> bool {
        self.text().contains(&format!("name=\"{name}\""))
    }
}

pub(super) fn attribute(tag: &str, name: &str) -> Option<String> {
    let from = tag.find(&format!(" {name}=\""))? + name.len() + 3;
    let value = tag[from..].split('"').next()?;
    Some(unescape_html(value))
}

fn unescape_html(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

pub(crate) fn encode_form(fields: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

pub(crate) fn decode_form(query: &str) -> BTreeMap<String, String> {
    form_urlencoded::parse(query.as_bytes()).map(|(name, value)| (name.into(), value.into())).collect()
}
