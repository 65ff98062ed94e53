//! Any bytes as a body of changes that arrives in pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| operator::fuzzing::body_splitter(data));
