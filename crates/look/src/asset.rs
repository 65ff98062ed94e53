//! The files that pages refer to. A name holds the hash of what is inside, so a browser may keep it for ever.

use std::sync::LazyLock;

/// A file to be served under the address of the assets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asset {
    /// `aldaba.<16 hex>.css`
    pub name: String,
    pub content_type: &'static str,
    pub body: &'static str,
}

static STYLESHEET: LazyLock<Asset> =
    LazyLock::new(|| Asset::of(include_str!("aldaba.css"), "css", "text/css; charset=utf-8"));
static ICON: LazyLock<Asset> =
    LazyLock::new(|| Asset::of(include_str!("aldaba.svg"), "svg", "image/svg+xml"));

pub fn stylesheet() -> &'static Asset {
    &STYLESHEET
}

pub fn icon() -> &'static Asset {
    &ICON
}

pub fn all() -> [&'static Asset; 2] {
    [stylesheet(), icon()]
}

/// The asset of that name, for the route that serves them.
pub fn find(name: &str) -> Option<&'static Asset> {
    all().into_iter().find(|asset| asset.name == name)
}

impl Asset {
    fn of(body: &'static str, extension: &str, content_type: &'static str) -> Self {
        Self { name: format!("aldaba.{:016x}.{extension}", fnv1a(body.as_bytes())), content_type, body }
    }
}

/// FNV-1a: the name must change with the content and be the same on every node; it guards nothing.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv1a() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn assets_are_found_by_the_name_that_pages_use() {
        for asset in all() {
            assert_eq!(find(&asset.name), Some(asset));
            let parts: Vec<_> = asset.name.split('.').collect();
            assert_eq!((parts.len(), parts[0], parts[1].len()), (3, "aldaba", 16));
        }
        assert_eq!(find("aldaba.css"), None);
    }
}
