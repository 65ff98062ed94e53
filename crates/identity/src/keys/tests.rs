//! Keys over a store in memory and a clock that tests turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use domain::{Clock, Random, Ticks};
use store::memory::MemoryStore;
use store::{MasterKey, Ports, Vault};

use super::*;

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

struct Turned(AtomicI64);

impl Clock for Turned {
    fn now(&self) -> Ticks {
        Ticks(self.0.load(Ordering::SeqCst))
    }
}

impl Turned {
    fn turn(&self, span: Duration) {
        let later = self.now() + span;
        self.0.store(later.0, Ordering::SeqCst);
    }
}

struct Counting(AtomicU64);

impl Random for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        let count = self.0.fetch_add(1, Ordering::SeqCst).to_le_bytes();
        bytes.iter_mut().zip(count.iter().cycle()).for_each(|(byte, next)| *byte = *next);
    }
}

struct Stage {
    clock: Arc<Turned>,
    store: Arc<MemoryStore>,
}

impl Stage {
    fn new() -> Self {
        let clock = Arc::new(Turned(AtomicI64::new(639_000_000_000_000_000)));
        let vault = Arc::new(Vault::new(&MasterKey::from_bytes([7; 32])).unwrap());
        let random = Arc::new(Counting(AtomicU64::new(1)));
        let ports = Ports { clock: clock.clone(), random, vault };
        Self { clock, store: Arc::new(MemoryStore::new(ports).unwrap()) }
    }

    async fn keys(&self) -> Keys {
        let policy = KeyPolicy { lead: DAY, tokens_live: HOUR, period: 90 * DAY };
        Keys::open(self.store.clone(), self.clock.clone(), policy).await.unwrap()
    }
}

fn states(keys: &Keys) -> Vec<&'static str> {
    keys.shown().iter().map(|key| key.state.as_str()).collect()
}

fn signs(keys: &Keys) -> String {
    keys.with_signer(|pair| Ok(pair.kid.clone())).unwrap()
}

fn published(keys: &Keys) -> usize {
    String::from_utf8(keys.published().body.to_vec()).unwrap().matches("\"kid\"").count()
}

#[tokio::test]
async fn the_first_key_is_made_by_itself_signs_at_once_and_is_the_same_for_everybody() {
    let stage = Stage::new();
    let (one, other) = tokio::join!(stage.keys(), stage.keys());
    assert_eq!(states(&one), ["signing"]);
    other.reload().await.unwrap();
    assert_eq!(signs(&one), signs(&other));
}

#[tokio::test]
async fn the_next_key_is_published_a_day_ahead_and_the_last_kept_until_its_tokens_are_gone() {
    let stage = Stage::new();
    let keys = stage.keys().await;
    let first = signs(&keys);
    let next = keys.rotate(false).await.unwrap();
    assert_eq!((states(&keys), published(&keys)), (vec!["signing", "next"], 2));
    assert_eq!(signs(&keys), first);

    stage.clock.turn(DAY);
    keys.reload().await.unwrap();
    assert_eq!((states(&keys), published(&keys)), (vec!["verifying", "signing"], 2));
    assert_eq!(signs(&keys), next.kid);
    assert!(keys.verifier(&first).is_some());

    stage.clock.turn(HOUR);
    keys.reload().await.unwrap();
    assert_eq!((states(&keys), published(&keys)), (vec!["past", "signing"], 1));
    assert!(keys.verifier(&first).is_none());
    keys.tend().await.unwrap();
    assert_eq!(states(&keys), ["signing"], "its private half is gone too");
}

#[tokio::test]
async fn a_compromised_key_ends_at_once() {
    let stage = Stage::new();
    let (keys, other) = (stage.keys().await, stage.keys().await);
    let first = signs(&keys);
    let next = keys.rotate(true).await.unwrap();
    assert_eq!((signs(&keys), states(&keys)), (next.kid.clone(), vec!["past", "signing"]));
    assert!(keys.verifier(&first).is_none());
    other.reload().await.unwrap();
    assert_eq!(signs(&other), next.kid, "another node knows when it looks");
}

#[tokio::test]
async fn keys_follow_each_other_by_schedule_and_once() {
    let stage = Stage::new();
    let (keys, other) = (stage.keys().await, stage.keys().await);
    let first = signs(&keys);
    stage.clock.turn(88 * DAY + 23 * HOUR);
    keys.tend().await.unwrap();
    assert_eq!(states(&keys), ["signing"]);
    stage.clock.turn(HOUR);
    let (one, two) = tokio::join!(keys.tend(), other.tend());
    one.and(two).unwrap();
    keys.tend().await.unwrap();
    assert_eq!(states(&keys), ["signing", "next"]);
    stage.clock.turn(DAY);
    keys.reload().await.unwrap();
    assert_ne!(signs(&keys), first);
}

#[tokio::test]
async fn time_goes_on_while_the_store_is_away() {
    let stage = Stage::new();
    let keys = stage.keys().await;
    let next = keys.rotate(false).await.unwrap();
    stage.clock.turn(DAY);
    assert_eq!(signs(&keys), next.kid, "no need to look at the store again");
}

#[tokio::test]
async fn a_key_is_named_by_its_thumbprint_and_opens_again() {
    let (pair, private) = Pair::generate().unwrap();
    let again = Pair::open(&private).unwrap();
    assert_eq!((&pair.kid, pair.kid.len()), (&again.kid, 43));
    let signature = pair.sign(b"message").unwrap();
    assert!(again.verifies(b"message", &signature) && !again.verifies(b"massage", &signature));
}
