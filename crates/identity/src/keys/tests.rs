//! Signing keys over the in-memory store and a manual clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use domain::{Clock, Random, Ticks};
use store::memory::MemoryStore;
use store::{AuditContext, MasterKey, Ports, Vault};

use super::*;

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

struct ManualClock(AtomicI64);

impl Clock for ManualClock {
    fn now(&self) -> Ticks {
        Ticks(self.0.load(Ordering::SeqCst))
    }
}

impl ManualClock {
    fn advance(&self, span: Duration) {
        let later = self.now() + span;
        self.0.store(later.0, Ordering::SeqCst);
    }

    fn go_back(&self, span: Duration) {
        let earlier = self.now().minus(span);
        self.0.store(earlier.0, Ordering::SeqCst);
    }
}

struct CountingRandom(AtomicU64);

impl Random for CountingRandom {
    fn fill(&self, bytes: &mut [u8]) {
        let count = self.0.fetch_add(1, Ordering::SeqCst).to_le_bytes();
        bytes.iter_mut().zip(count.iter().cycle()).for_each(|(byte, next)| *byte = *next);
    }
}

struct Fixture {
    clock: Arc<ManualClock>,
    store: Arc<MemoryStore>,
}

impl Fixture {
    fn new() -> Self {
        let clock = Arc::new(ManualClock(AtomicI64::new(639_000_000_000_000_000)));
        let vault = Arc::new(Vault::new(&MasterKey::from_bytes([7; 32])).unwrap());
        let random = Arc::new(CountingRandom(AtomicU64::new(1)));
        let ports = Ports { clock: clock.clone(), random, vault };
        Self { clock, store: Arc::new(MemoryStore::new(ports).unwrap()) }
    }

    async fn keys(&self) -> Keys {
        let policy = KeyPolicy { lead: DAY, token_ttl_max: HOUR, period: 90 * DAY };
        Keys::open(self.store.clone(), self.clock.clone(), policy).await.unwrap()
    }
}

fn states(keys: &Keys) -> Vec<&'static str> {
    keys.list().iter().map(|key| key.state.as_str()).collect()
}

fn signs(keys: &Keys) -> String {
    keys.with_signer(|key_pair| Ok(key_pair.kid.clone())).unwrap()
}

fn published(keys: &Keys) -> usize {
    String::from_utf8(keys.published().body.to_vec()).unwrap().matches("\"kid\"").count()
}

#[tokio::test]
async fn first_key_is_created_once_and_signs_at_once() {
    let fixture = Fixture::new();
    let (one, other) = tokio::join!(fixture.keys(), fixture.keys());
    assert_eq!(states(&one), ["signing"]);
    other.reload().await.unwrap();
    assert_eq!(signs(&one), signs(&other));
}

#[tokio::test]
async fn next_key_is_published_before_it_signs_and_old_key_until_its_tokens_expire() {
    let fixture = Fixture::new();
    let keys = fixture.keys().await;
    let first = signs(&keys);
    let next = keys.rotate(false, &AuditContext::default()).await.unwrap();
    assert_eq!((states(&keys), published(&keys)), (vec!["signing", "next"], 2));
    assert_eq!(signs(&keys), first);

    fixture.clock.advance(DAY);
    keys.reload().await.unwrap();
    assert_eq!((states(&keys), published(&keys)), (vec!["verifying", "signing"], 2));
    assert_eq!(signs(&keys), next.kid);
    assert!(keys.verification_key(&first).is_some());

    fixture.clock.advance(HOUR);
    keys.reload().await.unwrap();
    assert_eq!((states(&keys), published(&keys)), (vec!["past", "signing"], 1));
    assert!(keys.verification_key(&first).is_none());
    keys.rotate_if_due().await.unwrap();
    assert_eq!(states(&keys), ["signing"], "the expired key is deleted");
}

#[tokio::test]
async fn there_is_one_next_key_at_a_time() {
    let fixture = Fixture::new();
    let (keys, other) = (fixture.keys().await, fixture.keys().await);
    let next = keys.rotate(false, &AuditContext::default()).await.unwrap();
    for node in [&keys, &other] {
        let refused = node.rotate(false, &AuditContext::default()).await.unwrap_err();
        assert!(matches!(refused, KeyError::NextExists(at) if at == next.signs_from), "{refused}");
    }
    fixture.clock.advance(DAY);
    keys.rotate(false, &AuditContext::default()).await.unwrap();
    keys.rotate(true, &AuditContext::default()).await.unwrap();
    assert_eq!(states(&keys), ["past", "past", "past", "signing"], "at once works in any case");
}

