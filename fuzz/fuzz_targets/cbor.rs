//! Any bytes as the CBOR of an authenticator.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| identity::fuzzing::cbor(data));
