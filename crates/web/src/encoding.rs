//! How an answer may be encoded: what a reader asks for, and the encoding itself.

use std::io::Write as _;

use axum::http::HeaderMap;
use axum::http::header::ACCEPT_ENCODING;
use brotli::enc::BrotliEncoderParams;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

/// A middle way between time and size; answers that are asked for again are encoded once.
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

/// The encoding that a reader likes best of those that are offered; none where it likes the plain body better.
pub fn asked(headers: &HeaderMap, offered: &[Encoding]) -> Option<Encoding> {
    let mut gzip = None;
    let mut brotli = None;
    let mut plain = None;
    let mut rest = None;
    for line in headers.get_all(ACCEPT_ENCODING) {
        for one in line.to_str().ok()?.split(',') {
            let (name, weight) = weighed(one)?;
            match name.to_ascii_lowercase().as_str() {
                "gzip" | "x-gzip" => gzip = Some(weight),
                "br" => brotli = Some(weight),
                "identity" => plain = Some(weight),
                "*" => rest = Some(weight),
                _ => {}
            }
        }
    }
    let weight = |encoding: Encoding| match encoding {
        Encoding::Gzip => gzip.or(rest).unwrap_or(0),
        Encoding::Brotli => brotli.or(rest).unwrap_or(0),
    };
    // Of two that are liked alike, the one that is offered last.
    let best = offered.iter().copied().max_by_key(|encoding| weight(*encoding))?;
    (weight(best) > 0 && weight(best) >= plain.unwrap_or(0)).then_some(best)
}

/// A name and its weight in thousandths; one where none is given.
fn weighed(one: &str) -> Option<(&str, u16)> {
    let (name, parameters) = one.split_once(';').unwrap_or((one, ""));
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
        asked(&headers, &Encoding::ALL)
    }

    #[test]
    fn the_reader_chooses() {
        use Encoding::{Brotli, Gzip};
        for (line, wanted) in [
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
            assert_eq!(chosen(line), wanted, "{line}");
        }
        assert_eq!(asked(&HeaderMap::new(), &Encoding::ALL), None);
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, "gzip, br".parse().unwrap());
        assert_eq!(asked(&headers, &[Gzip]), Some(Gzip), "what is offered");
    }

    #[test]
    fn what_is_encoded_can_be_read() {
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
