//! Base64url of bounded length, as WebAuthn's JSON forms use it. Written without padding, read with or without.

use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::error::{Field, WebauthnError};

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Decodes text whose bytes must be 1 to `bytes_max`.
pub(super) fn decode(text: &str, field: Field, bytes_max: usize) -> Result<Vec<u8>, WebauthnError> {
    // Refused before anything is allocated for it.
    if text.len() > bytes_max.div_ceil(3) * 4 {
        return Err(WebauthnError::Length(field));
    }
    let bytes = LENIENT.decode(text).map_err(|_| WebauthnError::Base64(field))?;
    if bytes.is_empty() || bytes.len() > bytes_max {
        return Err(WebauthnError::Length(field));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str) -> Result<Vec<u8>, WebauthnError> {
        decode(text, Field::Signature, 4)
    }

    #[test]
    fn padding_is_optional_and_everything_else_is_strict() {
        assert_eq!(decoded("-_8").unwrap(), [0xfb, 0xff]);
        assert_eq!(decoded("-_8=").unwrap(), [0xfb, 0xff]);
        let invalid = ["+/8", "-_8 ", "-_9", "-", "-_8==", "ñ"];
        for text in invalid {
            assert_eq!(decoded(text), Err(WebauthnError::Base64(Field::Signature)), "{text}");
        }
    }

    #[test]
    fn lengths_are_bounded() {
        assert_eq!(decoded("AAAAAA").unwrap().len(), 4);
        for text in ["", "AAAAAAA", "AAAAAAAAA", &"A".repeat(100_000)] {
            assert_eq!(decoded(text), Err(WebauthnError::Length(Field::Signature)), "{}", text.len());
        }
    }
}
