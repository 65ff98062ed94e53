//! Slows down who guesses: answers for an account wait longer with every failure, known account or not,
//! and an address that fails too often is told to come back later. Nobody is ever locked out.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::time::Duration;

use parking_lot::Mutex;

use domain::Ticks;

/// Failures that cost nothing: everybody mistypes.
const FREE_FAILURES: u32 = 3;
const FIRST_DELAY: Duration = Duration::from_millis(500);
const DELAY_MAX: Duration = Duration::from_secs(10);
/// An account's failures are forgotten after this long without another.
const MEMORY: Duration = Duration::from_secs(15 * 60);
/// An address gets one more try back in this time.
const REFILL: Duration = Duration::from_secs(5);
/// How many accounts and how many addresses are remembered.
const ENTRIES_MAX: usize = 100_000;

#[derive(Clone, Copy)]
struct Failures {
    count: u32,
    last: Ticks,
}

/// The address must wait this long.
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

    /// Takes a try of an account into account and says how long its answer must wait. The try counts as
    /// failed until it is known to have succeeded, so that many at once do not count as one.
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

    /// Whether a client's failure is still news, or one of a long row that would only fill the audit. No
    /// account's name begins with a NUL, so nobody can make a row by typing.
    pub(crate) fn is_worth_auditing(&self, client: &str, now: Ticks) -> bool {
        self.account_delay(&format!("\0client {client}"), now) < DELAY_MAX
    }

    pub(crate) fn reset_account(&self, account: &str) {
        self.accounts.lock().remove(account);
    }

    /// Takes one of an address's tries. It counts as failed until `refund_address` gives it back, so that many at
    /// once do not count as none.
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

    /// The address did not fail after all.
    pub(crate) fn refund_address(&self, address: IpAddr) {
        if let Some(failures) = self.addresses.lock().get_mut(&network_of(address)) {
            failures.count = failures.count.saturating_sub(1);
        }
    }
}

/// What is left of an address's failures after the time that has passed. Time that was not enough for one
/// more goes on counting, so that a steady trickle of tries does not stand in the way of forgetting.
fn drained(failures: Failures, now: Ticks) -> Failures {
    let back = now.since(failures.last).as_secs() / REFILL.as_secs();
    let back = u32::try_from(back).unwrap_or(u32::MAX);
    match failures.count.saturating_sub(back) {
        0 => Failures { count: 0, last: now },
        count => Failures { count, last: failures.last + REFILL.saturating_mul(back) },
    }
}

/// Whoever has one address of an IPv6 network has all of them.
fn network_of(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(six) => match six.to_ipv4_mapped() {
            Some(four) => IpAddr::V4(four),
            None => IpAddr::V6((u128::from(six) >> 64 << 64).into()),
        },
    }
}

/// Keeps a map below its bound: what is past goes, and where that is not enough, the oldest half.
fn evict_old<K: Hash + Eq + Clone, V>(
    map: &mut HashMap<K, V>,
    is_past: impl Fn(&V) -> bool,
    age: impl Fn(&V) -> Ticks,
) {
    if map.len() < ENTRIES_MAX {
        return;
    }
    map.retain(|_, value| !is_past(value));
    if map.len() >= ENTRIES_MAX {
        let mut times: Vec<Ticks> = map.values().map(&age).collect();
        times.sort_unstable();
        let middle = times.get(times.len() / 2).copied().unwrap_or_default();
        map.retain(|_, value| age(value) > middle);
    }
}
