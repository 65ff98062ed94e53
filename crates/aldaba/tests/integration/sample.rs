//! Every line of the sample generator is welcome at the door.

use crate::harness::{Program, shared_server};

#[test]
fn no_seed_makes_a_line_that_is_refused_or_looks_odd() {
    for seed in ["1", "2", "7", "42", "18446744073709551615"] {
        let arguments = ["changes", "generate", "--seed", seed, "--companies", "4", "--customers", "25"];
        let lines = Program::new(&arguments).run().code(0).stdout;
        let ingest = shared_server().ingest_for_new_tenant();
        let answer = ingest.send(lines.clone());
        assert_eq!((&answer.errors[..], &answer.warnings[..]), (&[][..], &[][..]), "seed {seed}");
        let count = lines.lines().count() as u64;
        assert_eq!((answer.counts(), answer.ids.len()), ((count, 0), 0), "seed {seed}");
        assert!(answer.head() > 0 && answer.head() <= count);
        assert_eq!(ingest.send(lines).head(), answer.head(), "the second time nothing happens");
    }
}

#[test]
fn a_generator_without_companies_still_makes_something() {
    let lines = Program::new(&["changes", "generate", "--companies", "0"]).run().code(0).stdout;
    let answer = shared_server().ingest_for_new_tenant().send(lines.clone());
    assert_eq!(answer.counts(), (lines.lines().count() as u64, 0));
}
