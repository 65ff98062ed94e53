//! The command line of `cargo xtask bench`: name, stores, time and output format.

/// Short enough that a run on both stores, including preparation, takes less than two minutes.
const SECONDS_DEFAULT: u32 = 20;

const SECONDS_MAX: u32 = 3_600;

/// The store of the measured program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Store {
    Sqlite,
    Postgres,
}

impl Store {
    const ALL: [Self; 2] = [Self::Sqlite, Self::Postgres];

    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

/// The options of one run.
#[derive(Debug, Clone)]
pub struct Options {
    pub store: Store,
    /// How long to measure, without preparation.
    pub seconds: u32,
    /// The part to run of a bench that has several.
    pub only: Option<String>,
}

/// The whole command line of `bench`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) name: String,
    pub(super) stores: Vec<Store>,
    pub(super) seconds: u32,
    pub(super) only: Option<String>,
    pub(super) json: bool,
}

impl Request {
    pub(super) fn parse(arguments: &[&str]) -> Result<Self, String> {
        let mut name = None;
        let mut request = Self {
            name: String::new(),
            stores: Store::ALL.to_vec(),
            seconds: SECONDS_DEFAULT,
            only: None,
            json: false,
        };
        let mut arguments = arguments.iter().copied();
        while let Some(word) = arguments.next() {
            let (option, attached) =
                word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
            let mut value =
                || attached.or_else(|| arguments.next()).ok_or_else(|| format!("{option} needs a value"));
            match option {
                "--json" if attached.is_none() => request.json = true,
                "--store" => request.stores = vec![store(value()?)?],
                "--seconds" => request.seconds = seconds(value()?)?,
                "--only" => request.only = Some(value()?.to_owned()),
                _ if word.starts_with('-') => return Err(format!("`bench` has no option `{word}`")),
                _ if name.is_some() => return Err(format!("only one bench at a time, not `{word}` too")),
                _ => name = Some(word.to_owned()),
            }
        }
        request.name = name.ok_or("the name of a bench is missing: `cargo xtask bench NAME`")?;
        Ok(request)
    }
}

fn store(word: &str) -> Result<Store, String> {
    let found = Store::ALL.into_iter().find(|store| store.name() == word);
    found.ok_or_else(|| format!("--store is sqlite or postgres, not `{word}`"))
}

fn seconds(word: &str) -> Result<u32, String> {
    let number = word.parse().ok().filter(|seconds| (1..=SECONDS_MAX).contains(seconds));
    number.ok_or_else(|| format!("--seconds is a whole number from 1 to {SECONDS_MAX}, not `{word}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_may_come_before_or_after_the_name() {
        let (name, stores, only) = ("reads".into(), vec![Store::Postgres], Some("random".into()));
        let expected = Request { name, stores, seconds: 5, only, json: true };
        for arguments in [
            &["reads", "--store", "postgres", "--seconds", "5", "--only", "random", "--json"][..],
            &["--json", "--only=random", "--seconds=5", "--store=postgres", "reads"],
        ] {
            assert_eq!(Request::parse(arguments).as_ref(), Ok(&expected));
        }
    }

    #[test]
    fn defaults_run_both_stores_for_a_short_time() {
        let request = Request::parse(&["reads"]).unwrap();
        assert_eq!(
            (request.stores, request.seconds, request.json),
            (Store::ALL.to_vec(), SECONDS_DEFAULT, false)
        );
    }

    #[test]
    fn errors_name_the_argument() {
        for (arguments, complaint) in [
            (&[][..], "the name of a bench is missing"),
            (&["reads", "--store"], "--store needs a value"),
            (&["reads", "--store", "mysql"], "not `mysql`"),
            (&["reads", "--seconds", "0"], "not `0`"),
            (&["reads", "--fast"], "no option `--fast`"),
            (&["reads", "--json=yes"], "no option `--json=yes`"),
            (&["reads", "writes"], "not `writes` too"),
        ] {
            let reason = Request::parse(arguments).unwrap_err();
            assert!(reason.contains(complaint), "{arguments:?}: {reason}");
        }
    }
}
