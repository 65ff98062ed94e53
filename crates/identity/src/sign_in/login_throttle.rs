//! Slows down password guessing with token buckets, which all nodes share through the store: one per account, whether it
//! exists or not, and one per address. A token is taken before the password is hashed and returned if the password was
//! right, so that only failures count and parallel guesses gain nothing.

use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::net::{IpAddr, Ipv6Addr};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use domain::{AccountId, Clock, Realm};
use store::{SignInBucket, SignInTokens, Store};
use tokio::sync::Notify;

const ACCOUNT_TOKENS: u32 = 5;
const ACCOUNT_REFILL: Duration = Duration::from_secs(10);
/// A code has six digits: guesses must be rare.
const SECOND_FACTOR_REFILL: Duration = Duration::from_secs(120);
const ADDRESS_REFILL: Duration = Duration::from_secs(5);
/// The networks of an IPv6 address: prefix length, and how many times the bucket of a /64 it has. A host can use all
/// addresses of its /64, and one customer often gets a /56 or a /48.
const IPV6_NETWORKS: [(u32, u32); 3] = [(64, 1), (56, 2), (48, 10)];
/// How long a request waits for an attempt that is under way.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// How often a waiting request asks again, because the attempt may be under way on another node.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Requests that may wait at the same time; more are refused.
const WAITING_MAX: usize = 1024;
/// Waiting requests listen for the end of attempts by the hash of the bucket.
const LISTENERS: usize = 64;

/// Whether an attempt may check its password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    Admitted,
    Refused { retry_after: Duration },
}

pub(crate) struct LoginThrottle {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    address_tokens: u32,
    waiting: AtomicUsize,
    ended: [Notify; LISTENERS],
}

impl LoginThrottle {
    pub(crate) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, address_failures_max: u32) -> Self {
        let ended = std::array::from_fn(|_| Notify::new());
        Self { store, clock, address_tokens: address_failures_max, waiting: AtomicUsize::new(0), ended }
    }

    /// The buckets of an attempt with an account's password. Another proof that the user is the owner (a passkey, a link
    /// to reset the password) needs the buckets of the address only, so that nobody can lock the owner out.
    pub(crate) fn password_buckets(&self, realm: Realm, account: &str, address: IpAddr) -> Vec<SignInBucket> {
        let account = account_bucket(match realm {
            Realm::Users => format!("account {account}"),
            Realm::Developers | Realm::Operators => format!("account {account} {}", realm.as_str()),
        });
        std::iter::once(account).chain(self.address_buckets(address)).collect()
    }

    /// The bucket of a browser that has signed in to the account before. It stands for the account's and the address's
    /// buckets, which strangers can empty.
    pub(crate) fn known_browser_bucket(browser: &str) -> Vec<SignInBucket> {
        vec![account_bucket(format!("browser {browser}"))]
    }

    /// The buckets of an attempt with a code of an app, or with a recovery code. A browser that has signed in to the account
    /// before has its own, and so have recovery codes: who knows the password cannot lock the owner out.
    pub(crate) fn second_factor_buckets(
        &self,
        (realm, account): (Realm, &AccountId),
        is_recovery: bool,
        browser: Option<&str>,
        address: IpAddr,
    ) -> Vec<SignInBucket> {
        let what = if is_recovery { "recovery code" } else { "second factor" };
        let of = browser.map_or_else(String::new, |browser| format!(" browser {browser}"));
        let account = SignInBucket {
            name: format!("{what} {} {account}{of}", realm.as_str()),
            tokens_max: ACCOUNT_TOKENS,
            refill: SECOND_FACTOR_REFILL,
        };
        std::iter::once(account).chain(self.address_buckets(address)).collect()
    }

    /// The buckets of an address: one for IPv4, one for each network of `IPV6_NETWORKS`.
    pub(crate) fn address_buckets(&self, address: IpAddr) -> Vec<SignInBucket> {
        let bucket = |(network, times): (String, u32)| SignInBucket {
            name: format!("address {network}"),
            tokens_max: self.address_tokens.saturating_mul(times),
            refill: ADDRESS_REFILL / times,
        };
        network_names(address).into_iter().map(bucket).collect()
    }

    /// Takes the tokens of an attempt. Where attempts that are under way hold the missing one, waits for their end.
    /// Must not be cancelled: a token that was taken is returned by `end` only.
    pub(crate) async fn admit(&self, buckets: &[SignInBucket]) -> store::Result<Admission> {
        let (mut slot, mut missing) = (None, 0);
        let mut deadline = pin!(tokio::time::sleep(WAIT_MAX));
        let too_long = Admission::Refused { retry_after: Duration::from_secs(1) };
        loop {
            // Listens before it asks, so that no end is missed.
            let mut ended = pin!(self.listener(buckets.get(missing)).notified());
            ended.as_mut().enable();
            match self.store.take_sign_in_tokens(buckets, self.clock.now()).await? {
                SignInTokens::Taken => return Ok(Admission::Admitted),
                SignInTokens::Missing { retry_after } => return Ok(Admission::Refused { retry_after }),
                SignInTokens::UnderWay(index) if index != missing => {
                    missing = index;
                    continue;
                }
                SignInTokens::UnderWay(_) => {}
            }
            if slot.is_none() {
                slot = WaitingSlot::take(&self.waiting);
            }
            if slot.is_none() {
                return Ok(too_long);
            }
            tokio::select! {
                () = &mut deadline => return Ok(too_long),
                () = ended => {}
                () = tokio::time::sleep(POLL_INTERVAL) => {}
            }
        }
    }

    /// Ends an attempt that was admitted; returns its tokens unless it failed.
    pub(crate) async fn end(&self, buckets: &[SignInBucket], failed: bool) -> store::Result<()> {
        let ended = self.store.end_sign_in_attempt(buckets, failed, self.clock.now()).await;
        for bucket in buckets {
            self.listener(Some(bucket)).notify_waiters();
        }
        ended
    }

    fn listener(&self, bucket: Option<&SignInBucket>) -> &Notify {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(bucket.map(|bucket| &bucket.name));
        let index = usize::try_from(hash % LISTENERS as u64).unwrap_or(0);
        self.ended.get(index).unwrap_or(&self.ended[0])
    }
}

/// The networks of an address that have a bucket each, and how many times the bucket of one address it has.
pub(super) fn network_names(address: IpAddr) -> Vec<(String, u32)> {
    match address.to_canonical() {
        IpAddr::V4(v4) => vec![(v4.to_string(), 1)],
        IpAddr::V6(v6) => {
            let network = |bits: u32| Ipv6Addr::from_bits(v6.to_bits() >> (128 - bits) << (128 - bits));
            let networks = IPV6_NETWORKS.iter();
            networks.map(|(bits, times)| (format!("{}/{bits}", network(*bits)), *times)).collect()
        }
    }
}

fn account_bucket(name: String) -> SignInBucket {
    SignInBucket { name, tokens_max: ACCOUNT_TOKENS, refill: ACCOUNT_REFILL }
}

/// A place among the waiting requests.
struct WaitingSlot<'a>(&'a AtomicUsize);

impl<'a> WaitingSlot<'a> {
    fn take(waiting: &'a AtomicUsize) -> Option<Self> {
        let slot = Self(waiting);
        (waiting.fetch_add(1, Ordering::Relaxed) < WAITING_MAX).then_some(slot)
    }
}

impl Drop for WaitingSlot<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
