//! Both databases have the same migrations: the same names, numbered from 0001 without a hole.

use super::{Fault, house::House};

const FOLDERS: [&str; 2] = ["crates/store/src/sqlite/migrations/", "crates/store/src/postgres/migrations/"];

pub(super) fn faults(house: &House) -> Vec<Fault> {
    let [sqlite, postgres] = FOLDERS.map(|folder| names(house, folder));
    let mut faults = numbering(FOLDERS[0], &sqlite);
    faults.extend(numbering(FOLDERS[1], &postgres));
    faults.extend(missing(&sqlite, FOLDERS[1], &postgres));
    faults.extend(missing(&postgres, FOLDERS[0], &sqlite));
    faults
}

fn names<'a>(house: &'a House, folder: &str) -> Vec<&'a str> {
    let scripts = house.files().filter(|file| file.extension() == Some("sql"));
    let mut names: Vec<&str> = scripts.filter_map(|file| file.path.strip_prefix(folder)).collect();
    names.sort_unstable();
    names
}

fn numbering(folder: &str, names: &[&str]) -> Vec<Fault> {
    let wrong = names.iter().enumerate().map(|(index, name)| (format!("{:04}_", index + 1), name));
    wrong
        .filter(|(prefix, name)| !name.starts_with(prefix))
        .map(|(prefix, name)| {
            Fault::new(
                format!("{folder}{name}"),
                1,
                format!("should be number {prefix}…: leave no hole and no double"),
            )
        })
        .collect()
}

/// A fault for each of `names` that the other folder does not have.
fn missing(names: &[&str], other: &str, there: &[&str]) -> Vec<Fault> {
    let absent = names.iter().filter(|name| !there.contains(name));
    absent
        .map(|name| {
            Fault::new(
                format!("{other}{name}"),
                1,
                "is missing: the other database has it, so write it here too",
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(sqlite: &[&str], postgres: &[&str]) -> Vec<String> {
        let paths: Vec<String> = [(FOLDERS[0], sqlite), (FOLDERS[1], postgres)]
            .iter()
            .flat_map(|(folder, names)| names.iter().map(move |name| format!("{folder}{name}")))
            .collect();
        let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
        faults(&House::of(&files)).iter().map(Fault::to_string).collect()
    }

    #[test]
    fn the_same_names_without_a_hole_are_right() {
        assert!(told(&[], &[]).is_empty());
        let names = ["0001_start.sql", "0002_lanes.sql", "README.md"];
        assert!(told(&names, &names[..2]).is_empty());
    }

    #[test]
    fn a_migration_for_one_database_only_is_told() {
        let told = told(&["0001_start.sql", "0002_lanes.sql"], &["0001_start.sql"]);
        assert_eq!(
            told,
            [
                "crates/store/src/postgres/migrations/0002_lanes.sql:1: is missing: the other database has it, so write it here too"
            ]
        );
    }

    #[test]
    fn holes_and_doubles_are_told() {
        for names in [["0001_a.sql", "0003_b.sql"], ["0001_a.sql", "0001_b.sql"], ["0001_a.sql", "2_b.sql"]] {
            let told = told(&names, &names);
            assert_eq!(told.len(), 2, "{told:?}");
            assert!(told[0].contains("should be number 0002_"), "{told:?}");
        }
    }
}
