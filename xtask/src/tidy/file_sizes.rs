//! Limits on the lines of files. Clippy limits those of functions.

use super::{Violation, source_tree::SourceTree};

const LINES_MAX: usize = 400;
/// Tests may be longer: they often describe a whole flow.
const TEST_LINES_MAX: usize = 600;

pub(super) fn violations(source_tree: &SourceTree) -> Vec<Violation> {
    let sources = source_tree.files().filter(|file| file.is_rust());
    let sizes = sources.map(|file| (&file.path, file.text.lines().count(), lines_max(&file.path)));
    let too_long = sizes.filter(|(_, lines, lines_max)| lines > lines_max);
    too_long
        .map(|(path, lines, lines_max)| {
            Violation::new(path, 1, format!("the file has {lines} lines and may have {lines_max}: split it"))
        })
        .collect()
}

fn lines_max(path: &str) -> usize {
    let is_test = path.split('/').any(|part| part == "tests" || part == "tests.rs");
    if is_test { TEST_LINES_MAX } else { LINES_MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_apply_to_sources_and_tests() {
        for (path, lines, wrong) in [
            ("a.rs", 400, false),
            ("a.rs", 401, true),
            ("crates/x/tests/a.rs", 600, false),
            ("crates/x/tests/a.rs", 601, true),
            ("crates/x/src/tests.rs", 600, false),
            ("long.md", 1_000, false),
        ] {
            let text = "//! Long.\n".repeat(lines);
            let found = violations(&SourceTree::of(&[(path, &text)]));
            assert_eq!(found.len(), usize::from(wrong), "{path}, {lines}");
        }
    }

    #[test]
    fn violation_names_both_numbers() {
        let found = violations(&SourceTree::of(&[("a.rs", &"//! Long.\n".repeat(410))]));
        assert_eq!(found[0].to_string(), "a.rs:1: the file has 410 lines and may have 400: split it");
    }
}
