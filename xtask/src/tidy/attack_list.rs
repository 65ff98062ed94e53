//! docs/security.md names a test for each attack, and only tests that exist.

use std::collections::HashSet;

use super::{Violation, source_tree::SourceTree};

const DOCUMENT: &str = "docs/security.md";
const HEADING: &str = "| Attack | Promise | Test |";

pub(super) fn violations(source_tree: &SourceTree) -> Vec<Violation> {
    let Some(document) = source_tree.file(DOCUMENT) else { return Vec::new() };
    let rust = source_tree.files().filter(|file| file.is_rust());
    let functions: HashSet<&str> = rust.flat_map(|file| functions(&file.text)).collect();
    let mut found = Vec::new();
    for (line, row) in rows(&document.text) {
        let tests: Vec<&str> =
            row.rsplit('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2).collect();
        if tests.is_empty() {
            found.push(Violation::new(
                DOCUMENT,
                line,
                "names no test: add the one that fails if the promise is broken",
            ));
        }
        for test in tests.iter().filter(|test| !functions.contains(*test)) {
            found.push(Violation::new(
                DOCUMENT,
                line,
                format!("names the test `{test}`, which does not exist"),
            ));
        }
    }
    found
}

/// The rows of the tables with attacks, with their lines.
fn rows(text: &str) -> Vec<(usize, &str)> {
    let mut rows = Vec::new();
    let mut is_in_table = false;
    for (index, line) in text.lines().enumerate() {
        if line == HEADING {
            is_in_table = true;
        } else if !line.starts_with('|') {
            is_in_table = false;
        } else if is_in_table && !line.starts_with("|---") {
            rows.push((index + 1, line));
        }
    }
    rows
}

fn functions(text: &str) -> impl Iterator<Item = &str> {
    text.split("fn ")
        .skip(1)
        .filter_map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_names_existing_tests() {
        let document = "# Security\n\n| From | To |\n|---|---|\n| `a` | b |\n\n| Attack | Promise | Test |\n|---|---|---|\n\
            | a | `b` | `it_holds`, `it_holds_too` |\n| c | d | `gone` |\n| e | f |  |\n";
        let tree = SourceTree::of(&[
            (DOCUMENT, document),
            ("a.rs", "//! A.\n#[test]\nfn it_holds() {}\nasync fn it_holds_too<T>() {}\n"),
        ]);
        let messages: Vec<String> = violations(&tree).iter().map(Violation::to_string).collect();
        assert_eq!(
            messages,
            [
                "docs/security.md:10: names the test `gone`, which does not exist",
                "docs/security.md:11: names no test: add the one that fails if the promise is broken",
            ]
        );
    }
}
