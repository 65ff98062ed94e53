//! The entry over the seeds and over what chance brings; and that the forge's own tokens are what they claim to be.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// What the forge's changes begin with.
const CHANGES: &[u8] = b"gpsfidtaerwc";

#[test]
fn the_seeds_hold() {
    let seeds = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/tokens");
    let files: Vec<_> = std::fs::read_dir(seeds).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(!files.is_empty(), "{seeds} is empty");
    for file in files {
        tokens(&std::fs::read(file).unwrap());
    }
}

#[test]
fn every_change_of_one_letter_is_noticed() {
    let Fixture { uncached, cached, mutator } = &*FIXTURE;
    let good = &mutator.good()[0];
    assert!(cached.verify_access_token(good).is_some());
    for at in 0..good.len() {
        for bit in 0..7 {
            let mut bytes = good.clone().into_bytes();
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
    fn any_text(text in any::<String>()) {
        tokens(format!("={text}").as_bytes());
    }

    #[test]
    fn any_changes(changes in vec((proptest::sample::select(CHANGES), any::<[u8; 3]>()), 0..6)) {
        let data: Vec<u8> = changes.into_iter().flat_map(|(what, rest)| [what, rest[0], rest[1], rest[2]]).collect();
        tokens(&data);
    }
}
