//! Text that no file may contain: markers of unfinished work, trailing white space, and paths of one machine.

use super::{
    Violation,
    source_tree::{SourceFile, SourceTree},
};

/// Markers of unfinished work, and the remedy.
const UNFINISHED: [(&str, &str); 5] = [
    ("todo!(", "implement it, or remove it"),
    ("unimplemented!(", "implement it, or remove it"),
    ("FIXME", "fix it, or describe the limitation"),
    ("dbg!(", "use tracing, or remove it"),
    ("#[ignore", "run the test, or remove it"),
];

/// Folders that exist only on one machine.
const MACHINE_PATHS: [&str; 3] = ["/root/", "/work/", "/home/"];
const MACHINE_PATHS_IN: [&str; 4] = ["rs", "md", "toml", "sh"];

/// This module has to name what it looks for.
const THIS_MODULE: &str = "xtask/src/tidy/";

pub(super) fn violations(source_tree: &SourceTree) -> Vec<Violation> {
    source_tree.files().flat_map(check_file).collect()
}

fn check_file(file: &SourceFile) -> Vec<Violation> {
    let is_checked = !file.path.starts_with(THIS_MODULE);
    let checks_paths =
        is_checked && file.extension().is_some_and(|extension| MACHINE_PATHS_IN.contains(&extension));
    let mut violations = Vec::new();
    for (index, line) in file.text.split('\n').enumerate() {
        let mut violation = |what: String| violations.push(Violation::new(&file.path, index + 1, what));
        if line.ends_with(char::is_whitespace) {
            violation("has trailing white space: remove it".to_owned());
        }
        for (word, remedy) in UNFINISHED.iter().filter(|(word, _)| is_checked && line.contains(word)) {
            violation(format!("has `{word}`: {remedy}"));
        }
        for path in MACHINE_PATHS.iter().filter(|path| checks_paths && has_path(line, path)) {
            violation(format!("has a path of one machine, `{path}…`: make it relative, or configurable"));
        }
    }
    violations.extend(check_ending(file));
    violations
}

/// A file must end with exactly one newline; an empty file needs none.
fn check_ending(file: &SourceFile) -> Option<Violation> {
    let what = if file.text.is_empty() {
        return None;
    } else if !file.text.ends_with('\n') {
        "does not end with a newline: add one"
    } else if file.text.ends_with("\n\n") || file.text == "\n" {
        "ends with an empty line: remove it"
    } else {
        return None;
    };
    Some(Violation::new(&file.path, file.text.lines().count(), what))
}

/// Whether an absolute path in the line starts with `path`; a longer path or a url may contain it.
fn has_path(line: &str, path: &str) -> bool {
    let continues = |before: char| before.is_alphanumeric() || "_-.}~>)]*/".contains(before);
    line.match_indices(path).any(|(at, _)| !line[..at].ends_with(continues))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        violations(&SourceTree::of(&[(path, text)])).iter().map(Violation::to_string).collect()
    }

    #[test]
    fn unfinished_work_is_reported_with_its_line() {
        for (word, _) in UNFINISHED {
            let messages = messages("notes.md", &format!("First.\n    {word}\n"));
            assert!(matches!(&messages[..], [one] if one.starts_with("notes.md:2: has `")), "{messages:?}");
        }
        assert!(
            messages("xtask/src/tidy/forbidden_text.rs", "FIXME /root/\n").is_empty(),
            "this module may name them"
        );
        assert!(messages("a.rs", "todo(); // a todo list, dbg\n").is_empty());
    }

    #[test]
    fn trailing_white_space_is_reported() {
        assert_eq!(messages("a.sql", "select 1; \n"), ["a.sql:1: has trailing white space: remove it"]);
        assert_eq!(messages("a.sql", "select 1;\r\n").len(), 1);
        assert_eq!(messages("a.sql", "select\n\t\n1;\n"), ["a.sql:2: has trailing white space: remove it"]);
    }

    #[test]
    fn file_ends_with_one_newline() {
        assert!(messages("a.md", "").is_empty());
        assert!(messages("a.md", "text\n").is_empty());
        assert_eq!(messages("a.md", "one\ntwo"), ["a.md:2: does not end with a newline: add one"]);
        assert_eq!(messages("a.md", "text\n\n"), ["a.md:2: ends with an empty line: remove it"]);
    }

    #[test]
    fn machine_paths_are_reported() {
        for wrong in
            ["\"/root/x\"", "cd /work/main", "sqlite:/home/me/a.db", "/home/", "`/work/x`", "(/root/)"]
        {
            assert_eq!(messages("a.md", &format!("{wrong}\n")).len(), 1, "{wrong}");
            assert!(messages("a.txt", &format!("{wrong}\n")).is_empty(), "{wrong}");
        }
        for right in
            ["https://a.example/home/x", "{base}/work/x", "./work/x", "$HOME/work/x", "/var/home/", "/homes/"]
        {
            assert!(messages("a.md", &format!("{right}\n")).is_empty(), "{right}");
        }
    }
}
