//! The usage text of `cargo xtask`, and the suggestion for a mistyped command.

/// The usage text.
pub const TEXT: &str = "\
cargo xtask <command>

  test [--fast]      run every check: formatting, clippy, tidy, all tests with a temporary PostgreSQL server, the
                     fuzz targets for some seconds, `clients` and `kits`. --fast leaves out clippy and all that comes after
                     the tests.
  clients [--bounded] [NAME...]
                     test the debug program with third-party clients in Python, Node and Rust, with Chromium on every
                     page, with Schemathesis on the OpenAPI documents, and with promtool on the metrics; or with the
                     named ones alone. Installs their dependencies below target/ (as root on Debian also Chromium and Go).
                     Writes screenshots to target/screenshots. --bounded tries as little as `test` does.
  kits [NAME...]     test the kits for integrators (TypeScript, Python, Go, Java) and the PHP receiver against the debug
                     program, or the named ones alone: typescript, python, go, java, php. Installs their dependencies
                     below target/ (as root on Debian also Go, a JDK with Maven, and PHP).
  kits generate      write the kits' generated types from the program's OpenAPI and AsyncAPI documents.
  tidy               check the rules that no compiler checks: direction of dependencies, sizes, vocabulary and others.
  prove clients      sign in with the applications of docs/your-library.md that are too heavy for `test`: Apache
                     mod_auth_openidc, OmniAuth, Spring Security, Nimbus. As root on Debian it installs what they need.
  prove [NAME [--only PART]]
                     break something under load and check what was acknowledged against what arrived; writes the figures
                     of docs/reliability.md. NAME is one scenario of that page (nodes, load, …); without it, all.
  prove --bounded    the same in a short form of some minutes, on the debug program; writes nothing.
  prove crash        kill the program with `kill -9` under load, 20 rounds on each store: no accepted change may be
                     lost. `test` runs 3 rounds.
  prove input [--seconds N] [--jobs N]
                     hostile input to every parser of outside text, 600 s for each (two at once on two cores); writes the
                     section of docs/reliability.md. `test` takes 3 s for each.
  prove outages      drop packets to the database for a minute, change its primary, crash and restart nodes; prints the
                     longest silences.
  prove supply-chain check licences, bans and sources of all dependencies (deny.toml); write an SBOM to target/.
  bench NAME [--store sqlite|postgres] [--seconds N] [--only PART] [--json]
                     run a benchmark on the release program; without --store, on both stores.

Environment of `test`, `clients`, `kits` and `prove`:
  ALDABA_TEST_POSTGRES      url of a server where databases may be created; without it, a temporary server is started
                            (as root on Debian, PostgreSQL is installed if missing)
  ALDABA_TEST_POSTGRES_BIN  folder with PostgreSQL's server programs (initdb, pg_ctl), 15 or newer
  ALDABA_TEST_CHROMIUM      the Chromium to use; without it, Debian's chromium-headless-shell, installed if missing
  ALDABA_TEST_PROMTOOL      the promtool to use; without it, the one on the path, or the one in Debian's package

Exit codes: 0 success, 1 failure, 2 usage error; a failing step's own exit code is passed on.";

/// Every command, for the suggestion.
const COMMANDS: [&str; 6] = ["bench", "clients", "kits", "prove", "test", "tidy"];

/// The message for an unknown command.
pub fn unknown_command(word: &str) -> String {
    let suggestion = nearest(word, &COMMANDS).map_or_else(
        || format!("the commands are {}", COMMANDS.join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    format!("no command `{word}`; {suggestion} (see `cargo xtask --help`)")
}

/// The closest candidate, if its distance is at most 2.
fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let (near, distance) =
        candidates.iter().map(|name| (*name, distance(word, name))).min_by_key(|(_, distance)| *distance)?;
    (distance <= 2).then_some(near)
}

/// The Levenshtein distance in characters.
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
    fn mistyped_command_gets_a_suggestion() {
        assert!(unknown_command("tset").contains("did you mean `test`?"));
        assert!(unknown_command("tidi").contains("did you mean `tidy`?"));
        assert!(
            unknown_command("frobnicate")
                .contains("the commands are bench, clients, kits, prove, test, tidy")
        );
    }

    #[test]
    fn unknown_command_exits_with_2() {
        let Failure { code, message } = dispatch(&["benhc"]).unwrap_err();
        assert_eq!((code, message.contains("`bench`")), (2, true));
    }

    #[test]
    fn help_succeeds() {
        for arguments in [&[][..], &["--help"], &["help"], &["test", "--help"]] {
            assert_eq!(dispatch(arguments), Ok(()));
        }
    }

    #[test]
    fn usage_lists_every_command() {
        for command in COMMANDS {
            assert!(TEXT.contains(&format!("\n  {command} ")), "{command}");
        }
    }

    #[test]
    fn unknown_option_exits_with_2() {
        for arguments in [
            &["test", "--quick"][..],
            &["tidy", "now"],
            &["clients", "now"],
            &["kits", "now"],
            &["prove", "frobnicate"],
            &["bench"],
        ] {
            assert_eq!(dispatch(arguments).unwrap_err().code, 2, "{arguments:?}");
        }
    }
}
