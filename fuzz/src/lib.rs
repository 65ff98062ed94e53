//! Hostile input: one target for every parser that outside text reaches, and a driver that mutates seeds and watches for panics,
//! broken invariants and slow inputs. It needs no nightly toolchain and no C++ compiler.

mod dictionary;
mod drive;
mod finding;
mod guard;
mod mutate;
mod rng;
mod table;
mod targets;

pub use drive::{Limits, TargetReport, drive, repeat};
pub use finding::{Finding, FindingKind, decode_input, encode_input};
pub use table::TARGETS;

/// The form of a target's inputs: decides their fields and the hostile tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Binary,
    Form,
    Header,
    Json,
    Lines,
    Text,
    Url,
}

/// A parser under hostile input.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub name: &'static str,
    /// What is parsed, and what must hold; for the page.
    pub checks: &'static str,
    /// Checks one input and panics where it does not hold. The number stands for the kind of outcome: an input with a new one joins
    /// the corpus.
    pub run: fn(&[u8]) -> u64,
    pub shape: Shape,
    /// Inputs to begin with, beside those in `seeds/` and the target's name.
    pub seeds: &'static [&'static str],
    /// Words of this parser.
    pub dictionary: &'static [&'static str],
    pub bytes_max: usize,
}

impl Target {
    /// The inputs that mutation begins with.
    pub fn corpus(&self) -> Vec<Vec<u8>> {
        let inline = self.seeds.iter().map(|seed| seed.as_bytes().to_vec());
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/seeds/").to_owned() + self.name;
        let mut files: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().collect();
        files.sort_by_key(std::fs::DirEntry::file_name);
        inline.chain(files.iter().filter_map(|file| std::fs::read(file.path()).ok())).collect()
    }
}
