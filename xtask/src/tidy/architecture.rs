//! docs/ARCHITECTURE.md names every crate's folder, and no folder that does not exist.

use super::{Violation, source_tree::SourceTree};

const DOCUMENT: &str = "docs/ARCHITECTURE.md";

const PREFIX: &str = "crates/";

pub(super) fn violations(source_tree: &SourceTree) -> Vec<Violation> {
    let Some(document) = source_tree.file(DOCUMENT) else {
        return vec![Violation::new(DOCUMENT, 1, "is missing: describe the purpose of each crate")];
    };
    let crates = source_tree.crates();
    let named_crates = named_crates(&document.text);
    let unknown = named_crates.iter().filter(|(_, name)| !crates.contains(name)).map(|(line, name)| {
        Violation::new(
            DOCUMENT,
            *line,
            format!("names `{PREFIX}{name}`, which does not exist: correct the document"),
        )
    });
    let unnamed =
        crates.iter().filter(|name| !named_crates.iter().any(|(_, known)| known == *name)).map(|name| {
            Violation::new(DOCUMENT, 1, format!("does not name `{PREFIX}{name}`: describe its purpose"))
        });
    unknown.chain(unnamed).collect()
}

/// Every `crates/name` in a text, with its line.
fn named_crates(text: &str) -> Vec<(usize, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for (at, _) in line.match_indices(PREFIX) {
            let rest = &line[at + PREFIX.len()..];
            let name = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
            // `crates/*` names no crate, and a url such as crates.io/crates/x names another project's.
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

    fn messages(document: &str) -> Vec<String> {
        let source_tree = SourceTree::of(&[
            ("crates/domain/Cargo.toml", ""),
            ("crates/store/Cargo.toml", ""),
            (DOCUMENT, document),
        ]);
        violations(&source_tree).iter().map(Violation::to_string).collect()
    }

    #[test]
    fn matching_document_has_no_violation() {
        let document = "`crates/domain` is below crates/store/src/lib.rs; all of crates/* and https://crates.io/crates/axum\n";
        assert!(messages(document).is_empty());
    }

    #[test]
    fn missing_and_unknown_crates_are_reported() {
        assert_eq!(
            messages("# Map\n\ncrates/domain, `crates/unknown`\n"),
            [
                "docs/ARCHITECTURE.md:3: names `crates/unknown`, which does not exist: correct the document",
                "docs/ARCHITECTURE.md:1: does not name `crates/store`: describe its purpose",
            ]
        );
    }

    #[test]
    fn missing_document_is_reported() {
        assert!(
            violations(&SourceTree::of(&[]))[0].to_string().starts_with("docs/ARCHITECTURE.md:1: is missing")
        );
    }
}
