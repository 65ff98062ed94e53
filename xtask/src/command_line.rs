//! The command line of `cargo xtask`.

use clap::{Parser, Subcommand};

use crate::{bench, clients, failure::Failure, kits, prove, test, tidy};

#[derive(Debug, Parser)]
#[command(
    bin_name = "cargo xtask",
    about = "The commands of this repository",
    arg_required_else_help = true,
    subcommand_required = true,
    after_help = ENVIRONMENT
)]
pub struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

const ENVIRONMENT: &str = "\
Environment of `test`, `clients`, `kits` and `prove`:
  ALDABA_TEST_POSTGRES
          url of a server where databases may be created; without it, a temporary server is
          started (as root on Debian, PostgreSQL is installed if missing)
  ALDABA_TEST_POSTGRES_BIN
          folder with PostgreSQL's server programs (initdb, pg_ctl), 15 or newer
  ALDABA_TEST_CHROMIUM
          the Chromium to use; without it, Debian's, installed if missing
  ALDABA_TEST_PROMTOOL
          the promtool to use; without it, the one on the path or in Debian's package

Exit codes: 0 success, 1 failure, 2 usage error; a failing step's own exit code is passed on.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run every check: formatting, clippy, tidy, all tests, proofs and fuzz targets in short forms, `clients` and `kits`
    Test {
        /// Leave out clippy and all that comes after the tests
        #[arg(long)]
        fast: bool,
    },
    /// Test the debug program with third-party clients, with Chromium on every page, with Schemathesis on the OpenAPI
    /// documents, and with promtool on the metrics
    ///
    /// Installs their dependencies below target/ (as root on Debian also Chromium and Go). Writes screenshots to
    /// target/screenshots.
    Clients(clients::Arguments),
    /// Test the kits for integrators and the PHP receiver against the debug program
    ///
    /// Installs their dependencies below target/ (as root on Debian also Go, a JDK with Maven, and PHP).
    #[command(args_conflicts_with_subcommands = true)]
    Kits(kits::Arguments),
    /// Check the rules that no compiler checks: direction of dependencies, sizes, vocabulary and others
    Tidy,
    /// Break something under load and check what was acknowledged against what arrived; without a name, every scenario
    ///
    /// Writes the figures of docs/reliability.md.
    #[command(args_conflicts_with_subcommands = true)]
    Prove(prove::Arguments),
    /// Run a benchmark on the release program
    Bench(bench::Arguments),
}

impl CommandLine {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.command {
            Command::Test { fast } => test::command(fast),
            Command::Clients(arguments) => clients::command(&arguments),
            Command::Kits(arguments) => kits::command(&arguments),
            Command::Tidy => tidy::command(),
            Command::Prove(arguments) => prove::command(&arguments),
            Command::Bench(arguments) => bench::command(&arguments),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, error::ErrorKind};

    use super::*;

    fn parse(line: &str) -> Result<CommandLine, clap::Error> {
        CommandLine::try_parse_from(std::iter::once("xtask").chain(line.split_whitespace()))
    }

    #[test]
    fn definition_is_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn every_documented_line_is_accepted() {
        for line in [
            "test",
            "test --fast",
            "clients --bounded",
            "clients node",
            "kits",
            "kits java go",
            "kits generate",
            "tidy",
            "prove",
            "prove --bounded",
            "prove crash",
            "prove clients",
            "prove outages",
            "prove supply-chain",
            "prove input --seconds 20 --jobs 4",
            "prove one-node",
            "prove load --only flood",
            "bench reads",
            "bench --json --only=random --seconds=5 --store=postgres reads",
        ] {
            assert!(parse(line).is_ok(), "{line}: {}", parse(line).unwrap_err());
        }
    }

    #[test]
    fn mistyped_command_gets_a_suggestion() {
        let error = parse("benhc").unwrap_err();
        assert_eq!((error.exit_code(), error.kind()), (2, ErrorKind::InvalidSubcommand));
        assert!(error.to_string().contains("'bench'"), "{error}");
    }

    #[test]
    fn wrong_arguments_exit_with_2() {
        for line in [
            "test --quick",
            "tidy now",
            "kits generate java",
            "prove frobnicate",
            "prove --bounded load",
            "prove input --seconds",
            "prove input --seconds 0",
            "prove input --jobs x",
            "bench",
            "bench reads writes",
            "bench reads --store mysql",
            "bench reads --seconds 0",
            "bench reads --json=yes",
        ] {
            assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line}");
        }
    }

    #[test]
    fn help_exits_with_0() {
        for line in ["--help", "help", "test --help"] {
            assert_eq!(parse(line).unwrap_err().exit_code(), 0, "{line}");
        }
    }
}
