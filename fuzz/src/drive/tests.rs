//! The driver finds what it looks for, repeats itself, and tells one fault once.

use super::*;
use crate::{Shape, decode_input, encode_input};

fn limits(inputs: u64) -> Limits {
    Limits { seed: 1, span: Duration::from_secs(60), inputs, slow: Duration::from_millis(200), jobs: 2 }
}

fn target(name: &'static str, run: fn(&[u8]) -> u64) -> Target {
    let (seeds, dictionary): (&[&str], &[&str]) = (&["a=1&b=2"], &["magic"]);
    Target { name, checks: "", run, shape: Shape::Form, seeds, dictionary, bytes_max: 200 }
}

/// Three steps, each of which only an input that has taken the one before can take.
fn three_steps(input: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(input);
    let count = text.matches("magic").count() as u64;
    assert!(count < 3, "three of {input:?}");
    count
}

fn only(run: fn(&[u8]) -> u64, inputs: u64) -> TargetReport {
    drive(&[target("planted", run)], &limits(inputs), |_| {}).unwrap().remove(0)
}

#[test]
fn a_panic_behind_three_outcomes_is_found_shortened_and_repeatable() {
    let report = only(three_steps, 200_000);
    let [finding] = &report.findings[..] else { panic!("{report:?}") };
    assert_eq!(finding.input, b"magicmagicmagic");
    assert!(
        matches!(&finding.kind, FindingKind::Panic(text) if text.contains("tests.rs") && text.contains("three of"))
    );
    assert_eq!(decode_input(&encode_input(&finding.input)), Some(finding.input.clone()));
    assert_eq!(
        repeat(&target("planted", three_steps), &finding.input, limits(1).slow).as_ref(),
        Some(finding)
    );
    assert!(
        finding.to_string().contains("aldaba-fuzz-drive --target planted --input 6d61676963"),
        "{finding}"
    );
    let again = only(three_steps, 200_000);
    assert_eq!((again.findings, again.inputs), (report.findings, report.inputs));
}

#[test]
fn a_slow_input_is_a_finding() {
    let slow = |input: &[u8]| {
        let watch = Stopwatch::start();
        while input.len() > 60 && watch.elapsed() < Duration::from_millis(250) {}
        0_u64
    };
    let report = only(slow, 3000);
    assert!(matches!(report.findings[..], [Finding { kind: FindingKind::Slow(_), .. }]), "{report:?}");
}

#[test]
fn an_input_that_waits_is_no_finding() {
    let waits = |input: &[u8]| {
        let span = if input.len() > 60 { Duration::from_millis(250) } else { Duration::ZERO };
        let (_sender, receiver) = channel::<()>();
        let _ = receiver.recv_timeout(span);
        0_u64
    };
    assert_eq!(repeat(&target("planted", waits), &[b'a'; 100], limits(1).slow), None);
}

#[test]
fn a_target_without_faults_has_no_findings_and_runs_all_its_inputs() {
    let lengths = |input: &[u8]| input.len() as u64;
    let report = only(lengths, 5000);
    assert_eq!((report.inputs, report.findings.len()), (5000, 0));
    assert!(report.outcomes > 100, "{report:?}");
}

#[test]
fn every_target_of_the_table_has_a_name_of_its_own_and_passes_its_seeds() {
    let mut names = HashSet::new();
    for target in crate::TARGETS {
        assert!(names.insert(target.name), "{} twice", target.name);
        assert!(!target.checks.is_empty(), "{}", target.name);
        let corpus = target.corpus();
        assert!(!corpus.is_empty(), "{} has no seeds", target.name);
        let outcomes: HashSet<u64> = corpus
            .iter()
            .map(|seed| match guard::call(target.run, seed) {
                Ok(outcome) => outcome,
                Err(message) => panic!("{}: {message}", finding(target, FindingKind::Hang, seed)),
            })
            .collect();
        assert!(outcomes.len() > 1, "{}: all seeds have the same outcome", target.name);
    }
}

#[test]
fn every_folder_of_seeds_has_its_target() {
    let folders = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/seeds")).unwrap();
    for folder in folders {
        let name = folder.unwrap().file_name().into_string().unwrap();
        assert!(crate::TARGETS.iter().any(|target| target.name == name), "{name}");
    }
}

#[test]
fn input_that_is_no_hexadecimal_is_refused() {
    assert_eq!(decode_input("00fF"), Some(vec![0, 255]));
    for odd in ["0", "zz", "+1", "0x"] {
        assert_eq!(decode_input(odd), None, "{odd}");
    }
}

#[test]
fn documentation_names_every_target() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/fuzzing.md")).unwrap();
    for target in crate::TARGETS {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{}` |", target.name)));
        assert!(row.is_some_and(|row| row.ends_with(&format!("| {} |", target.checks))), "{}", target.name);
    }
}
