//! What no text file may hold: unfinished work, white space that nobody sees, paths of one machine.

use super::{
    Violation,
    source_tree::{SourceFile, SourceTree},
};

/// Words of unfinished work, and what to do instead.
const UNFINISHED: [(&str, &str); 5] = [
    ("todo!(", "write it now, or leave it out"),
    ("unimplemented!(", "write it now, or leave it out"),
    ("FIXME", "fix it now, or say what holds and why"),
    ("dbg!(", "use tracing, or take it out"),
    ("#[ignore", "a test runs or is not there"),
];

/// Where somebody's files lie on somebody's machine.
const MACHINE_PATHS: [&str; 3] = ["/root/", "/work/", "/home/"];
const MACHINE_PATHS_IN: [&str; 4] = ["rs", "md", "toml", "sh"];

/// This room has to name what it looks for.
const HERE: &str = "xtask/src/tidy/";

pub(super) fn violations(source_tree: &SourceTree) -> Vec<Violation> {
    source_tree.files().flat_map(of_file).collect()
}

fn of_file(file: &SourceFile) -> Vec<Violation> {
    let named = !file.path.starts_with(HERE);
    let paths = named && file.extension().is_some_and(|extension| MACHINE_PATHS_IN.contains(&extension));
    let mut violations = Vec::new();
    for (index, line) in file.text.split('\n').enumerate() {
        let mut violation = |what: String| violations.push(Violation::new(&file.path, index + 1, what));
        if line.ends_with(char::is_whitespace) {
            violation("ends in white space: take it away".to_owned());
        }
        for (word, remedy) in UNFINISHED.iter().filter(|(word, _)| named && line.contains(word)) {
            violation(format!("has `{word}`: {remedy}"));
        }
        for path in MACHINE_PATHS.iter().filter(|path| paths && has_path(line, path)) {
            violation(format!(
                "has a path of one machine, `{path}…`: make it relative, or take it from outside"
            ));
        }
    }
    violations.extend(ending(file));
    violations
}

/// A text ends with one newline; an empty one needs none.
fn ending(file: &SourceFile) -> Option<Violation> {
    let what = if file.text.is_empty() {
        return None;
    } else if !file.text.ends_with('\n') {
        "does not end with a newline: add one"
    } else if file.text.ends_with("\n\n") || file.text == "\n" {
        "ends with an empty line: leave one newline"
    } else {
        return None;
    };
    Some(Violation::new(&file.path, file.text.lines().count(), what))
}

/// Whether an absolute path begins so somewhere in the line; a longer path or a url may have such a part.
fn has_path(line: &str, path: &str) -> bool {
    let goes_on = |before: char| before.is_alphanumeric() || "_-.}~>)]*/".contains(before);
    line.match_indices(path).any(|(at, _)| !line[..at].ends_with(goes_on))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        violations(&SourceTree::of(&[(path, text)])).iter().map(Violation::to_string).collect()
    }

    #[test]
    fn unfinished_work_is_told_with_its_line() {
        for (word, _) in UNFINISHED {
            let messages = messages("notes.md", &format!("First.\n    {word}\n"));
            assert!(matches!(&messages[..], [one] if one.starts_with("notes.md:2: has `")), "{messages:?}");
        }
        assert!(messages("xtask/src/tidy/words.rs", "FIXME /root/\n").is_empty(), "this room may name them");
        assert!(messages("a.rs", "todo(); // a todo list, dbg\n").is_empty());
    }

    #[test]
    fn white_space_at_the_end_is_told() {
        assert_eq!(messages("a.sql", "select 1; \n"), ["a.sql:1: ends in white space: take it away"]);
        assert_eq!(messages("a.sql", "select 1;\r\n").len(), 1);
        assert_eq!(messages("a.sql", "select\n\t\n1;\n"), ["a.sql:2: ends in white space: take it away"]);
    }

    #[test]
    fn a_file_ends_with_one_newline() {
        assert!(messages("a.md", "").is_empty());
        assert!(messages("a.md", "text\n").is_empty());
        assert_eq!(messages("a.md", "one\ntwo"), ["a.md:2: does not end with a newline: add one"]);
        assert_eq!(messages("a.md", "text\n\n"), ["a.md:2: ends with an empty line: leave one newline"]);
    }

    #[test]
    fn paths_of_one_machine_are_told() {
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
