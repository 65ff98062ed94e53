//! What the program says when it is asked for something that it cannot try: a proof that tried nothing must fail.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::process::{Command, Output};

fn proof(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_aldaba-proof")).args(arguments).output().unwrap()
}

fn refusal(arguments: &[&str]) -> String {
    let output = proof(arguments);
    assert!(!output.status.success(), "{arguments:?} succeeded");
    assert!(output.stdout.is_empty(), "{arguments:?} wrote a report");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn unknown_scenario_is_refused_with_the_names() {
    let refusal = refusal(&["nonsense", "--program", "aldaba"]);
    assert!(refusal.contains("no scenario \"nonsense\""), "{refusal}");
    assert!(refusal.contains("nodes, one-node, receivers"), "{refusal}");
}

#[test]
fn unknown_part_is_refused() {
    for scenario in ["nodes", "one-node", "receivers", "database", "failover", "load"] {
        let refusal = refusal(&[scenario, "--program", "aldaba", "--only", "nonsense"]);
        assert!(
            refusal.contains("nothing was tried: there is no part \"nonsense\""),
            "{scenario}: {refusal}"
        );
    }
}
