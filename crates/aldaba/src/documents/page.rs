//! The page over a document: Swagger UI from the program itself, under a policy that lets nothing else in.
//! The names of its files change with their contents, so a browser may keep them for ever.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use ui::asset;

use super::kept::{FOR_EVER, Kept};

const TEMPLATE: &str = include_str!("page.html");
const START: &str = include_str!("start.js");

/// Scripts and styles from here alone; Swagger's own signs are `data:` images in its styles.
pub(super) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) struct File {
    pub(super) name: String,
    pub(super) kept: Kept,
}

/// What the page is made from.
pub(super) struct Files {
    styles: File,
    bundle: File,
    start: File,
    icon: File,
}

pub(super) static FILES: LazyLock<Files> = LazyLock::new(|| Files {
    styles: File::new("swagger-ui", "css", "text/css; charset=utf-8", swagger("swagger-ui.css")),
    bundle: File::new("swagger-ui", "js", SCRIPT, swagger("swagger-ui-bundle.js")),
    start: File::new("start", "js", SCRIPT, Bytes::from_static(START.as_bytes())),
    icon: File::new(
        "aldaba",
        "svg",
        asset::favicon().content_type,
        Bytes::from_static(asset::favicon().body.as_bytes()),
    ),
});

const SCRIPT: &str = "text/javascript; charset=utf-8";

impl Files {
    pub(super) fn find(&self, name: &str) -> Option<&File> {
        [&self.styles, &self.bundle, &self.start, &self.icon].into_iter().find(|file| file.name == name)
    }
}

impl File {
    fn new(stem: &str, extension: &str, content_type: &'static str, body: Bytes) -> Self {
        let kept = Kept::new(content_type, FOR_EVER, body);
        Self { name: format!("{stem}.{}.{extension}", kept.mark), kept }
    }
}

/// A file of Swagger UI, which the program holds.
fn swagger(name: &str) -> Bytes {
    let nothing = Arc::new(utoipa_swagger_ui::Config::default());
    let found = utoipa_swagger_ui::serve(name, nothing).ok().flatten();
    found.map(|file| Bytes::from(file.bytes.into_owned())).unwrap_or_default()
}

/// The page itself.
pub(super) fn html(title: &str, address: &str) -> String {
    let files = &*FILES;
    let parts = [
        ("{title}", title),
        ("{address}", address),
        ("{icon}", &files.icon.name),
        ("{styles}", &files.styles.name),
        ("{bundle}", &files.bundle.name),
        ("{start}", &files.start.name),
    ];
    parts.into_iter().fold(TEMPLATE.to_owned(), |page, (place, value)| page.replace(place, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swagger_ui_is_in_the_program() {
        for file in [&FILES.styles, &FILES.bundle, &FILES.start, &FILES.icon] {
            assert!(file.kept.plain.len() > 100, "{}", file.name);
            assert_eq!(FILES.find(&file.name).map(|found| &found.name), Some(&file.name));
        }
        assert!(FILES.find("swagger-ui.js").is_none());
    }

    #[test]
    fn the_page_has_no_script_of_its_own() {
        let page = html("Aldaba", "/openapi.json");
        assert!(!page.contains('{') && !page.contains("onload"), "{page}");
        assert_eq!(page.matches("<script").count(), page.matches("<script src=").count());
    }
}
