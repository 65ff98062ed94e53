//! Whether an attempt that the core has decided may still be sent. Between the decision and the first byte lie signing, the
//! wait for a connection, dialling and perhaps a stall of the process; meanwhile access may have ended, the webhook may have
//! changed, and the lease may have run out. The core publishes what it knows, and each attempt compares: atomic loads, no lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::{Attempt, Settings};

/// An attempt starts only where the lease outlives its timeout by this much.
const LEASE_MARGIN: Duration = Duration::from_secs(1);
/// On a store that nodes share, nothing starts on knowledge that is older than this: an end of access through another node
/// holds here after this time, also when no signal arrives and the store does not answer.
const KNOWLEDGE_MAX: Duration = Duration::from_secs(2);

/// What the core knows and relies on. Cheap to clone; all clones are one.
#[derive(Clone, Debug)]
pub struct SendGate(Arc<Values>);

#[derive(Debug)]
struct Values {
    timeout: Duration,
    is_store_shared: bool,
    /// The core has applied the changes of access up to this version of this process.
    access_version: AtomicU64,
    /// Until when the shard leases last, and until when changes through other nodes are known: nanoseconds of the monotonic
    /// clock; 0 at first.
    leased_until: AtomicU64,
    known_until: AtomicU64,
    is_closed: AtomicBool,
}

impl SendGate {
    pub(super) fn new(settings: &Settings) -> Self {
        Self(Arc::new(Values {
            timeout: settings.timeout,
            is_store_shared: settings.is_store_shared,
            access_version: AtomicU64::new(0),
            leased_until: AtomicU64::new(0),
            known_until: AtomicU64::new(0),
            is_closed: AtomicBool::new(false),
        }))
    }

    /// After the webhooks that a change of access concerns have been withdrawn or suspended.
    pub(super) fn set_access_version(&self, version: u64) {
        self.0.access_version.store(version, Ordering::Release);
    }

    pub(super) fn set_leased_until(&self, until: Duration) {
        self.0.leased_until.store(nanos(until), Ordering::Release);
    }

    /// Every change that was committed before `until` has been applied, or its webhooks have been withdrawn.
    pub(super) fn set_known_until(&self, until: Duration) {
        self.0.known_until.fetch_max(nanos(until).max(1), Ordering::AcqRel);
    }

    /// The orderly stop has begun. Other nodes take the shards soon: what is not on its way by now they send. A process that
    /// has the store for itself finishes what it has decided.
    pub(super) fn stop(&self) {
        self.0.is_closed.store(self.0.is_store_shared, Ordering::Release);
    }

    /// Whether an attempt that begins now ends while this node holds its shards, and what is known is recent enough.
    pub(super) fn may_begin(&self, now: Duration) -> bool {
        let leased_until = Duration::from_nanos(self.0.leased_until.load(Ordering::Acquire));
        now + self.0.timeout + LEASE_MARGIN < leased_until && self.is_knowledge_recent(now)
    }

    fn is_knowledge_recent(&self, now: Duration) -> bool {
        // In a store of its own, this process sees every change when it is committed.
        if !self.0.is_store_shared {
            return true;
        }
        let known_until = self.0.known_until.load(Ordering::Acquire);
        known_until > 0 && now < Duration::from_nanos(known_until) + KNOWLEDGE_MAX
    }

    /// Whether the attempt's request may leave now. `begun`: when the attempt's timeout began to run. `access_version`: that
    /// of this process, read just before.
    pub fn may_send(&self, attempt: &Attempt, begun: Duration, now: Duration, access_version: u64) -> bool {
        // The version before the attempt's target: the core withdraws the target first.
        access_version <= self.0.access_version.load(Ordering::Acquire)
            && self.may_begin(begun)
            && now <= begun + self.0.timeout
            && self.is_knowledge_recent(now)
            && !self.0.is_closed.load(Ordering::Acquire)
            && attempt.is_current()
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
