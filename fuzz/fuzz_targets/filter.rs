//! Any bytes as a filter and as an order of payroll companies.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| domain::fuzzing::filter(data));
