//! The Swagger UI page of a document, with files embedded in the program and a strict content security policy.
//! File names contain a hash of the contents, so browsers may cache them forever.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use ui::asset;

use super::static_response::{IMMUTABLE, StaticResponse};

const TEMPLATE: &str = include_str!("page.html");
const STYLES: &str = include_str!("docs.css");
const THEME: &str = include_str!("theme.js");
const START: &str = include_str!("start.js");
const RETURN_TEMPLATE: &str = include_str!("return.html");
const RETURN: &str = include_str!("return.js");

/// Allows scripts and styles of this origin only; Swagger UI's icons are `data:` images in its styles.
pub(super) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The policy of the page that a sign-in returns to.
pub(super) const RETURN_POLICY: &str = "default-src 'none'; script-src 'self'; img-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

pub(super) struct File {
    pub(super) name: String,
    pub(super) response: StaticResponse,
}

/// The files of the page.
pub(super) struct Files {
    swagger_styles: File,
    /// The product's colours on top of Swagger UI's.
    styles: File,
    theme: File,
    bundle: File,
    start: File,
    returning: File,
    icon: File,
}

pub(super) static FILES: LazyLock<Files> = LazyLock::new(|| Files {
    swagger_styles: File::new("swagger-ui", "css", CSS, swagger("swagger-ui.css")),
    styles: File::new("docs", "css", CSS, Bytes::from([asset::palette(), STYLES].concat())),
    theme: File::new("theme", "js", SCRIPT, Bytes::from_static(THEME.as_bytes())),
    bundle: File::new("swagger-ui", "js", SCRIPT, swagger("swagger-ui-bundle.js")),
    start: File::new("start", "js", SCRIPT, Bytes::from_static(START.as_bytes())),
    returning: File::new("return", "js", SCRIPT, Bytes::from_static(RETURN.as_bytes())),
    icon: File::new(
        "aldaba",
        "svg",
        asset::favicon().content_type,
        Bytes::from_static(asset::favicon().body.as_bytes()),
    ),
});

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

impl Files {
    fn all(&self) -> [&File; 7] {
        let Self { swagger_styles, styles, theme, bundle, start, returning, icon } = self;
        [swagger_styles, styles, theme, bundle, start, returning, icon]
    }

    pub(super) fn find(&self, name: &str) -> Option<&File> {
        self.all().into_iter().find(|file| file.name == name)
    }
}

impl File {
    fn new(stem: &str, extension: &str, content_type: &'static str, body: Bytes) -> Self {
        let response = StaticResponse::new(content_type, IMMUTABLE, body);
        Self { name: format!("{stem}.{}.{extension}", response.hash), response }
    }
}

/// A file of Swagger UI, embedded in the program.
fn swagger(name: &str) -> Bytes {
    let config = Arc::new(utoipa_swagger_ui::Config::default());
    let found = utoipa_swagger_ui::serve(name, config).ok().flatten();
    found.map(|file| Bytes::from(file.bytes.into_owned())).unwrap_or_default()
}

/// The HTML of the page.
pub(super) fn html(title: &str, address: &str) -> String {
    let files = &*FILES;
    let parts = [
        ("{title}", title),
        ("{address}", address),
        ("{icon}", &files.icon.name),
        ("{swagger_styles}", &files.swagger_styles.name),
        ("{styles}", &files.styles.name),
        ("{theme}", &files.theme.name),
        ("{bundle}", &files.bundle.name),
        ("{start}", &files.start.name),
    ];
    parts.into_iter().fold(TEMPLATE.to_owned(), |page, (placeholder, value)| page.replace(placeholder, value))
}

/// The HTML of the page that a sign-in returns to.
pub(super) fn return_html() -> String {
    RETURN_TEMPLATE.replace("{icon}", &FILES.icon.name).replace("{return}", &FILES.returning.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swagger_ui_is_embedded() {
        for file in FILES.all() {
            assert!(file.response.plain.len() > 100, "{}", file.name);
            assert_eq!(FILES.find(&file.name).map(|found| &found.name), Some(&file.name));
        }
        assert!(FILES.find("swagger-ui.js").is_none());
    }

    #[test]
    fn styles_use_the_palette_and_load_nothing() {
        for used in STYLES.split("var(--").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert!(asset::palette().contains(&format!("--{used}:")), "{used} is not defined");
        }
        for forbidden in ["url(", "@import", "http:", "https:", ": #"] {
            assert!(!STYLES.contains(forbidden), "{forbidden}");
        }
        assert_eq!(STYLES.matches('{').count(), STYLES.matches('}').count());
    }

    #[test]
    fn page_has_no_inline_script() {
        for page in [html("Aldaba", "/openapi.json"), return_html()] {
            assert!(!page.contains('{') && !page.contains("onload"), "{page}");
            assert_eq!(page.matches("<script").count(), page.matches("<script src=").count());
        }
    }
}
