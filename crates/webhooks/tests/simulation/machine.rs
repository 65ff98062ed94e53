//! A node: a core with a clock that may be wrong, a way to the store that may be cut, and lives that end in crashes.

use std::time::Duration;

use domain::retry::Schedule;
use domain::{Guid, Ticks};
use webhooks::engine::{Core, Moment, Settings};

use super::stage::START;

pub(crate) const TIMEOUT: Duration = Duration::from_secs(5);
pub(crate) const LEASE: Duration = Duration::from_secs(10);
pub(crate) const WINDOW: Duration = Duration::from_secs(40);
pub(crate) const PAUSES: [u64; 4] = [1, 2, 5, 10];

pub(crate) struct Machine {
    pub(crate) id: Guid,
    /// Which life this is; what an earlier one has started finds nobody.
    pub(crate) flags: u32,
    pub(crate) core: Option<Core>,
    /// How wrong its clock is, in ticks.
    pub(crate) skew: i64,
    pub(crate) cut_off_until: Duration,
    /// Its last turn to the store that went well, for the polls.
    pub(crate) moved: u64,
}

impl Machine {
    pub(crate) fn new(number: u8) -> Self {
        Self {
            id: Guid::from_bytes([number; 16]),
            flags: 0,
            core: None,
            skew: 0,
            cut_off_until: Duration::ZERO,
            moved: 0,
        }
    }

    pub(crate) fn start(&mut self, seed: u64, steady: Duration) {
        self.flags += 1;
        self.moved = 0;
        self.core = Some(Core::new(settings(), seed, self.moment(steady)));
    }

    pub(crate) fn crash(&mut self) {
        self.core = None;
        self.flags += 1;
    }

    pub(crate) fn moment(&self, steady: Duration) -> Moment {
        let ticks = i64::try_from(steady.as_nanos() / 100).unwrap();
        Moment { wall: Ticks(START.0 + ticks + self.skew), steady }
    }

    /// Cut off, or not long enough back to have heard of everything.
    pub(crate) fn is_deaf(&self, steady: Duration) -> bool {
        self.cut_off_until > Duration::ZERO && steady < self.cut_off_until + Duration::from_millis(1500)
    }

    pub(crate) fn is_cut_off(&self, steady: Duration) -> bool {
        steady < self.cut_off_until
    }
}

fn settings() -> Settings {
    let schedule = Schedule { pauses: PAUSES.map(Duration::from_secs).to_vec(), window: WINDOW };
    Settings::new(schedule, TIMEOUT)
}
