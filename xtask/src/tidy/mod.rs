//! `cargo xtask tidy`: the rules that no compiler checks. Each rule is a pure function over the repository's files, which
//! are read once. A violation names its place and the remedy.

mod architecture;
mod attack_list;
mod direction;
mod file_sizes;
mod forbidden_text;
mod library_page;
mod migrations;
mod module_docs;
mod source_tree;
mod vocabulary;

use std::{fmt, path::Path};

use crate::{failure::Failure, workspace};
use source_tree::SourceTree;

/// A broken rule. Shown as `path:line: what is wrong, and what to do`.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    pub path: String,
    pub line: usize,
    pub what: String,
}

impl Violation {
    fn new(path: impl Into<String>, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.into(), line, what: what.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// The rules, in the order of the documentation.
const RULES: [fn(&SourceTree) -> Vec<Violation>; 9] = [
    direction::violations,
    module_docs::violations,
    file_sizes::violations,
    forbidden_text::violations,
    architecture::violations,
    attack_list::violations,
    library_page::violations,
    migrations::violations,
    vocabulary::violations,
];

/// All violations below `root`, in the order of paths and lines.
pub fn check(root: &Path) -> Result<Vec<Violation>, String> {
    let source_tree = SourceTree::read(root)?;
    let mut violations: Vec<Violation> = RULES.iter().flat_map(|rule| rule(&source_tree)).collect();
    violations.sort();
    Ok(violations)
}

pub(crate) fn command() -> Result<(), Failure> {
    let violations = check(&workspace::root())?;
    for violation in &violations {
        println!("{violation}");
    }
    match violations.len() {
        0 => Ok(()),
        count => {
            Err(Failure::work(format!("{count} {}", if count == 1 { "violation" } else { "violations" })))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let violations = check(&workspace::root()).unwrap();
        let list: Vec<String> = violations.iter().map(Violation::to_string).collect();
        assert!(list.is_empty(), "\n{}\n", list.join("\n"));
    }
}
