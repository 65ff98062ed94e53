//! Limits on the sizes of files and functions. Larger ones are listed with their size in a file, and may only shrink.

use std::collections::BTreeMap;

use super::{
    Violation, function_sizes,
    source_tree::{SourceFile, SourceTree},
};

/// The list: `path lines` or `path::function lines`, one per line; `#` starts a comment.
const LIST: &str = "xtask/ratchet.txt";

/// The maximal lines of a file and of a function.
struct Limits {
    file_lines_max: usize,
    function_lines_max: usize,
}

const PRODUCT: Limits = Limits { file_lines_max: 400, function_lines_max: 60 };
/// Tests may be longer: they often describe a whole flow.
const TEST: Limits = Limits { file_lines_max: 600, function_lines_max: 120 };

/// The size of a file or of a function, and where it was found.
struct Size {
    path: String,
    line: usize,
    lines: usize,
    lines_max: usize,
}

/// A line of the list.
struct Entry {
    line: usize,
    lines: usize,
}

pub(super) fn violations(source_tree: &SourceTree) -> Vec<Violation> {
    let (mut entries, mut violations) =
        source_tree.file(LIST).map_or_else(Default::default, |file| read(&file.text));
    for (key, size) in sizes(source_tree) {
        violations.extend(check_size(&key, &size, entries.remove(&key).as_ref()));
    }
    let stale = entries.into_iter().map(|(key, entry)| {
        Violation::new(LIST, entry.line, format!("`{key}` no longer exists: remove this line"))
    });
    violations.extend(stale);
    violations
}

fn check_size(key: &str, size: &Size, entry: Option<&Entry>) -> Option<Violation> {
    let Size { path, line, lines, lines_max } = size;
    let name = key.strip_prefix(path).and_then(|rest| rest.strip_prefix("::"));
    let subject = name.map_or_else(|| "the file".to_owned(), |name| format!("`fn {name}`"));
    match entry {
        None if lines > lines_max => {
            let what = format!("{subject} has {lines} lines and may have {lines_max}: split it");
            Some(Violation::new(path, *line, what))
        }
        Some(entry) if *lines > entry.lines => {
            let what =
                format!("{subject} grew to {lines} lines, and {LIST} holds it at {}: shrink it", entry.lines);
            Some(Violation::new(path, *line, what))
        }
        Some(entry) if lines <= lines_max => {
            let what = format!("`{key}` has {lines} lines and may have {lines_max}: remove this line");
            Some(Violation::new(LIST, entry.line, what))
        }
        Some(entry) if *lines < entry.lines => {
            Some(Violation::new(LIST, entry.line, format!("`{key}` shrank: lower it to {lines}")))
        }
        _ => None,
    }
}

/// The largest size of each key: functions of the same name in one file share a key.
fn sizes(source_tree: &SourceTree) -> BTreeMap<String, Size> {
    let mut sizes: BTreeMap<String, Size> = BTreeMap::new();
    for file in source_tree.files().filter(|file| file.is_rust()) {
        for (key, size) in measure(file) {
            if sizes.get(&key).is_none_or(|known| known.lines < size.lines) {
                sizes.insert(key, size);
            }
        }
    }
    sizes
}

fn measure(file: &SourceFile) -> Vec<(String, Size)> {
    let path = &file.path;
    let limits = if is_test(path) { TEST } else { PRODUCT };
    let size = |line, lines, lines_max| Size { path: path.clone(), line, lines, lines_max };
    let whole = (path.clone(), size(1, file.text.lines().count(), limits.file_lines_max));
    let functions = function_sizes::functions(&file.text).into_iter().map(|function| {
        let key = format!("{path}::{}", function.name);
        (key, size(function.line, function.lines, limits.function_lines_max))
    });
    std::iter::once(whole).chain(functions).collect()
}

fn is_test(path: &str) -> bool {
    path.split('/').any(|part| part == "tests" || part == "tests.rs")
}

fn read(text: &str) -> (BTreeMap<String, Entry>, Vec<Violation>) {
    let (mut entries, mut violations) = (BTreeMap::new(), Vec::new());
    for (index, text) in text.lines().enumerate() {
        let line = index + 1;
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let pair = text.rsplit_once(' ').and_then(|(key, lines)| Some((key.trim(), lines.parse().ok()?)));
        let Some((key, lines)) = pair else {
            violations.push(Violation::new(LIST, line, "is not `path lines` or `path::function lines`"));
            continue;
        };
        if entries.insert(key.to_owned(), Entry { line, lines }).is_some() {
            violations.push(Violation::new(
                LIST,
                line,
                format!("`{key}` is listed twice: keep the lower line"),
            ));
        }
    }
    (entries, violations)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file_of(lines: usize) -> String {
        "//! Long.\n".repeat(lines)
    }

    fn function_of(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    step();\n".repeat(lines - 2))
    }

    fn messages(list: &str, files: &[(&str, &str)]) -> Vec<String> {
        let mut files = files.to_vec();
        files.push((LIST, list));
        violations(&SourceTree::of(&files)).iter().map(Violation::to_string).collect()
    }

    #[test]
    fn limits_apply_to_files_and_functions() {
        for (path, text, wrong) in [
            ("a.rs", file_of(400), false),
            ("a.rs", file_of(401), true),
            ("a.rs", function_of(60), false),
            ("a.rs", function_of(61), true),
            ("crates/x/tests/a.rs", file_of(600), false),
            ("crates/x/tests/a.rs", file_of(601), true),
            ("crates/x/src/tests.rs", function_of(120), false),
            ("crates/x/src/tests.rs", function_of(121), true),
            ("long.md", file_of(1_000), false),
        ] {
            assert_eq!(
                messages("", &[(path, &text)]).len(),
                usize::from(wrong),
                "{path}, {}",
                text.lines().count()
            );
        }
    }

    #[test]
    fn violation_names_the_function_and_its_line() {
        let source = format!("//! A.\n\n{}", function_of(61));
        assert_eq!(
            messages("", &[("a.rs", &source)]),
            ["a.rs:3: `fn long` has 61 lines and may have 60: split it"]
        );
    }

    #[test]
    fn listed_sizes_may_not_grow() {
        let (file, function) = (file_of(410), function_of(70));
        let files = [("a.rs", file.as_str()), ("b.rs", function.as_str())];
        assert!(messages("# Too long.\na.rs 410\nb.rs::long 70\n", &files).is_empty());
        let messages = messages("a.rs 409\nb.rs::long 69\n", &files);
        assert_eq!(
            messages[0],
            "a.rs:1: the file grew to 410 lines, and xtask/ratchet.txt holds it at 409: shrink it"
        );
        assert!(messages[1].starts_with("b.rs:1: `fn long` grew to 70 lines"));
    }

    #[test]
    fn list_must_follow_when_sizes_shrink() {
        let files = [("a.rs", &*file_of(410)), ("b.rs", &*function_of(60))];
        assert_eq!(
            messages("a.rs 420\nb.rs::long 70\nc.rs 500\n", &files),
            [
                "xtask/ratchet.txt:1: `a.rs` shrank: lower it to 410",
                "xtask/ratchet.txt:2: `b.rs::long` has 60 lines and may have 60: remove this line",
                "xtask/ratchet.txt:3: `c.rs` no longer exists: remove this line",
            ]
        );
    }

    #[test]
    fn invalid_list_lines_are_reported() {
        let messages = messages("a.rs\na.rs many\nb.rs 500\nb.rs 500\n", &[("b.rs", &file_of(500))]);
        assert_eq!(messages.len(), 3);
        assert!(messages[2].contains(":4: `b.rs` is listed twice"));
    }
}
