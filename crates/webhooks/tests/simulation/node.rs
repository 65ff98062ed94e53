//! A simulated node: a core whose wall clock may be wrong, whose connection to the store may be cut, and which may stall and
//! crash.

use std::time::Duration;

use domain::retry::Schedule;
use domain::{Guid, Ticks};
use store::LeaseRenewal;
use webhooks::engine::{Core, Moment, Settings};

use super::fixture::START;

pub(crate) const TIMEOUT: Duration = Duration::from_secs(5);
pub(crate) const WINDOW: Duration = Duration::from_secs(40);
pub(crate) const PAUSES: [u64; 4] = [1, 2, 5, 10];

pub(crate) struct Node {
    pub(crate) id: Guid,
    /// Counts starts and crashes: events of an earlier incarnation do not reach the core.
    pub(crate) incarnation: u32,
    pub(crate) core: Option<Core>,
    /// By how much its wall clock is wrong, in ticks.
    pub(crate) skew: i64,
    pub(crate) cut_off_until: Duration,
    /// Its process stands still until then, as after SIGSTOP: what arrives meanwhile waits.
    pub(crate) stalled_until: Duration,
    /// The store does not answer its polls until then, only its other queries.
    pub(crate) polls_hang_until: Duration,
    /// When its last poll ends: the next read of the disabled owners waits for it.
    pub(crate) poll_ends_at: Duration,
    /// The last change of a webhook that its poll has read; nothing is leased before.
    pub(crate) changes_read_upto: Option<u64>,
    /// The version of access in its process: moves with every change of access that it serves.
    pub(crate) access_version: u64,
    started_at: Duration,
    /// Shards that its next renewal gives to nodes that asked.
    pub(crate) gives: Vec<u8>,
    pub(crate) shards_held: usize,
    /// When the answer to its last renewal reaches the core: renewals are answered in order.
    pub(crate) renewal_answered: Duration,
    /// An orderly stop ends at this time, or earlier when nothing is in flight.
    pub(crate) stops_at: Option<Duration>,
    number: u8,
    /// How long a webhook may be suspended.
    pub(crate) retention: Duration,
}

impl Node {
    pub(crate) fn new(number: u8) -> Self {
        Self {
            id: Guid::from_bytes([0; 16]),
            incarnation: 0,
            core: None,
            skew: 0,
            cut_off_until: Duration::ZERO,
            stalled_until: Duration::ZERO,
            polls_hang_until: Duration::ZERO,
            poll_ends_at: Duration::ZERO,
            changes_read_upto: None,
            access_version: 0,
            started_at: Duration::ZERO,
            gives: Vec::new(),
            shards_held: 0,
            renewal_answered: Duration::ZERO,
            stops_at: None,
            number,
            retention: Duration::from_secs(24 * 3600),
        }
    }

    pub(crate) fn start(&mut self, seed: u64, steady: Duration) {
        self.incarnation += 1;
        // Every start has a new id.
        let mut id = [self.number; 16];
        id[..4].copy_from_slice(&self.incarnation.to_be_bytes());
        self.id = Guid::from_bytes(id);
        self.changes_read_upto = None;
        self.poll_ends_at = steady;
        self.access_version = 0;
        self.started_at = steady;
        self.core = Some(Core::new(settings(self.retention), seed, self.moment(steady)));
    }

    pub(crate) fn crash(&mut self) {
        self.core = None;
        self.incarnation += 1;
        self.gives.clear();
        self.shards_held = 0;
        self.stops_at = None;
        self.stalled_until = Duration::ZERO;
    }

    pub(crate) fn renewal(&mut self, steady: Duration) -> LeaseRenewal {
        LeaseRenewal {
            node: self.id,
            lease: settings(self.retention).lease(),
            gives: std::mem::take(&mut self.gives),
            is_established: steady >= self.started_at + settings(self.retention).ask_after,
        }
    }

    pub(crate) fn moment(&self, steady: Duration) -> Moment {
        let ticks = i64::try_from(steady.as_nanos() / 100).unwrap();
        Moment { wall: Ticks(START.0 + ticks + self.skew), steady }
    }

    /// Whether it can serve a change.
    pub(crate) fn serves(&self, steady: Duration) -> bool {
        self.core.is_some() && self.stops_at.is_none() && !self.is_cut_off(steady) && !self.is_stalled(steady)
    }

    pub(crate) fn is_stalled(&self, steady: Duration) -> bool {
        steady < self.stalled_until
    }

    pub(crate) fn is_cut_off(&self, steady: Duration) -> bool {
        steady < self.cut_off_until
    }
}

fn settings(retention: Duration) -> Settings {
    let schedule = Schedule { pauses: PAUSES.map(Duration::from_secs).to_vec(), window: WINDOW };
    Settings { retention, is_store_shared: true, ..Settings::new(schedule, TIMEOUT) }
}
