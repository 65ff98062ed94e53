//! Any text as the response of a browser to the creation of a passkey, or any bytes as its attestation object.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| identity::fuzzing::passkey_registration(data));
