//! Tests of the types of request members.

use super::*;

#[test]
fn overlap_is_digits_and_a_unit() {
    for (text, seconds) in [("0s", 0), ("24h", 86_400), ("007m", 420), ("999d", 86_313_600)] {
        assert_eq!(Overlap::try_from(text.to_owned()).map(|read| read.0.as_secs()), Ok(seconds), "{text}");
    }
    for text in ["", "h", "24", "24 h", "-1h", "+1h", "1w", "1000d", "1ms", "1h ", "ñ", "1ñ"] {
        assert!(Overlap::try_from(text.to_owned()).is_err(), "{text}");
    }
}

#[test]
fn control_characters_in_texts_are_line_ends_alone() {
    let too_long = "a".repeat(1001);
    for text in ["", " ", "a", "a\nb", "a\r\nb\r\n", "¿Sí?"] {
        assert!(Note::try_from(text.to_owned()).is_ok(), "{text:?}");
        assert_eq!(Reason::try_from(text.to_owned()).is_ok(), !text.trim().is_empty(), "{text:?}");
    }
    for text in ["\ta", "a\rb", "a\u{13}b", "a\u{95}", "a\0", &too_long] {
        assert!(Note::try_from(text.to_owned()).is_err(), "{text:?}");
        assert!(Reason::try_from(text.to_owned()).is_err(), "{text:?}");
    }
}

#[test]
fn list_length_is_bounded() {
    let read = |json: &str| serde_json::from_str::<BoundedList<Name, 1, 2>>(json);
    assert!(read(r#"["a"]"#).is_ok() && read(r#"["a","b"]"#).is_ok());
    assert!(read("[]").unwrap_err().to_string().contains("must have 1 to 2"));
    assert!(read(r#"["a","b","c"]"#).is_err() && read(r#"[" "]"#).is_err());
}
