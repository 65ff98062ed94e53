//! Every Rust file starts with a module doc: `//!` on its first line, before any attribute.

use super::{Violation, source_tree::SourceTree};

pub(super) fn violations(source_tree: &SourceTree) -> Vec<Violation> {
    let undocumented = source_tree.files().filter(|file| file.is_rust() && !file.text.starts_with("//!"));
    undocumented
        .map(|file| {
            Violation::new(
                &file.path,
                1,
                "does not start with `//!`: describe the file's purpose in one or two lines",
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_line_must_be_a_module_doc() {
        let source_tree = SourceTree::of(&[
            ("good.rs", "//! Text.\n#![allow(unused)]\n"),
            ("late.rs", "#![allow(unused)]\n//! Text.\n"),
            ("empty.rs", ""),
            ("plain.rs", "// Text.\n"),
            ("notes.md", "# Notes\n"),
        ]);
        let paths: Vec<String> =
            violations(&source_tree).into_iter().map(|violation| violation.path).collect();
        assert_eq!(paths, ["late.rs", "empty.rs", "plain.rs"]);
    }
}
