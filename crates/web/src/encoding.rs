//! Content encodings: negotiation by `Accept-Encoding`, and compression with gzip or brotli.

use std::io::Write as _;

use axum::http::HeaderMap;
use axum::http::header::ACCEPT_ENCODING;
use brotli::enc::BrotliEncoderParams;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

/// A compromise between time and size. Cached responses are encoded only once.
const BROTLI_QUALITY: i32 = 4;
const BROTLI_WINDOW_BITS: i32 = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Gzip,
    Brotli,
}

impl Encoding {
    pub const ALL: [Self; 2] = [Self::Gzip, Self::Brotli];

    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Brotli => "br",
        }
    }

    pub fn encode(self, body: &[u8]) -> Bytes {
        match self {
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::default());
                // Writing to memory does not fail.
                let _ = encoder.write_all(body);
                encoder.finish().unwrap_or_default().into_boxed_slice().into()
            }
            Self::Brotli => {
                let mut encoded = Vec::with_capacity(body.len() / 4);
                let params = BrotliEncoderParams {
                    quality: BROTLI_QUALITY,
                    lgwin: BROTLI_WINDOW_BITS,
                    size_hint: body.len(),
                    ..BrotliEncoderParams::default()
                };
                let _ = brotli::BrotliCompress(&mut &*body, &mut encoded, &params);
                encoded.into_boxed_slice().into()
            }
        }
    }
}

/// The offered encoding that the client prefers; `None` if it prefers the body as it is.
pub fn negotiate(headers: &HeaderMap, offered: &[Encoding]) -> Option<Encoding> {
    let mut gzip = None;
    let mut brotli = None;
    let mut identity = None;
    let mut wildcard = None;
    for line in headers.get_all(ACCEPT_ENCODING) {
        for item in line.to_str().ok()?.split(',') {
            let (name, weight) = parse_weight(item)?;
            match name.to_ascii_lowercase().as_str() {
                "gzip" | "x-gzip" => gzip = Some(weight),
                "br" => brotli = Some(weight),
                "identity" => identity = Some(weight),
                "*" => wildcard = Some(weight),
                _ => {}
            }
        }
    }
    let weight = |encoding: Encoding| match encoding {
        Encoding::Gzip => gzip.or(wildcard).unwrap_or(0),
        Encoding::Brotli => brotli.or(wildcard).unwrap_or(0),
    };
    // Of two with the same weight, `max_by_key` takes the one offered last.
    let best = offered.iter().copied().max_by_key(|encoding| weight(*encoding))?;
    (weight(best) > 0 && weight(best) >= identity.unwrap_or(0)).then_some(best)
}

/// A coding's name and its weight in thousandths (1000 if it has none).
fn parse_weight(item: &str) -> Option<(&str, u16)> {
    let (name, parameters) = item.split_once(';').unwrap_or((item, ""));
    let parameter = parameters.trim();
    let Some(text) = parameter.strip_prefix("q=").or_else(|| parameter.strip_prefix("Q=")) else {
        return Some((name.trim(), 1000));
    };
    let weight: f32 = text.trim().parse().ok()?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 1000")]
    let thousandths = (weight.clamp(0.0, 1.0) * 1000.0) as u16;
    Some((name.trim(), thousandths))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn chosen(line: &str) -> Option<Encoding> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, line.parse().unwrap());
        negotiate(&headers, &Encoding::ALL)
    }

    #[test]
    fn client_prefers_by_weight() {
        use Encoding::{Brotli, Gzip};
        for (line, expected) in [
            ("gzip", Some(Gzip)),
            ("GZIP", Some(Gzip)),
            ("br", Some(Brotli)),
            ("gzip, deflate, br", Some(Brotli)),
            ("gzip;q=1.0, br;q=0.5", Some(Gzip)),
            ("gzip; q=0.5, br; q=0.8", Some(Brotli)),
            ("*", Some(Brotli)),
            ("br;q=0, *", Some(Gzip)),
            ("gzip;q=0", None),
            ("identity", None),
            ("identity, gzip;q=0.5", None),
            ("deflate", None),
            ("zstd, gzip;q=rubbish", None),
        ] {
            assert_eq!(chosen(line), expected, "{line}");
        }
        assert_eq!(negotiate(&HeaderMap::new(), &Encoding::ALL), None);
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, "gzip, br".parse().unwrap());
        assert_eq!(negotiate(&headers, &[Gzip]), Some(Gzip), "brotli is not offered");
    }

    #[test]
    fn encoded_body_decodes_to_the_original() {
        let text = "[{\"tradeName\":\"Ferretería Íñiguez\"}]".repeat(200);
        let mut plain = String::new();
        flate2::read::GzDecoder::new(&*Encoding::Gzip.encode(text.as_bytes()))
            .read_to_string(&mut plain)
            .unwrap();
        assert_eq!(plain, text);
        let mut bytes = Vec::new();
        brotli::BrotliDecompress(&mut &*Encoding::Brotli.encode(text.as_bytes()), &mut bytes).unwrap();
        assert_eq!(bytes, text.as_bytes());
    }
}
