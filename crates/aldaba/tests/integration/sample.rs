//! The ingest API accepts every line of the sample generator.

use crate::harness::{Program, shared_server};

#[test]
fn no_seed_generates_a_rejected_line_or_a_warning() {
    for seed in ["1", "2", "7", "42", "18446744073709551615"] {
        let arguments = ["changes", "generate", "--seed", seed, "--companies", "4", "--customers", "25"];
        let lines = Program::new(&arguments).run().code(0).stdout;
        let ingest = shared_server().ingest_for_new_tenant();
        let answer = ingest.send(lines.clone());
        assert_eq!((&answer.errors[..], &answer.warnings[..]), (&[][..], &[][..]), "seed {seed}");
        let count = lines.lines().count() as u64;
        assert_eq!((answer.counts(), answer.ids.len()), ((count, 0), 0), "seed {seed}");
        assert!(answer.head() > 0 && answer.head() <= count);
        assert_eq!(ingest.send(lines).head(), answer.head(), "the second run makes no events");
    }
}

#[test]
fn generator_without_companies_still_generates_lines() {
    let lines = Program::new(&["changes", "generate", "--companies", "0"]).run().code(0).stdout;
    let answer = shared_server().ingest_for_new_tenant().send(lines.clone());
    assert_eq!(answer.counts(), (lines.lines().count() as u64, 0));
}
