//! The words that explain `cargo xtask`, and the guess at what a mistyped command meant.

/// What `cargo xtask` alone prints.
pub const TEXT: &str = "\
cargo xtask <command>

  test [--fast]      everything that must pass before a change is taken: formatting, clippy, tidy, and all
                     tests, with a throwaway PostgreSQL beside them, then `clients`. --fast leaves clippy and
                     the clients out.
  clients            other people's clients in Python, Node and Rust, Debian's Chromium through every page, and
                     Schemathesis over the APIs' own document; what they need is installed below target/ (root on
                     Debian: Chromium too). Screenshots go to target/screenshots.
  tidy               the rules of the house that no compiler keeps: direction of dependencies, sizes, words.
  prove crash        `kill -9` of the program under load, 20 rounds on each store: nothing that was accepted is lost.
                     The tests do 3.
  prove supply-chain licences, bans and sources of all dependencies (deny.toml); writes an SBOM to target/.
  bench NAME [--store sqlite|postgres] [--seconds N] [--only PART] [--json]
                     measure the release program; without --store, on both stores.

Environment of `test`, `clients` and `prove`:
  ALDABA_TEST_POSTGRES      url of a server where databases may be created; without it a throwaway one is made
                            (root on Debian: installed if missing)
  ALDABA_TEST_POSTGRES_BIN  folder with PostgreSQL's server programs (initdb, pg_ctl), 15 or newer
  ALDABA_TEST_CHROMIUM      a Chromium to use; without it the one on the path, installed if missing

Exit codes: 0 done, 1 something failed, 2 not understood; a failing step's own code goes through.";

/// Every command, for the guess.
const COMMANDS: [&str; 5] = ["bench", "clients", "prove", "test", "tidy"];

/// What to say about a command that does not exist.
pub fn unknown_command(word: &str) -> String {
    let guess = nearest(word, &COMMANDS).map_or_else(
        || format!("there are: {}", COMMANDS.join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    format!("no command `{word}`; {guess} (`cargo xtask --help` explains them)")
}

/// The candidate that a person most likely meant, if one is near enough.
fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let (near, distance) =
        candidates.iter().map(|name| (*name, distance(word, name))).min_by_key(|(_, distance)| *distance)?;
    (distance <= 2).then_some(near)
}

/// Levenshtein's distance, on characters.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, from) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, to) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{dispatch, failure::Failure};

    #[test]
    fn a_mistyped_command_is_guessed() {
        assert!(unknown_command("tset").contains("did you mean `test`?"));
        assert!(unknown_command("tidi").contains("did you mean `tidy`?"));
        assert!(unknown_command("frobnicate").contains("there are: bench, clients, prove, test, tidy"));
    }

    #[test]
    fn an_unknown_command_exits_with_2() {
        let Failure { code, message } = dispatch(&["benhc"]).unwrap_err();
        assert_eq!((code, message.contains("`bench`")), (2, true));
    }

    #[test]
    fn help_is_no_failure() {
        for arguments in [&[][..], &["--help"], &["help"], &["test", "--help"]] {
            assert_eq!(dispatch(arguments), Ok(()));
        }
    }

    #[test]
    fn every_command_is_explained() {
        for command in COMMANDS {
            assert!(TEXT.contains(&format!("\n  {command} ")), "{command}");
        }
    }

    #[test]
    fn an_option_that_a_command_does_not_have_exits_with_2() {
        for arguments in
            [&["test", "--quick"][..], &["tidy", "now"], &["clients", "now"], &["prove"], &["bench"]]
        {
            assert_eq!(dispatch(arguments).unwrap_err().code, 2, "{arguments:?}");
        }
    }
}
