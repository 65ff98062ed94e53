//! Tests of one-time passwords: the vectors of RFC 6238 and RFC 4226, drift, replay, base32 and the URI.

use proptest::prelude::*;

use super::*;

/// The secret of both RFCs' vectors.
const RFC_SECRET: [u8; 20] = *b"12345678901234567890";

fn rfc() -> TotpSecret {
    TotpSecret::from_bytes(RFC_SECRET)
}

fn at(seconds: i64) -> Ticks {
    Ticks::from_unix_seconds(seconds)
}

fn code(text: &str) -> TotpCode {
    TotpCode::parse(text).unwrap()
}

#[test]
fn codes_are_those_of_rfc_6238() {
    // Appendix B, SHA-1: the last six of the eight digits.
    for (seconds, eight_digits) in [
        (59, "94287082"),
        (1_111_111_109, "07081804"),
        (1_111_111_111, "14050471"),
        (1_234_567_890, "89005924"),
        (2_000_000_000, "69279037"),
        (20_000_000_000, "65353130"),
    ] {
        let step = TimeStep::at(at(seconds));
        assert_eq!(rfc().code(step).as_str(), &eight_digits[2..], "{seconds}");
        assert_eq!(rfc().verify(&code(&eight_digits[2..]), at(seconds), None), Ok(step));
    }
}

#[test]
fn codes_are_those_of_rfc_4226() {
    let expected =
        ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"];
    for (step, expected) in (0..).zip(expected) {
        assert_eq!(rfc().code(TimeStep(step)).as_str(), expected, "{step}");
    }
}

#[test]
fn steps_begin_every_30_seconds() {
    assert_eq!(TimeStep::at(at(0)), TimeStep(0));
    assert_eq!(TimeStep::at(at(29)), TimeStep(0));
    assert_eq!(TimeStep::at(at(30)), TimeStep(1));
    assert_eq!(TimeStep::at(at(-1)), TimeStep(-1));
}

#[test]
fn one_step_of_drift_is_accepted_and_no_more() {
    let now = at(1_234_567_890);
    let current = TimeStep::at(now).0;
    for drift in -3..=3 {
        let step = TimeStep(current + drift);
        let expected = if drift.abs() <= 1 { Ok(step) } else { Err(TotpRefusal::Wrong) };
        assert_eq!(rfc().verify(&rfc().code(step), now, None), expected, "{drift}");
    }
}

#[test]
fn a_code_is_accepted_once() {
    let now = at(1_234_567_890);
    let current = TimeStep::at(now);
    let [before, after] = [-1, 1].map(|drift| TimeStep(current.0 + drift));
    let verify = |step: TimeStep, last| rfc().verify(&rfc().code(step), now, Some(last));
    assert_eq!(verify(current, before), Ok(current));
    assert_eq!(verify(current, current), Err(TotpRefusal::Used));
    assert_eq!(verify(before, current), Err(TotpRefusal::Used), "an older code after a newer one");
    assert_eq!(verify(current, after), Err(TotpRefusal::Used));
    assert_eq!(verify(after, current), Ok(after));
    assert_eq!(rfc().verify(&code("000000"), now, Some(current)), Err(TotpRefusal::Wrong));
}

#[test]
fn times_at_the_ends_of_the_clock_do_not_panic() {
    for ticks in [0, i64::MAX, 621_355_968_000_000_000] {
        let _ = rfc().verify(&code("000000"), Ticks(ticks), None);
    }
}

#[test]
fn code_of_another_secret_is_wrong() {
    let now = at(1_234_567_890);
    let other = TotpSecret::from_bytes([7; 20]);
    assert_eq!(other.verify(&rfc().code(TimeStep::at(now)), now, None), Err(TotpRefusal::Wrong));
}

#[test]
fn codes_parse_leniently() {
    for text in ["123456", " 123 456 ", "123-456", "1 2 3 4 5 6", "123\u{a0}456"] {
        assert_eq!(code(text).as_str(), "123456", "{text}");
    }
    for text in ["", "12345", "1234567", "12345a", "١٢٣٤٥٦", "123456x", "+12345"] {
        assert_eq!(TotpCode::parse(text), None, "{text}");
    }
    assert_eq!(TotpCode::parse(&format!("123456{}", " ".repeat(1 << 20))), None);
}

