//! Slows down password guessing. Responses for an account are delayed longer with every failure, whether it exists
//! or not, and an address with too many failures has to wait. Accounts are never locked.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::time::Duration;

use parking_lot::Mutex;

use domain::Ticks;

/// Failures without a delay, for typing errors.
const FREE_FAILURES: u32 = 3;
const FIRST_DELAY: Duration = Duration::from_millis(500);
const DELAY_MAX: Duration = Duration::from_secs(10);
/// An account's failures are forgotten after this time without another one.
const MEMORY: Duration = Duration::from_secs(15 * 60);
/// An address regains one attempt in this time.
const REFILL: Duration = Duration::from_secs(5);
/// Bound on the tracked accounts, and on the tracked addresses.
const ENTRIES_MAX: usize = 100_000;

#[derive(Clone, Copy)]
struct Failures {
    count: u32,
    last: Ticks,
}

/// The address has too many failures and must wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AddressThrottled {
    pub(crate) seconds: u64,
}

pub(crate) struct LoginThrottle {
    accounts: Mutex<HashMap<String, Failures>>,
    addresses: Mutex<HashMap<IpAddr, Failures>>,
    address_failures_max: u32,
}

impl LoginThrottle {
    pub(crate) fn new(address_failures_max: u32) -> Self {
        Self { accounts: Mutex::default(), addresses: Mutex::default(), address_failures_max }
    }

    /// Counts an attempt for an account and returns the delay of its response. The attempt counts as failed until
    /// `reset_account`, so that parallel attempts do not count as one.
    pub(crate) fn account_delay(&self, account: &str, now: Ticks) -> Duration {
        let mut accounts = self.accounts.lock();
        evict_old(&mut accounts, |failures| now.since(failures.last) > MEMORY, |failures| failures.last);
        let failures = accounts.entry(account.to_owned()).or_insert(Failures { count: 0, last: now });
        if now.since(failures.last) > MEMORY {
            failures.count = 0;
        }
        failures.last = now;
        let before = failures.count;
        failures.count = failures.count.saturating_add(1);
        match before.checked_sub(FREE_FAILURES) {
            None => Duration::ZERO,
            Some(over) => FIRST_DELAY.saturating_mul(2_u32.saturating_pow(over)).min(DELAY_MAX),
        }
    }

    /// Whether a client's failed authentication is audited: the first ones of a series are, so that a series does not
    /// fill the audit. The key begins with NUL, which no username contains.
    pub(crate) fn is_worth_auditing(&self, client: &str, now: Ticks) -> bool {
        self.account_delay(&format!("\0client {client}"), now) < DELAY_MAX
    }

    pub(crate) fn reset_account(&self, account: &str) {
        self.accounts.lock().remove(account);
    }

    /// Takes one attempt of an address. It counts as failed until `refund_address` returns it, so that parallel
    /// attempts all count.
    pub(crate) fn admit_address(&self, address: IpAddr, now: Ticks) -> Result<(), AddressThrottled> {
        let mut addresses = self.addresses.lock();
        evict_old(&mut addresses, |failures| drained(*failures, now).count == 0, |failures| failures.last);
        let failures = addresses.entry(network_of(address)).or_insert(Failures { count: 0, last: now });
        *failures = drained(*failures, now);
        if failures.count >= self.address_failures_max {
            let over = u64::from(failures.count - self.address_failures_max) + 1;
            return Err(AddressThrottled { seconds: over * REFILL.as_secs() });
        }
        failures.count += 1;
        Ok(())
    }

    /// Returns an attempt that did not fail.
    pub(crate) fn refund_address(&self, address: IpAddr) {
        if let Some(failures) = self.addresses.lock().get_mut(&network_of(address)) {
            failures.count = failures.count.saturating_sub(1);
        }
    }
}

/// The failures that remain after the elapsed time. Time that is too short for one refill is carried over, so that
/// steady attempts do not prevent refills.
fn drained(failures: Failures, now: Ticks) -> Failures {
    let refills = now.since(failures.last).as_secs() / REFILL.as_secs();
    let refills = u32::try_from(refills).unwrap_or(u32::MAX);
    match failures.count.saturating_sub(refills) {
        0 => Failures { count: 0, last: now },
        count => Failures { count, last: failures.last + REFILL.saturating_mul(refills) },
    }
}

/// IPv6 addresses count by their /64 network, because a host can use all of its addresses.
fn network_of(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => IpAddr::V4(v4),
            None => IpAddr::V6((u128::from(v6) >> 64 << 64).into()),
        },
    }
}

/// Keeps a map below its bound: removes expired entries and, if that is not enough, the older half.
fn evict_old<K: Hash + Eq + Clone, V>(
    map: &mut HashMap<K, V>,
    is_expired: impl Fn(&V) -> bool,
    age: impl Fn(&V) -> Ticks,
) {
    if map.len() < ENTRIES_MAX {
        return;
    }
    map.retain(|_, value| !is_expired(value));
    if map.len() >= ENTRIES_MAX {
        let mut times: Vec<Ticks> = map.values().map(&age).collect();
        times.sort_unstable();
        let middle = times.get(times.len() / 2).copied().unwrap_or_default();
        map.retain(|_, value| age(value) > middle);
    }
}
