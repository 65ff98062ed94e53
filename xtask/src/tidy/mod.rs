//! `cargo xtask tidy`: the rules of the house that no compiler keeps. Each rule is a pure function over the
//! files of the repository, read once; it names the place of a fault and what to do about it.

mod architecture;
mod code;
mod direction;
mod house;
mod migrations;
mod openings;
mod ratchet;
mod scan;
mod words;

use std::{fmt, path::Path};

use crate::{failure::Failure, workspace};
use house::House;

/// One thing out of place. Shown as `path:line: what is wrong, and what to do`.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    pub path: String,
    pub line: usize,
    pub what: String,
}

impl Fault {
    fn new(path: impl Into<String>, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.into(), line, what: what.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// The rules, in the order of the documentation.
const RULES: [fn(&House) -> Vec<Fault>; 6] = [
    direction::faults,
    openings::faults,
    ratchet::faults,
    words::faults,
    architecture::faults,
    migrations::faults,
];

/// Everything out of place below `root`, in the order of paths and lines.
pub fn check(root: &Path) -> Result<Vec<Fault>, String> {
    let house = House::read(root)?;
    let mut faults: Vec<Fault> = RULES.iter().flat_map(|rule| rule(&house)).collect();
    faults.sort();
    Ok(faults)
}

pub fn command(words: &[&str]) -> Result<(), Failure> {
    if !words.is_empty() {
        return Err(Failure::usage(format!("`tidy` takes nothing, not `{}`", words.join(" "))));
    }
    let faults = check(&workspace::root())?;
    for fault in &faults {
        println!("{fault}");
    }
    match faults.len() {
        0 => Ok(()),
        count => Err(Failure::work(format!(
            "{count} {} in the house",
            if count == 1 { "fault" } else { "faults" }
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_house_is_tidy() {
        let faults = check(&workspace::root()).unwrap();
        let list: Vec<String> = faults.iter().map(Fault::to_string).collect();
        assert!(list.is_empty(), "\n{}\n", list.join("\n"));
    }
}
