//! The command line of `cargo xtask bench`: name, stores, time and output format.

use clap::{Args, ValueEnum};

/// Short enough that a run on both stores, including preparation, takes less than two minutes.
const SECONDS_DEFAULT: u32 = 20;

const SECONDS_MAX: i64 = 3_600;

/// The store of the measured program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
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

/// What `cargo xtask bench` takes.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The benchmark
    #[arg(value_name = "NAME")]
    pub(super) name: String,
    /// The store of the program; without it, both
    #[arg(long)]
    store: Option<Store>,
    /// How long to measure
    #[arg(long, value_name = "N", default_value_t = SECONDS_DEFAULT,
        value_parser = clap::value_parser!(u32).range(1..=SECONDS_MAX))]
    pub(super) seconds: u32,
    /// The part to run of a benchmark that has several
    #[arg(long, value_name = "PART")]
    pub(super) only: Option<String>,
    /// Print the figures as JSON
    #[arg(long)]
    pub(super) json: bool,
}

impl Arguments {
    pub(super) fn stores(&self) -> Vec<Store> {
        self.store.map_or_else(|| Store::ALL.to_vec(), |store| vec![store])
    }
}
