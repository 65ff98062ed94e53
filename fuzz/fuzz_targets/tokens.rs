//! Any bytes as an access token, or as changes to a valid one.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| identity::fuzzing::tokens(data));
