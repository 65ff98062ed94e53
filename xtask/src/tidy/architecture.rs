//! The map and the house agree: docs/ARCHITECTURE.md names every crate's folder, and none that is not there.

use super::{Violation, source_tree::SourceTree};

const MAP: &str = "docs/ARCHITECTURE.md";

const PREFIX: &str = "crates/";

pub(super) fn violations(source_tree: &SourceTree) -> Vec<Violation> {
    let Some(map) = source_tree.file(MAP) else {
        return vec![Violation::new(MAP, 1, "is missing: write down what each crate is for")];
    };
    let there = source_tree.crates();
    let named = named(&map.text);
    let strangers = named.iter().filter(|(_, name)| !there.contains(name)).map(|(line, name)| {
        Violation::new(MAP, *line, format!("names `{PREFIX}{name}`, which is not there: correct the map"))
    });
    let unnamed = there
        .iter()
        .filter(|name| !named.iter().any(|(_, known)| known == *name))
        .map(|name| Violation::new(MAP, 1, format!("does not name `{PREFIX}{name}`: say what it is for")));
    strangers.chain(unnamed).collect()
}

/// Every `crates/name` in a text, with its line.
fn named(text: &str) -> Vec<(usize, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for (at, _) in line.match_indices(PREFIX) {
            let rest = &line[at + PREFIX.len()..];
            let name = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
            // `crates/*` names nobody, and a url such as crates.io/crates/x names somebody else's.
            let elsewhere = line[..at].ends_with(|c: char| is_part(c) || c == '/');
            if !name.is_empty() && !elsewhere {
                found.push((index + 1, name));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(map: &str) -> Vec<String> {
        let source_tree =
            SourceTree::of(&[("crates/domain/Cargo.toml", ""), ("crates/store/Cargo.toml", ""), (MAP, map)]);
        violations(&source_tree).iter().map(Violation::to_string).collect()
    }

    #[test]
    fn a_map_that_agrees_is_right() {
        let map = "`crates/domain` is below crates/store/src/lib.rs; all of crates/* and https://crates.io/crates/axum\n";
        assert!(messages(map).is_empty());
    }

    #[test]
    fn a_crate_is_missing_on_the_map_or_on_the_ground() {
        assert_eq!(
            messages("# Map\n\ncrates/domain, `crates/cellar`\n"),
            [
                "docs/ARCHITECTURE.md:3: names `crates/cellar`, which is not there: correct the map",
                "docs/ARCHITECTURE.md:1: does not name `crates/store`: say what it is for",
            ]
        );
    }

    #[test]
    fn no_map_is_a_fault() {
        assert!(
            violations(&SourceTree::of(&[]))[0].to_string().starts_with("docs/ARCHITECTURE.md:1: is missing")
        );
    }
}
