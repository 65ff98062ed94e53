//! QR codes as inline SVG: they need no request and no script, and scan in both themes.

use std::fmt::Write as _;

use maud::{Markup, html};
use qrcodegen::{QrCode, QrCodeEcc, QrSegment, Version};

/// What the largest code (version 10, error correction M) holds.
pub const QR_BYTES_MAX: usize = 213;

const VERSION_MAX: u8 = 10;
/// The white border that scanners need, in modules.
const QUIET_ZONE: i32 = 4;
/// The size of a module before the stylesheet scales the image.
const MODULE_PIXELS: i32 = 4;

/// The data has more than [`QR_BYTES_MAX`] bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QrTooLong;

/// Renders the bytes as the smallest code that holds them, with error correction M or, where that needs no larger
/// code, better. `label` says to screen readers what the code is for; it must not repeat a secret. The colours are part
/// of the image, because a scanner needs dark modules on white in the dark theme too.
pub fn qr_code(data: &[u8], label: &str) -> Result<Markup, QrTooLong> {
    let segments = [QrSegment::make_bytes(data)];
    let code = QrCode::encode_segments_advanced(
        &segments,
        QrCodeEcc::Medium,
        Version::MIN,
        Version::new(VERSION_MAX),
        None,
        true,
    )
    .map_err(|_| QrTooLong)?;
    let side = code.size() + 2 * QUIET_ZONE;
    let pixels = side * MODULE_PIXELS;
    Ok(html! {
        svg.qr-code role="img" aria-label=(label) viewBox=(format!("0 0 {side} {side}")) width=(pixels)
            height=(pixels) color="#000" shape-rendering="crispEdges" {
            rect width=(side) height=(side) fill="#fff" {}
            path fill="currentColor" d=(dark_modules(&code)) {}
        }
    })
}

/// A rectangle for each horizontal run of dark modules.
fn dark_modules(code: &QrCode) -> String {
    let mut path = String::new();
    for y in 0..code.size() {
        let mut x = 0;
        while x < code.size() {
            let run = (x..code.size()).take_while(|x| code.get_module(*x, y)).count();
            let run = i32::try_from(run).unwrap_or(0);
            if run > 0 {
                let _ = write!(path, "M{} {}h{run}v1h-{run}z", x + QUIET_ZONE, y + QUIET_ZONE);
            }
            x += run + 1;
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    const URI: &str =
        "otpauth://totp/Aldaba:ana%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Aldaba";

    fn render(data: &[u8]) -> String {
        qr_code(data, "Código QR").unwrap().into_string()
    }

    /// The value of an attribute; the markup has each name once, or its first occurrence is meant.
    fn attribute<'a>(markup: &'a str, name: &str) -> &'a str {
        let (_, rest) = markup.split_once(&format!(" {name}=\"")).unwrap();
        rest.split_once('"').unwrap().0
    }

    /// Draws the SVG's path with square pixels, as a browser does, and reads the image with an independent decoder.
    fn scan(markup: &str) -> (rqrr::MetaData, Vec<u8>) {
        let side: usize = attribute(markup, "viewBox").rsplit(' ').next().unwrap().parse().unwrap();
        let mut dark = vec![vec![false; side]; side];
        for run in attribute(markup, "d").split('M').skip(1) {
            let (start, rest) = run.split_once('h').unwrap();
            let (x, y) = start.split_once(' ').unwrap();
            let (x, y): (usize, usize) = (x.parse().unwrap(), y.parse().unwrap());
            let length: usize = rest.split_once('v').unwrap().0.parse().unwrap();
            assert_eq!(rest, format!("{length}v1h-{length}z"));
            dark[y][x..x + length].fill(true);
        }
        let scale = usize::try_from(MODULE_PIXELS).unwrap();
        let mut image = rqrr::PreparedImage::prepare_from_greyscale(side * scale, side * scale, |x, y| {
            if dark[y / scale][x / scale] { 0 } else { 255 }
        });
        let grids = image.detect_grids();
        assert_eq!(grids.len(), 1, "no code was found");
        let mut content = Vec::new();
        let meta = grids[0].decode_to(&mut content).unwrap();
        (meta, content)
    }

    #[test]
    fn the_code_contains_the_bytes() {
        assert_eq!(scan(&render(URI.as_bytes())).1, URI.as_bytes());
        assert_eq!(scan(&render("Asesoría ñ €".as_bytes())).1, "Asesoría ñ €".as_bytes());
        assert_eq!(scan(&render(b"x")).1, b"x");
    }

    #[test]
    fn every_size_up_to_version_10_scans() {
        let mut versions = std::collections::BTreeSet::new();
        for length in [1, 14, 15, 26, 42, 62, 84, 106, 122, 152, 180, 181, QR_BYTES_MAX] {
            let data: Vec<u8> = (b'!'..=b'~').cycle().take(length).collect();
            let (meta, content) = scan(&render(&data));
            assert_eq!(content, data, "{length} bytes");
            // The format bits of the levels: M is 0, L is 1, H is 2, Q is 3.
            assert_ne!(meta.ecc_level, 1, "{length} bytes");
            versions.insert(meta.version.0);
        }
        assert_eq!(versions, (1..=10).collect());
    }

    #[test]
    fn longer_data_is_refused() {
        assert_eq!(qr_code(&[b'x'; QR_BYTES_MAX + 1], "").map(Markup::into_string), Err(QrTooLong));
        assert!(qr_code(&vec![b'x'; 1 << 20], "").is_err());
        assert_eq!(QR_BYTES_MAX, domain::totp::URI_BYTES_MAX);
    }

    #[test]
    fn the_image_has_its_own_colours_a_quiet_zone_and_a_name() {
        let markup = render(URI.as_bytes());
        assert!(markup.starts_with(r#"<svg class="qr-code" role="img" aria-label="Código QR""#), "{markup}");
        assert_eq!(markup.matches("<path").count(), 1);
        assert!(
            markup.contains(r##"color="#000""##) && markup.contains(r#"fill="currentColor""#),
            "{markup}"
        );
        assert!(markup.contains(r##"fill="#fff""##), "{markup}");
        assert!(!markup.contains("style="), "the pages' policy forbids inline styles");
        let side: i32 = attribute(&markup, "width").parse::<i32>().unwrap() / MODULE_PIXELS;
        let edges: Vec<i32> = attribute(&markup, "d")
            .split('M')
            .skip(1)
            .flat_map(|run| {
                let (start, rest) = run.split_once('h').unwrap();
                let (x, y) = start.split_once(' ').unwrap();
                let (x, y): (i32, i32) = (x.parse().unwrap(), y.parse().unwrap());
                [x, y, x - 1 + rest.split_once('v').unwrap().0.parse::<i32>().unwrap()]
            })
            .collect();
        assert_eq!(edges.iter().min(), Some(&QUIET_ZONE));
        assert_eq!(edges.iter().max(), Some(&(side - QUIET_ZONE - 1)));
    }

    #[test]
    fn label_is_escaped() {
        let markup = qr_code(b"x", r#""><script>"#).unwrap().into_string();
        assert!(markup.contains(r#"aria-label="&quot;&gt;&lt;script&gt;""#), "{markup}");
    }
}
