//! The pages of dev's own listener: the document around them, their language and their static files.

use axum::extract::{Path, Request};
use axum::http::header::{ACCEPT, ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use pages::texts;
use ui::app::{Brand, Shell, plain_app_page};
use ui::{Lang, asset, safe_href};

const ASSETS: &str = "/look";

texts! {
    SiteText {
        place: "desarrollo", "development";
        sign_in: "Iniciar sesión", "Sign in";
        deliveries: "Entregas", "Deliveries";
    }
}

/// Whether a browser asks for a page. Programs say `*/*`, or what they want.
pub(super) fn wants_page(headers: &HeaderMap) -> bool {
    headers
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|accept| accept.contains("text/html"))
}

/// Who asks for a page: its language, and the address that the link to the other language keeps.
#[derive(Debug)]
pub(super) struct PageRequest {
    pub(super) lang: Lang,
    path: String,
    query: Vec<(String, String)>,
}

impl PageRequest {
    pub(super) fn new(uri: &Uri, headers: &HeaderMap) -> Self {
        let query = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).into_owned();
        let (chosen, query): (Vec<_>, Vec<_>) = query.partition(|(name, _)| name == "lang");
        let accepted = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        let lang = Lang::choose(chosen.first().map(|(_, tag)| tag.as_str()), accepted);
        Self { lang, path: uri.path().to_owned(), query }
    }

    pub(super) fn of(request: &Request) -> Self {
        Self::new(request.uri(), request.headers())
    }

    /// The page in the product's look.
    pub(super) fn page(&self, status: StatusCode, title: &str, content: &Markup) -> Response {
        let text = SiteText::of(self.lang);
        let switch = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(&self.query)
            .append_pair("lang", self.lang.other().tag())
            .finish();
        let links = html! {
            a href=(safe_href("/sign-in")) { (text.sign_in) }
            a href=(safe_href("/deliveries")) { (text.deliveries) }
        };
        let shell = Shell {
            lang: self.lang,
            assets: ASSETS,
            brand: Brand { name: "Aldaba", logo: None, stylesheet: None },
            place: &html! { small { (text.place) } },
            title,
            home: "/deliveries",
            language_switch: Some(&format!("{}?{switch}", self.path)),
            nav: &[],
            account_links: &links,
            footer: &html! {},
        };
        pages::page(status, plain_app_page(&shell, content))
    }
}

/// The stylesheets, the script and the icon.
pub(super) async fn asset(Path(name): Path<String>) -> Response {
    match asset::find(&name) {
        Some(file) => {
            let headers = [
                (CONTENT_TYPE, file.content_type),
                (CACHE_CONTROL, "public, max-age=31536000, immutable"),
                (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            ];
            (headers, file.body).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_browsers_get_pages() {
        let accepts = |text: &'static str| {
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(text))]);
            wants_page(&headers)
        };
        assert!(accepts("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"));
        assert!(!accepts("*/*") && !accepts("application/json") && !wants_page(&HeaderMap::new()));
    }

    #[test]
    fn language_comes_from_the_query_then_from_the_browser() {
        let headers = HeaderMap::from_iter([(ACCEPT_LANGUAGE, HeaderValue::from_static("en"))]);
        let of = |uri: &'static str| PageRequest::new(&Uri::from_static(uri), &headers);
        assert_eq!((of("/deliveries").lang, of("/deliveries?lang=es").lang), (Lang::En, Lang::Es));
        assert_eq!(of("/deliveries?lang=es&failed=1").query, [("failed".to_owned(), "1".to_owned())]);
    }
}
