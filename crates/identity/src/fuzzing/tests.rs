//! Runs the fuzzing functions over the seeds and over random input.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// The kinds of mutations.
const CHANGES: &[u8] = b"gpsfidtaerwc";

#[test]
fn seeds_pass() {
    check_seeds("tokens", tokens);
    check_seeds("cbor", cbor);
    check_seeds("passkey_registration", passkey_registration);
}

fn check_seeds(target: &str, check: fn(&[u8]) -> u64) {
    let seeds = format!("{}/../../fuzz/seeds/{target}", env!("CARGO_MANIFEST_DIR"));
    let files: Vec<_> = std::fs::read_dir(&seeds).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(!files.is_empty(), "{seeds} is empty");
    for file in files {
        check(&std::fs::read(file).unwrap());
    }
}

#[test]
fn the_valid_registration_is_accepted() {
    let object = passkeys::valid_attestation_object();
    assert!(passkeys::verified(&passkeys::response(&object)).is_ok());
    passkey_registration(&object);
}

#[test]
fn every_single_bit_change_is_refused() {
    let Fixture { uncached, cached, mutator } = &*FIXTURE;
    let valid = &mutator.valid_tokens()[0];
    assert!(cached.verify_access_token(valid).is_ok());
    for at in 0..valid.len() {
        for bit in 0..7 {
            let mut bytes = valid.clone().into_bytes();
            bytes[at] ^= 1 << bit;
            let token = String::from_utf8(bytes).unwrap();
            assert_eq!(
                (uncached.verify_access_token(&token).ok(), cached.verify_access_token(&token).ok()),
                (None, None),
                "{at} {bit}: {token}"
            );
        }
    }
}

/// Bytes that are CBOR more often than arbitrary ones: short heads, and some of the text of a registration.
fn cbor_like() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        any::<u8>().prop_map(|byte| vec![byte]),
        (0..8_u8, 0..4_u8).prop_map(|(major, length)| vec![major << 5 | length]),
        Just(b"cfmtdnonegattStmt\xa0hauthData".to_vec()),
    ];
    vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn arbitrary_cbor_is_read_as_it_is_written(data in cbor_like()) {
        cbor(&data);
    }

    #[test]
    fn arbitrary_registrations_are_bounded(text in any::<String>(), data in cbor_like()) {
        passkey_registration(format!("{{{text}").as_bytes());
        passkey_registration(&data);
    }

    #[test]
    fn changed_registrations_are_bounded(at in any::<proptest::sample::Index>(), byte in any::<u8>()) {
        let mut object = passkeys::valid_attestation_object();
        let at = at.index(object.len());
        object[at] = byte;
        passkey_registration(&object);
    }

    #[test]
    fn arbitrary_text_is_refused(text in any::<String>()) {
        tokens(format!("={text}").as_bytes());
    }

    #[test]
    fn mutated_tokens_are_refused(changes in vec((proptest::sample::select(CHANGES), any::<[u8; 3]>()), 0..6)) {
        let data: Vec<u8> = changes.into_iter().flat_map(|(what, rest)| [what, rest[0], rest[1], rest[2]]).collect();
        tokens(&data);
    }
}
