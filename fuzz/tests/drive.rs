//! The program drives every target, writes the report that `cargo xtask prove input` reads, and repeats single inputs.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::process::{Command, Output};

fn drive(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_aldaba-fuzz-drive")).args(arguments).output().unwrap()
}

#[test]
fn every_target_survives_some_hundred_inputs() {
    let output = drive(&["--inputs", "400", "--seed", "7", "--seconds", "20", "--slow-ms", "2000", "--json"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let figures = report["parts"][0]["figures"].as_array().unwrap();
    assert_eq!(figures.len(), aldaba_fuzz::TARGETS.len(), "{told}");
    assert!(figures.iter().all(|figure| figure["is_met"] == true), "{report}");
}

#[test]
fn single_inputs_are_repeated_and_wrong_arguments_refused() {
    assert!(drive(&["--target", "json", "--input", "7b7d"]).status.success());
    for wrong in
        [&["--input", "00"][..], &["--target", "none"], &["--input", "0", "--target", "json"], &["--frob"]]
    {
        assert_eq!(drive(wrong).status.code(), Some(2), "{wrong:?}");
    }
    let list = drive(&["--list"]).stdout;
    assert_eq!(String::from_utf8(list).unwrap().lines().count(), aldaba_fuzz::TARGETS.len());
}
