//! Views and what surrounds them: responses in each format, errors.

use std::ops::{Deref, DerefMut};

use axum::http::{Method, StatusCode};
use maud::{Markup, html};
use serde::Serialize;
use ui::{Lang, Severity, notice, safe_href};

use crate::csv::Csv;
use crate::error::PageError;
use crate::live;
use crate::request::{Format, PageRequest};
use crate::response::{self, Response};
use crate::text::ErrorText;

/// What a page shows. The same values are the page's JSON.
pub trait View<C: PageContext>: Serialize {
    fn section(&self) -> C::Section;
    /// Without text from users or clients.
    fn title(&self, lang: Lang) -> &'static str;
    fn content(&self, context: &C) -> Markup;
    /// The page's main table.
    fn csv(&self, _context: &C) -> Option<Csv> {
        None
    }
    /// Whether there are more rows than the page, or its file, has.
    fn has_more(&self) -> bool {
        false
    }
}

/// A request for a page of one site, with what all its pages need.
pub trait PageContext: Deref<Target = PageRequest> + DerefMut + Clone + Send + Sync + 'static {
    /// An entry of the navigation.
    type Section: Copy + Send;

    /// The page around its content.
    fn shell(&self, title: &str, section: Option<Self::Section>, content: &Markup) -> Markup;

    /// Where an error page leads back to.
    fn home(&self) -> String;

    /// The reason of a refusal in the language of the page, as whole sentences.
    fn refusal_text(&self, why: &str) -> String {
        sentence(why)
    }

    /// Whether a form of the page with this path may name this action now; `do_it` is the name of its button.
    fn check_action(&self, _path: &'static str, _do_it: &str) -> Result<(), PageError> {
        Ok(())
    }

    /// What a page says after the action with this code.
    fn done_text(&self, code: &str) -> Option<&'static str>;

    /// The response with a view, in the format that was asked for.
    fn show(&self, view: &impl View<Self>) -> Response {
        self.show_with_status(StatusCode::OK, view)
    }

    fn show_with_status(&self, status: StatusCode, view: &impl View<Self>) -> Response {
        match self.format {
            Format::Json | Format::Events => response::json(status, view),
            Format::Csv => match view.csv(self) {
                Some(csv) => response::csv(&csv, view.has_more()),
                None => self.error_response(&PageError::NotFound),
            },
            Format::Html => {
                // A form's own answer is no place for the news of the action before it.
                let news = self.query.get("done").filter(|_| self.parts.method == Method::GET);
                let news = news.and_then(|code| self.done_text(code));
                let refused = self.refused.as_ref().map(|refused| self.refusal_text(&refused.why));
                let status = if refused.is_some() { StatusCode::BAD_REQUEST } else { status };
                // A live page compares it with what its stream says.
                let version = serde_json::to_vec(view).map(|json| live::version(&json)).unwrap_or_default();
                let content = html! {
                    @if let Some(why) = refused {
                        (notice(Severity::Error, "refused", &html! { (ErrorText::of(self.lang()).refused) }, Some(&html! { (why) })))
                    }
                    @if let Some(text) = news { (notice(Severity::Success, "done", &html! { (text) }, None)) }
                    (view.content(self))
                    div hidden data-version=(format!("{version:x}")) {}
                };
                let title = view.title(self.lang());
                response::page(status, self.shell(title, Some(view.section()), &content))
            }
        }
    }

    /// After an action: back to a page, which says that it is done; for programs, the values.
    fn done(&self, page: &str, code: &'static str, values: &impl Serialize) -> Response {
        match self.format {
            Format::Html => {
                let separator = if page.contains('?') { '&' } else { '?' };
                response::see_other(&format!("{page}{separator}done={code}"))
            }
            _ => response::json(StatusCode::OK, values),
        }
    }

    /// The response, or the error as a page or JSON.
    fn render(&self, result: Result<Response, PageError>) -> impl Future<Output = Response> + Send {
        async move {
            match result {
                Ok(response) => response,
                Err(PageError::Reauthenticate) if self.format == Format::Html => {
                    let next = self.here(&[], []);
                    self.site.realm.reauthenticate(&mut self.parts.clone(), &self.visitor, &next).await
                }
                Err(error) => self.error_response(&error),
            }
        }
    }

    fn error_response(&self, error: &PageError) -> Response {
        let shell = |title: &str, content: &Markup| self.shell(title, None, content);
        let page = (self.lang(), self.home());
        match error {
            PageError::Refused(why) if self.format == Format::Html => {
                let error = PageError::Refused(self.refusal_text(why));
                error_page(&error, self.format, &self.request_id, page, shell)
            }
            error => error_page(error, self.format, &self.request_id, page, shell),
        }
    }
}

/// An error as a page within `shell`, or as JSON.
pub fn error_page(
    error: &PageError,
    format: Format,
    request_id: &str,
    (lang, home): (Lang, String),
    shell: impl FnOnce(&str, &Markup) -> Markup,
) -> Response {
    log_error(error, request_id);
    if format != Format::Html {
        return json_error(error, request_id);
    }
    let content = error_content(lang, error, request_id, &home);
    response::page(error.status(), shell(error_title(lang, error), &content))
}

fn log_error(error: &PageError, request_id: &str) {
    if let PageError::Store(error) = error {
        tracing::error!(%error, request_id, "a page could not use the store");
    }
}

fn json_error(error: &PageError, request_id: &str) -> Response {
    let message = match error {
        // A failure of the service carries its request id and nothing else.
        PageError::Store(_) => String::new(),
        error => error.to_string(),
    };
    let body = serde_json::json!({ "error": error.code(), "message": message, "requestId": request_id });
    response::json(error.status(), &body)
}

fn error_title(lang: Lang, error: &PageError) -> &'static str {
    let text = ErrorText::of(lang);
    match error {
        PageError::NotFound => text.not_found,
        PageError::Refused(_) => text.refused,
        PageError::Forbidden(_) => text.forbidden,
        PageError::FormExpired | PageError::SignIn | PageError::Reauthenticate => text.expired,
        PageError::Store(_) if error.status() == StatusCode::SERVICE_UNAVAILABLE => text.unavailable,
        PageError::Store(_) => text.internal,
    }
}

fn error_content(lang: Lang, error: &PageError, request_id: &str, home: &str) -> Markup {
    let text = ErrorText::of(lang);
    let explanation = match error {
        PageError::NotFound => text.not_found_text.to_owned(),
        PageError::Refused(why) | PageError::Forbidden(why) => sentence(why),
        PageError::FormExpired | PageError::SignIn | PageError::Reauthenticate => {
            text.expired_text.to_owned()
        }
        PageError::Store(_) if error.status() == StatusCode::SERVICE_UNAVAILABLE => {
            text.unavailable_text.to_owned()
        }
        PageError::Store(_) => text.internal_text.to_owned(),
    };
    html! {
        h1 { (error_title(lang, error)) }
        p.lead { (explanation) }
        p.after { a.button href=(safe_href(home)) { (text.back) } }
        @if !request_id.is_empty() { p.reference { (text.request_id) ": " code { (request_id) } } }
    }
}

/// With a capital letter and a full stop.
pub fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}
