//! Every Rust file opens with what it is for: a `//!` on its first line, before any attribute.

use super::{Violation, source_tree::SourceTree};

pub(super) fn violations(source_tree: &SourceTree) -> Vec<Violation> {
    let closed = source_tree.files().filter(|file| file.is_rust() && !file.text.starts_with("//!"));
    closed
        .map(|file| {
            Violation::new(
                &file.path,
                1,
                "does not open with `//!`: say in one or two lines what this file is for",
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_says_what_a_file_is_for() {
        let source_tree = SourceTree::of(&[
            ("good.rs", "//! The words.\n#![allow(unused)]\n"),
            ("late.rs", "#![allow(unused)]\n//! The words.\n"),
            ("empty.rs", ""),
            ("plain.rs", "// The words.\n"),
            ("notes.md", "# Notes\n"),
        ]);
        let paths: Vec<String> =
            violations(&source_tree).into_iter().map(|violation| violation.path).collect();
        assert_eq!(paths, ["late.rs", "empty.rs", "plain.rs"]);
    }
}
