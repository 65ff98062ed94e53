//! Any bytes as the header `context`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| gateway::fuzzing::context(data));
