//! Runs the fuzzing function over the seeds and over random input.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// The kinds of mutations.
const CHANGES: &[u8] = b"gpsfidtaerwc";

#[test]
fn seeds_pass() {
    let seeds = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/tokens");
    let files: Vec<_> = std::fs::read_dir(seeds).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(!files.is_empty(), "{seeds} is empty");
    for file in files {
        tokens(&std::fs::read(file).unwrap());
    }
}

#[test]
fn every_single_bit_change_is_refused() {
    let Fixture { uncached, cached, mutator } = &*FIXTURE;
    let valid = &mutator.valid_tokens()[0];
    assert!(cached.verify_access_token(valid).is_some());
    for at in 0..valid.len() {
        for bit in 0..7 {
            let mut bytes = valid.clone().into_bytes();
            bytes[at] ^= 1 << bit;
            let token = String::from_utf8(bytes).unwrap();
            assert_eq!(
                (uncached.verify_access_token(&token), cached.verify_access_token(&token)),
                (None, None),
                "{at} {bit}: {token}"
            );
        }
    }
}

proptest! {
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
