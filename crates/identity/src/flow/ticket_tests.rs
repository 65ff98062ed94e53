//! Tickets and the rotation of their keys, over the in-memory store and a manual clock.

use std::sync::Arc;
use std::time::Duration;

use domain::{Clock as _, Realm, Secret};
use store::memory::MemoryStore;
use store::{MasterKey, Ports, Store, TicketKeys as _, Vault};
use testkit::{SeededRandom, TestClock};

use super::ticket::{LogoutRequest, PendingRequest, TicketState, Tickets};
use super::ticket_keys::TicketKeyRing;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

struct Fixture {
    clock: Arc<TestClock>,
    random: Arc<SeededRandom>,
    store: Arc<MemoryStore>,
}

impl Fixture {
    fn new() -> Self {
        let (clock, random) = (Arc::new(TestClock::default()), Arc::new(SeededRandom::new(1)));
        let vault = Arc::new(Vault::new(&MasterKey::from_bytes([7; 32])).unwrap());
        let ports = Ports { clock: clock.clone(), random: random.clone(), vault };
        Self { clock, random, store: Arc::new(MemoryStore::new(ports).unwrap()) }
    }

    /// The tickets of one node.
    async fn node(&self) -> Tickets {
        let store: Arc<dyn Store> = self.store.clone();
        let keys = TicketKeyRing::open(store, self.clock.clone(), self.random.clone()).await.unwrap();
        Tickets { keys }
    }

    fn issue(&self, node: &Tickets) -> String {
        node.issue(Realm::Users, PendingRequest::Home, &browser(), self.clock.now(), None).unwrap().unwrap()
    }

    fn is_valid(&self, node: &Tickets, text: &str) -> bool {
        matches!(node.open(Realm::Users, text, Some(&browser()), self.clock.now()), TicketState::Valid(_))
    }
}

fn browser() -> Secret {
    Secret::new("mine")
}

#[tokio::test]
async fn ticket_is_valid_in_its_browser_for_half_an_hour() {
    let fixture = Fixture::new();
    let (tickets, now, other) = (fixture.node().await, fixture.clock.now(), Secret::new("other"));
    let logout = PendingRequest::Logout(LogoutRequest::default());
    let text = tickets.issue(Realm::Users, logout, &browser(), now, None).unwrap().unwrap();
    let opened = |browser: Option<&Secret>, at| tickets.open(Realm::Users, &text, browser, at);
    let mine = browser();
    assert!(matches!(opened(Some(&mine), now), TicketState::Valid(_)));
    assert!(matches!(opened(Some(&mine), now + 30 * MINUTE), TicketState::Valid(_)));
    assert!(matches!(opened(Some(&mine), (now + 30 * MINUTE).next()), TicketState::Stale(_)));
    assert!(matches!(opened(Some(&other), now), TicketState::Stale(_)));
    assert!(matches!(opened(None, now), TicketState::Stale(_)));
    for realm in [Realm::Developers, Realm::Operators] {
        let opened = tickets.open(realm, &text, Some(&mine), now);
        assert!(matches!(opened, TicketState::Unreadable), "a ticket is nothing in another realm");
    }
}

#[tokio::test]
async fn altered_or_foreign_tickets_are_unreadable() {
    let (fixture, foreign) = (Fixture::new(), Fixture::new());
    foreign.random.next_u64();
    let (tickets, foreign) = (fixture.node().await, foreign.node().await);
    let now = fixture.clock.now();
    let text = fixture.issue(&tickets);
    assert!(!text.contains("Permissions") && !text.contains('='));
    for at in 0..text.len() {
        let mut changed = text.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).unwrap();
        assert!(
            matches!(tickets.open(Realm::Users, &changed, Some(&browser()), now), TicketState::Unreadable),
            "{at}"
        );
    }
    for wrong in ["", "x", &text[1..], &text[..text.len() - 1], &"A".repeat(100_000)] {
        assert!(matches!(tickets.open(Realm::Users, wrong, Some(&browser()), now), TicketState::Unreadable));
    }
    assert!(matches!(foreign.open(Realm::Users, &text, Some(&browser()), now), TicketState::Unreadable));
}

#[tokio::test]
async fn every_node_opens_the_tickets_of_the_others() {
    let fixture = Fixture::new();
    let (one, other) = tokio::join!(fixture.node(), fixture.node());
    one.keys.reload().await.unwrap();
    assert_eq!(fixture.store.ticket_keys().await.unwrap().len(), 1, "the first key is created once");
    assert!(fixture.is_valid(&other, &fixture.issue(&one)));
}

#[tokio::test]
async fn keys_rotate_daily_and_old_ones_open_their_tickets_until_they_expire() {
    let fixture = Fixture::new();
    let (one, other) = (fixture.node().await, fixture.node().await);
    let key_of = |text: &str| text[..21].to_owned();
    let first = fixture.issue(&one);

    fixture.clock.advance(24 * HOUR);
    let (rotated, too) = tokio::join!(one.keys.rotate_if_due(), other.keys.rotate_if_due());
    rotated.and(too).unwrap();
    one.keys.reload().await.unwrap();
    assert_eq!(fixture.store.ticket_keys().await.unwrap().len(), 2, "two nodes add one key");
    let last = fixture.issue(&one);
    assert_eq!(key_of(&last), key_of(&first), "the new key waits until every node knows it");

    fixture.clock.advance(MINUTE);
    let next = fixture.issue(&one);
    assert_ne!(key_of(&next), key_of(&first));
    assert!(fixture.is_valid(&other, &next) && fixture.is_valid(&other, &last));

    fixture.clock.advance(29 * MINUTE);
    one.keys.rotate_if_due().await.unwrap();
    assert!(fixture.is_valid(&one, &last), "the last ticket of the first key has not expired");
    fixture.clock.advance(3 * MINUTE);
    one.keys.rotate_if_due().await.unwrap();
    assert_eq!(fixture.store.ticket_keys().await.unwrap().len(), 1, "the first key is deleted");
    assert!(matches!(
        one.open(Realm::Users, &last, Some(&browser()), fixture.clock.now()),
        TicketState::Unreadable
    ));
    other.keys.reload().await.unwrap();
    assert!(matches!(
        other.open(Realm::Users, &last, Some(&browser()), fixture.clock.now()),
        TicketState::Unreadable
    ));
}