#[test]
fn base32_is_that_of_rfc_4648() {
    assert_eq!(rfc().base32().reveal(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
    assert_eq!(rfc().grouped_base32().reveal(), "GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ");
    assert_eq!(TotpSecret::from_bytes([0xff; 20]).base32().reveal(), "7".repeat(32));
}

#[test]
fn secrets_parse_leniently() {
    for text in [
        "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
        "gezd gnbv gy3t qojq gezd gnbv gy3t qojq",
        " GEZD-GNBV-GY3T-QOJQ-GEZD-GNBV-GY3T-QOJQ ==== ",
    ] {
        assert_eq!(TotpSecret::parse(text), Some(rfc()), "{text}");
    }
    let plain = rfc().base32();
    let plain = plain.reveal();
    for text in [
        String::new(),
        plain[1..].to_owned(),
        format!("{plain}A"),
        format!("{plain}AAAAAAAA"),
        plain.replace('3', "1"),
        plain.replace('3', "="),
        plain.replace('3', "é"),
        format!("{plain}{}", " ".repeat(1 << 20)),
    ] {
        assert_eq!(TotpSecret::parse(&text), None, "{text}");
    }
}

#[test]
fn uri_has_percent_encoded_labels() {
    assert_eq!(
        rfc().uri("Asesoría López & Hijos", "ana+x@example.com").reveal(),
        "otpauth://totp/Asesor%C3%ADa%20L%C3%B3pez%20%26%20Hijos:ana%2Bx%40example.com\
         ?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Asesor%C3%ADa%20L%C3%B3pez%20%26%20Hijos"
    );
    let colons = rfc().uri("a:b", "c:d?secret=x#\n");
    assert!(colons.reveal().starts_with("otpauth://totp/a%20b:c%20d%3Fsecret%3Dx%23?secret="), "{colons:?}");
}

#[test]
fn uri_never_exceeds_what_the_qr_code_holds() {
    for (issuer, account) in [("i".repeat(300), "a".repeat(300)), ("ñ".repeat(300), "€".repeat(300))] {
        let uri = rfc().uri(&issuer, &account);
        assert!(uri.reveal().len() <= URI_BYTES_MAX, "{}", uri.reveal());
        assert!(uri.reveal().contains("?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer="));
        assert!(!uri.reveal().contains("%?") && uri.reveal().len() > URI_BYTES_MAX - 20, "{}", uri.reveal());
    }
}

#[test]
fn secrets_and_codes_are_never_printed() {
    assert_eq!(format!("{:?} {:?}", rfc(), code("123456")), "TotpSecret(***) TotpCode(***)");
}

struct CountingRandom;

impl Random for CountingRandom {
    fn fill(&self, bytes: &mut [u8]) {
        for (byte, number) in bytes.iter_mut().zip(1..) {
            *byte = number;
        }
    }
}

#[test]
fn random_secrets_come_from_the_port() {
    let bytes = std::array::from_fn(|index| u8::try_from(index + 1).unwrap());
    assert_eq!(TotpSecret::random(&CountingRandom), TotpSecret::from_bytes(bytes));
}

proptest! {
    #[test]
    fn every_secret_survives_base32(bytes: [u8; 20]) {
        let secret = TotpSecret::from_bytes(bytes);
        prop_assert_eq!(TotpSecret::parse(secret.base32().reveal()), Some(secret.clone()));
        prop_assert_eq!(TotpSecret::parse(&secret.grouped_base32().reveal().to_lowercase()), Some(secret));
    }

    #[test]
    fn any_text_parses_without_a_panic(text: String) {
        let _ = (TotpSecret::parse(&text), TotpCode::parse(&text));
        prop_assert!(rfc().uri(&text, &text).reveal().len() <= URI_BYTES_MAX);
    }
}
