//! Any bytes as a JSON object.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| domain::fuzzing::json(data));
