//! Any bytes as the query of a list.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| gateway::fuzzing::paging(data));
