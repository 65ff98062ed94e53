//! Words of the first drafts' private vocabulary that must not come back in code, comments and documentation.

use super::{
    Violation,
    source_tree::{SourceFile, SourceTree},
};

/// A phrase in lower case, and what to write instead.
const RETIRED: &[(&str, &str)] = &[
    ("changes door", "ingest API"),
    ("the house", "the workspace, the repository"),
    ("rooms", "crates, modules"),
    ("knocks", "attempts, requests"),
    ("herald", "notify"),
    ("housekeeping", "maintenance"),
    ("which is final", "permanently"),
    ("turnstile", "write lock"),
    ("kept answer", "cached response"),
    ("kept answers", "cached responses"),
    ("rings the bell", "signals the commit"),
    ("at the door", "at sign-in, at the gate"),
    ("sets the stage", "sets up the fixture"),
];

const EXTENSIONS: [&str; 3] = ["rs", "md", "toml"];

/// This file has to name what it looks for.
const THIS_FILE: &str = "xtask/src/tidy/vocabulary.rs";

pub(super) fn violations(source_tree: &SourceTree) -> Vec<Violation> {
    let has_prose = |file: &&SourceFile| file.extension().is_some_and(|one| EXTENSIONS.contains(&one));
    source_tree.files().filter(has_prose).filter(|file| file.path != THIS_FILE).flat_map(check_file).collect()
}

fn check_file(file: &SourceFile) -> Vec<Violation> {
    let lines = file.text.lines().enumerate();
    lines
        .flat_map(|(index, line)| {
            let line = line.to_lowercase();
            let found = RETIRED.iter().filter(move |(phrase, _)| contains_words(&line, phrase));
            found.map(move |(phrase, instead)| {
                Violation::new(&file.path, index + 1, format!("has `{phrase}`: write {instead}"))
            })
        })
        .collect()
}

/// Whether the phrase is there as whole words.
fn contains_words(line: &str, phrase: &str) -> bool {
    let is_part = |character: Option<char>| character.is_some_and(|one| one.is_alphanumeric() || one == '_');
    line.match_indices(phrase).any(|(start, _)| {
        !is_part(line[..start].chars().next_back()) && !is_part(line[start + phrase.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        violations(&SourceTree::of(&[(path, text)])).iter().map(Violation::to_string).collect()
    }

    #[test]
    fn a_retired_phrase_is_reported_with_its_replacement() {
        assert_eq!(
            messages("a.md", "# A\n\nThrough the Changes door.\n"),
            ["a.md:3: has `changes door`: write ingest API"]
        );
    }

    #[test]
    fn only_whole_words_count() {
        assert!(messages("a.rs", "// bathrooms, rooms_free\n").is_empty());
        assert_eq!(messages("a.rs", "// its rooms.\n").len(), 1);
    }

    #[test]
    fn data_files_are_not_read() {
        assert!(messages("a.json", "\"rooms\"\n").is_empty());
    }
}
