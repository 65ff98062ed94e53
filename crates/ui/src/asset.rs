//! The static files that pages refer to. Each name contains a hash of the content, so browsers may cache the
//! file for ever.

use std::sync::LazyLock;

/// A file to be served under the assets path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asset {
    /// `aldaba.<16 hex>.css`, for example.
    pub name: String,
    pub content_type: &'static str,
    pub body: &'static str,
}

static STYLESHEET: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("aldaba", include_str!("aldaba.css"), "css", "text/css; charset=utf-8"));
static FAVICON: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("aldaba", include_str!("aldaba.svg"), "svg", "image/svg+xml"));
static PASSKEY_SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new("passkey", include_str!("passkey.js"), "js", "text/javascript; charset=utf-8")
});
static PAGE_SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("page", include_str!("page.js"), "js", "text/javascript; charset=utf-8"));
static APP_STYLESHEET: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("app", include_str!("app.css"), "css", "text/css; charset=utf-8"));
static APP_SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("app", include_str!("app.js"), "js", "text/javascript; charset=utf-8"));

pub fn stylesheet() -> &'static Asset {
    &STYLESHEET
}

pub fn favicon() -> &'static Asset {
    &FAVICON
}

/// The script of [`crate::passkey_form`].
pub fn passkey_script() -> &'static Asset {
    &PASSKEY_SCRIPT
}

/// The script of pages with times or passwords.
pub fn page_script() -> &'static Asset {
    &PAGE_SCRIPT
}

/// The variables of the stylesheet, with the colours of both themes, for pages that have rules of their own.
pub fn palette() -> &'static str {
    stylesheet().body.split_once("*, *::before").map_or("", |(palette, _)| palette)
}

/// The stylesheet of the portal's and the console's pages, on top of the common one.
pub fn app_stylesheet() -> &'static Asset {
    &APP_STYLESHEET
}

/// The script of the portal's and the console's pages.
pub fn app_script() -> &'static Asset {
    &APP_SCRIPT
}

pub fn all() -> [&'static Asset; 6] {
    [stylesheet(), favicon(), page_script(), passkey_script(), app_stylesheet(), app_script()]
}

/// Finds an asset by its name, for the route that serves them.
pub fn find(name: &str) -> Option<&'static Asset> {
    all().into_iter().find(|asset| asset.name == name)
}

impl Asset {
    fn new(name: &str, body: &'static str, extension: &str, content_type: &'static str) -> Self {
        Self { name: format!("{name}.{:016x}.{extension}", fnv1a(body.as_bytes())), content_type, body }
    }
}

/// FNV-1a: the name must change with the content and be equal on every node; it is not a security measure.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_is_fnv1a() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn assets_are_found_by_their_hashed_name() {
        for asset in all() {
            assert_eq!(find(&asset.name), Some(asset));
            let parts: Vec<_> = asset.name.split('.').collect();
            assert_eq!((parts.len(), parts[1].len()), (3, 16), "{}", asset.name);
        }
        assert!(passkey_script().name.starts_with("passkey."));
        assert_eq!(find("aldaba.css"), None);
    }
}
