//! Both databases have the same migrations: the same names, numbered from 0001 without a gap.

use super::{Violation, source_tree::SourceTree};

const FOLDERS: [&str; 2] = ["crates/store/src/sqlite/migrations/", "crates/store/src/postgres/migrations/"];

pub(super) fn violations(source_tree: &SourceTree) -> Vec<Violation> {
    let [sqlite, postgres] = FOLDERS.map(|folder| names(source_tree, folder));
    let mut violations = numbering(FOLDERS[0], &sqlite);
    violations.extend(numbering(FOLDERS[1], &postgres));
    violations.extend(missing(&sqlite, FOLDERS[1], &postgres));
    violations.extend(missing(&postgres, FOLDERS[0], &sqlite));
    violations
}

fn names<'a>(source_tree: &'a SourceTree, folder: &str) -> Vec<&'a str> {
    let scripts = source_tree.files().filter(|file| file.extension() == Some("sql"));
    let mut names: Vec<&str> = scripts.filter_map(|file| file.path.strip_prefix(folder)).collect();
    names.sort_unstable();
    names
}

fn numbering(folder: &str, names: &[&str]) -> Vec<Violation> {
    let numbered = names.iter().enumerate().map(|(index, name)| (format!("{:04}_", index + 1), name));
    numbered
        .filter(|(prefix, name)| !name.starts_with(prefix))
        .map(|(prefix, name)| {
            Violation::new(
                format!("{folder}{name}"),
                1,
                format!("should be number {prefix}…: numbers must have no gap and no duplicate"),
            )
        })
        .collect()
}

/// A violation for each of `names` that the other folder lacks.
fn missing(names: &[&str], other: &str, other_names: &[&str]) -> Vec<Violation> {
    let absent = names.iter().filter(|name| !other_names.contains(name));
    absent
        .map(|name| {
            Violation::new(
                format!("{other}{name}"),
                1,
                "is missing: the other database has it, so add it here too",
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(sqlite: &[&str], postgres: &[&str]) -> Vec<String> {
        let paths: Vec<String> = [(FOLDERS[0], sqlite), (FOLDERS[1], postgres)]
            .iter()
            .flat_map(|(folder, names)| names.iter().map(move |name| format!("{folder}{name}")))
            .collect();
        let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
        violations(&SourceTree::of(&files)).iter().map(Violation::to_string).collect()
    }

    #[test]
    fn same_names_without_a_gap_have_no_violation() {
        assert!(messages(&[], &[]).is_empty());
        let names = ["0001_start.sql", "0002_lanes.sql", "README.md"];
        assert!(messages(&names, &names[..2]).is_empty());
    }

    #[test]
    fn migration_of_one_database_only_is_reported() {
        let messages = messages(&["0001_start.sql", "0002_lanes.sql"], &["0001_start.sql"]);
        assert_eq!(
            messages,
            [
                "crates/store/src/postgres/migrations/0002_lanes.sql:1: is missing: the other database has it, so add it here too"
            ]
        );
    }

    #[test]
    fn gaps_and_duplicates_are_reported() {
        for names in [["0001_a.sql", "0003_b.sql"], ["0001_a.sql", "0001_b.sql"], ["0001_a.sql", "2_b.sql"]] {
            let messages = messages(&names, &names);
            assert_eq!(messages.len(), 2, "{messages:?}");
            assert!(messages[0].contains("should be number 0002_"), "{messages:?}");
        }
    }
}