#[tokio::test]
async fn keys_say_until_when_they_sign_and_when_they_end() {
    let fixture = Fixture::new();
    let keys = fixture.keys().await;
    let began = fixture.clock.now();
    let [only] = &keys.list()[..] else { panic!() };
    assert_eq!((only.signs_until, only.ends_at), (Some(began + 90 * DAY), Some(began + 90 * DAY + HOUR)));
    let next = keys.rotate(false, &AuditContext::default()).await.unwrap();
    let [first, _] = &keys.list()[..] else { panic!() };
    assert_eq!((first.signs_until, first.ends_at), (Some(began + DAY), Some(began + DAY + HOUR)));
    assert_eq!(next.signs_until, Some(began + 91 * DAY));
    keys.rotate(true, &AuditContext::default()).await.unwrap();
    assert!(keys.list()[..2].iter().all(|key| key.ends_at == Some(began)), "retired keys have ended");
}

#[tokio::test]
async fn rotation_at_once_retires_older_keys() {
    let fixture = Fixture::new();
    let (keys, other) = (fixture.keys().await, fixture.keys().await);
    let first = signs(&keys);
    let next = keys.rotate(true, &AuditContext::default()).await.unwrap();
    assert_eq!((signs(&keys), states(&keys)), (next.kid.clone(), vec!["past", "signing"]));
    assert!(keys.verification_key(&first).is_none());
    other.reload().await.unwrap();
    assert_eq!(signs(&other), next.kid, "another node sees the new key after a reload");
}

#[tokio::test]
async fn keys_rotate_on_schedule_exactly_once() {
    let fixture = Fixture::new();
    let (keys, other) = (fixture.keys().await, fixture.keys().await);
    let first = signs(&keys);
    fixture.clock.advance(88 * DAY + 23 * HOUR);
    keys.rotate_if_due().await.unwrap();
    assert_eq!(states(&keys), ["signing"]);
    fixture.clock.advance(HOUR);
    let (one, two) = tokio::join!(keys.rotate_if_due(), other.rotate_if_due());
    one.and(two).unwrap();
    keys.rotate_if_due().await.unwrap();
    assert_eq!(states(&keys), ["signing", "next"]);
    fixture.clock.advance(DAY);
    keys.reload().await.unwrap();
    assert_ne!(signs(&keys), first);
}

#[tokio::test]
async fn next_key_signs_on_time_without_a_reload() {
    let fixture = Fixture::new();
    let keys = fixture.keys().await;
    let next = keys.rotate(false, &AuditContext::default()).await.unwrap();
    fixture.clock.advance(DAY);
    assert_eq!(signs(&keys), next.kid, "without reading the store again");
}

#[tokio::test]
async fn clock_that_goes_back_to_before_the_first_key_leaves_a_signer() {
    let fixture = Fixture::new();
    let keys = fixture.keys().await;
    let first = signs(&keys);
    fixture.clock.go_back(3 * HOUR);
    assert_eq!(signs(&keys), first);
    keys.reload().await.unwrap();
    assert_eq!((states(&keys), published(&keys)), (vec!["signing"], 1));
    assert!(keys.verification_key(&first).is_some());
    keys.rotate(false, &AuditContext::default()).await.unwrap();
    assert_eq!((signs(&keys), states(&keys)), (first, vec!["signing", "next"]));
}

#[tokio::test]
async fn clock_that_goes_back_does_not_revive_a_retired_key() {
    let fixture = Fixture::new();
    let keys = fixture.keys().await;
    let first = signs(&keys);
    fixture.clock.advance(HOUR);
    let next = keys.rotate(true, &AuditContext::default()).await.unwrap();
    fixture.clock.go_back(HOUR / 2);
    keys.reload().await.unwrap();
    assert_eq!((signs(&keys), states(&keys)), (next.kid, vec!["past", "signing"]));
    assert!(keys.verification_key(&first).is_none());
}

#[tokio::test]
async fn key_has_a_thumbprint_as_kid_and_can_be_reopened() {
    let (key_pair, private) = SigningKeyPair::generate().unwrap();
    let again = SigningKeyPair::open(&private).unwrap();
    assert_eq!((&key_pair.kid, key_pair.kid.len()), (&again.kid, 43));
    let signature = key_pair.sign(b"message").unwrap();
    assert!(again.verifies(b"message", &signature) && !again.verifies(b"massage", &signature));
}
