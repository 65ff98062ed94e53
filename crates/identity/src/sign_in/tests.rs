//! Throttling and bounds of the sign-in, over the in-memory store and a manual clock.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use domain::{AccountId, Realm, Secret, Ticks, password};
use store::memory::MemoryStore;
use store::{Account, AuditContext, FIRST_REVISION, MasterKey, Ports, Status, Store, Vault};
use testkit::{SeededRandom, TestClock};
use tokio::task::JoinSet;

use super::client_failures::ClientFailures;
use super::password_hasher::PasswordHasher;
use super::{PasswordAttempt, PasswordCheck, PasswordSignIn, normalized_username, trimmed_username};
use crate::fuzzing::settings;

const RIGHT: &str = "la contraseña correcta";
const NOW: Ticks = Ticks(639_000_000_000_000_000);
const MARIA: &str = "maria@example.com";

struct Fixture {
    clock: Arc<TestClock>,
    random: Arc<SeededRandom>,
    store: Arc<dyn Store>,
    vault: Arc<Vault>,
}

impl Fixture {
    /// A store with one user.
    async fn new() -> Self {
        let (clock, random) = (Arc::new(TestClock::at(NOW)), Arc::new(SeededRandom::new(1)));
        let vault = Arc::new(Vault::new(&MasterKey::from_bytes([7; 32])).unwrap());
        let ports = Ports { clock: clock.clone(), random: random.clone(), vault: vault.clone() };
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(ports).unwrap());
        let fixture = Self { clock, random, store, vault };
        fixture.store.add_account(&fixture.user(RIGHT), &[], &AuditContext::default()).await.unwrap();
        fixture
    }

    fn user(&self, text: &str) -> Account {
        Account {
            id: AccountId::new("maria"),
            realm: Realm::Users,
            role: None,
            email: MARIA.into(),
            given_name: "María".into(),
            family_name: String::new(),
            lang: "es".into(),
            password_hash: password::hash(&Secret::new(text), &*self.random).unwrap(),
            status: Status::Active,
            created_at: NOW,
            updated_at: NOW,
            revision: FIRST_REVISION,
        }
    }

    /// The sign-in of one node.
    fn node(&self, address_failures_max: u32) -> Arc<PasswordSignIn> {
        let settings = crate::Settings {
            address_failures_max,
            hashing_parallel: 2,
            hashing_queue_max: 64,
            ..settings()
        };
        let clock: Arc<dyn domain::Clock> = self.clock.clone();
        Arc::new(PasswordSignIn::new(&self.store, &clock, &self.vault, &settings))
    }
}

fn attempt(account: &str, password: &str, address: &str) -> PasswordAttempt {
    let address: IpAddr = address.parse().unwrap();
    let password = Secret::new(password);
    PasswordAttempt { realm: Realm::Users, account: account.into(), password, address, known_browser: None }
}

/// The result of an attempt in a word.
async fn outcome(node: &Arc<PasswordSignIn>, attempt: PasswordAttempt) -> String {
    match node.attempt(attempt).await.unwrap() {
        PasswordCheck::Accepted(_) => "accepted".into(),
        PasswordCheck::Rejected(_) => "rejected".into(),
        PasswordCheck::Throttled { retry_after } => format!("wait {}", retry_after.as_secs()),
        PasswordCheck::Busy => "busy".into(),
    }
}

/// Makes all attempts in parallel; returns how often each outcome occurred, by the beginning of its name.
async fn in_parallel(attempts: Vec<(Arc<PasswordSignIn>, PasswordAttempt)>) -> Vec<String> {
    let mut tasks = JoinSet::new();
    for (node, attempt) in attempts {
        tasks.spawn(async move { outcome(&node, attempt).await });
    }
    tasks.join_all().await
}

fn count(outcomes: &[String], wanted: &str) -> usize {
    outcomes.iter().filter(|outcome| outcome.starts_with(wanted)).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn thousand_parallel_guesses_on_one_account_evaluate_five() {
    let fixture = Fixture::new().await;
    for account in [MARIA, "nobody@example.com"] {
        // Two nodes share the buckets.
        let nodes = [fixture.node(60), fixture.node(60)];
        let guess = |number: usize| {
            let address = format!("198.51.{}.{}", number / 250, number % 250);
            // The right password is among the late ones.
            let password = if number >= 900 { RIGHT.to_owned() } else { format!("guess {number}") };
            (nodes[number % 2].clone(), attempt(account, &password, &address))
        };
        // The first guesses are under way when the others come.
        let mut first = JoinSet::new();
        for (node, attempt) in (0..5).map(guess) {
            first.spawn(async move { outcome(&node, attempt).await });
        }
        while nodes.iter().map(|node| node.password_hasher.computed.get()).sum::<u64>() < 5 {
            tokio::task::yield_now().await;
        }
        let outcomes = in_parallel((5..1000).map(guess).collect()).await;
        let first = first.join_all().await;
        let evaluated: u64 = nodes.iter().map(|node| node.password_hasher.computed.get()).sum();
        println!("{account}: {evaluated} of 1000 guesses were evaluated");
        assert_eq!(evaluated, 5, "{account}");
        assert_eq!(count(&first, "rejected") + count(&outcomes, "rejected"), 5, "{account}");
        assert_eq!(count(&outcomes, "accepted"), 0, "the right password waits, too");
        // Ten seconds later there is one more.
        fixture.clock.advance(Duration::from_secs(10));
        let outcomes = in_parallel((0..100).map(guess).collect()).await;
        assert_eq!((count(&outcomes, "rejected"), count(&outcomes, "wait")), (1, 99), "{account}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn parallel_attempts_with_the_right_password_wait_for_each_other() {
    let fixture = Fixture::new().await;
    let node = fixture.node(60);
    let right = |number: usize| (node.clone(), attempt(MARIA, RIGHT, &format!("198.51.100.{number}")));
    let outcomes = in_parallel((0..20).map(right).collect()).await;
    assert_eq!(count(&outcomes, "accepted"), 20, "{outcomes:?}");
    for _ in 0..5 {
        assert_eq!(outcome(&node, attempt(MARIA, "wrong", "198.51.100.1")).await, "rejected");
    }
    assert_eq!(outcome(&node, attempt(MARIA, RIGHT, "198.51.100.2")).await, "wait 10");
}

#[tokio::test]
async fn only_failures_count_and_tokens_come_back_every_ten_seconds() {
    let fixture = Fixture::new().await;
    let node = fixture.node(60);
    for _ in 0..10 {
        assert_eq!(outcome(&node, attempt(MARIA, RIGHT, "198.51.100.1")).await, "accepted");
    }
    for _ in 0..4 {
        assert_eq!(outcome(&node, attempt(MARIA, "wrong", "198.51.100.1")).await, "rejected");
    }
    assert_eq!(outcome(&node, attempt(MARIA, RIGHT, "198.51.100.1")).await, "accepted");
    assert_eq!(outcome(&node, attempt(MARIA, "wrong", "198.51.100.1")).await, "rejected");
    assert_eq!(outcome(&node, attempt(MARIA, RIGHT, "198.51.100.1")).await, "wait 10");
    fixture.clock.advance(Duration::from_secs(10));
    assert_eq!(outcome(&node, attempt(MARIA, RIGHT, "198.51.100.1")).await, "accepted");
}

#[tokio::test]
async fn known_browser_is_not_locked_out_until_the_password_changes() {
    let fixture = Fixture::new().await;
    let node = fixture.node(6);
    let user = fixture.store.find_account_by_email(Realm::Users, MARIA).await.unwrap().unwrap();
    let cookie = node.known_browser_cookie(None, &user, &*fixture.random);
    for number in 0..6 {
        // A stranger in the same network empties the account's bucket and the address's.
        let account = if number < 5 { MARIA } else { "other" };
        assert_eq!(outcome(&node, attempt(account, "wrong", "198.51.100.1")).await, "rejected");
    }
    let from = |cookie: &Secret, password: &str| PasswordAttempt {
        known_browser: Some(cookie.clone()),
        ..attempt(MARIA, password, "198.51.100.1")
    };
    assert_eq!(outcome(&node, attempt(MARIA, RIGHT, "198.51.100.1")).await, "wait 10");
    assert_eq!(outcome(&node, from(&cookie, RIGHT)).await, "accepted");
    for forged in [cookie.reveal().split('.').next().unwrap().to_owned(), format!("{}x", cookie.reveal())] {
        assert_eq!(outcome(&node, from(&Secret::new(forged), RIGHT)).await, "wait 10");
    }
    // Its own bucket is limited, too.
    for _ in 0..5 {
        assert_eq!(outcome(&node, from(&cookie, "wrong")).await, "rejected");
    }
    assert_eq!(outcome(&node, from(&cookie, RIGHT)).await, "wait 10");
    let second = node.known_browser_cookie(None, &user, &*fixture.random);
    assert_eq!(outcome(&node, from(&second, RIGHT)).await, "accepted", "each browser has its own");
    // For another account the cookie proves nothing, and it ends with the password.
    let other = Account { id: AccountId::new("juan"), ..user.clone() };
    assert_eq!(node.known_browsers.recognise(Some(&second), &other), None);
    assert_eq!(node.known_browsers.recognise(Some(&second), &fixture.user(RIGHT)), None);
    assert!(node.known_browsers.recognise(Some(&second), &user).is_some());
}

#[tokio::test]
async fn browser_is_known_to_eight_accounts() {
    let fixture = Fixture::new().await;
    let (node, user) = (fixture.node(60), fixture.user(RIGHT));
    let users: Vec<Account> = (0..9)
        .map(|number| Account { id: AccountId::new(format!("user {number}")), ..user.clone() })
        .collect();
    let mut cookie = None;
    for user in users.iter().chain(&users[8..]) {
        cookie = Some(node.known_browser_cookie(cookie.as_ref(), user, &*fixture.random));
    }
    let cookie = cookie.unwrap();
    assert!(cookie.reveal().len() <= super::KNOWN_BROWSER_BYTES_MAX, "{}", cookie.reveal().len());
    let known = |user: &&Account| node.known_browsers.recognise(Some(&cookie), user).is_some();
    assert_eq!(users.iter().filter(known).count(), 8, "the oldest is forgotten");
    assert!(!known(&&users[0]));
}

#[tokio::test]
async fn address_has_its_own_bucket() {
    let fixture = Fixture::new().await;
    let node = fixture.node(3);
    let guess = async |number: u32, address: &str| {
        outcome(&node, attempt(&format!("guess {number}"), "wrong", address)).await
    };
    for number in 0..3 {
        assert_eq!(guess(number, "203.0.113.9").await, "rejected");
    }
    assert_eq!(guess(3, "203.0.113.9").await, "wait 5");
    assert_eq!(guess(3, "::ffff:203.0.113.9").await, "wait 5");
    assert_eq!(guess(3, "203.0.113.10").await, "rejected");
    fixture.clock.advance(Duration::from_secs(4));
    assert_eq!(guess(4, "203.0.113.9").await, "wait 1");
    fixture.clock.advance(Duration::from_secs(1));
    assert_eq!(guess(4, "203.0.113.9").await, "rejected");
    assert_eq!(guess(5, "203.0.113.9").await, "wait 5");
}

#[test]
fn ipv6_networks_have_one_two_and_ten_times_the_bucket() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let node = runtime.block_on(async { Fixture::new().await.node(60) });
    let of = |address: &str| {
        let buckets = node.login_throttle.password_buckets(Realm::Users, "maria", address.parse().unwrap());
        let described = |one: store::SignInBucket| {
            format!("{}: {} then one every {} ms", one.name, one.tokens_max, one.refill.as_millis())
        };
        buckets.into_iter().map(described).collect::<Vec<_>>()
    };
    assert_eq!(
        of("2001:db8:1:2ff:3::4"),
        [
            "account maria: 5 then one every 10000 ms",
            "address 2001:db8:1:2ff::/64: 60 then one every 5000 ms",
            "address 2001:db8:1:200::/56: 120 then one every 2500 ms",
            "address 2001:db8:1::/48: 600 then one every 500 ms",
        ]
    );
    assert_eq!(of("203.0.113.9")[1..], ["address 203.0.113.9: 60 then one every 5000 ms"]);
}

#[tokio::test]
async fn attempt_ends_when_its_request_is_cancelled() {
    let fixture = Fixture::new().await;
    let node = fixture.node(60);
    for number in 1..=5 {
        let request = tokio::spawn({
            let node = node.clone();
            async move { node.attempt(attempt(MARIA, "wrong", "198.51.100.1")).await }
        });
        while node.password_hasher.computed.get() < number {
            tokio::task::yield_now().await;
        }
        request.abort();
    }
    // All five have ended as failures: the sixth does not wait for them.
    assert_eq!(outcome(&node, attempt(MARIA, RIGHT, "198.51.100.1")).await, "wait 10");
}

#[tokio::test]
async fn unconfirmed_user_signs_in_and_a_disabled_one_does_not() {
    let fixture = Fixture::new().await;
    let (node, id) = (fixture.node(60), AccountId::new("maria"));
    for (status, expected) in [(Status::Unconfirmed, "accepted"), (Status::Disabled, "rejected")] {
        fixture.store.set_account_status(&id, status, &AuditContext::default()).await.unwrap();
        assert_eq!(outcome(&node, attempt(MARIA, RIGHT, "198.51.100.1")).await, expected);
    }
}

#[tokio::test]
async fn long_password_is_not_hashed_but_counts() {
    let fixture = Fixture::new().await;
    let node = fixture.node(60);
    for _ in 0..5 {
        assert_eq!(outcome(&node, attempt(MARIA, &"x".repeat(1025), "198.51.100.1")).await, "rejected");
    }
    assert_eq!(node.password_hasher.computed.get(), 0);
    assert_eq!(outcome(&node, attempt(MARIA, RIGHT, "198.51.100.1")).await, "wait 10");
}

#[test]
fn username_is_trimmed_truncated_and_lowercased() {
    assert_eq!(normalized_username("  María@Example.COM \n"), "maría@example.com");
    let long = "ñ".repeat(1000);
    assert_eq!(trimmed_username(&long).len(), 254, "truncated at a character boundary");
    assert_eq!(normalized_username(""), "");
}

#[test]
fn long_series_of_client_failures_is_audited_only_at_first() {
    let failures = ClientFailures::default();
    let audited = |now| (0..100).filter(|_| failures.is_worth_auditing("app", now)).count();
    assert_eq!((audited(NOW), audited(NOW)), (8, 0));
    assert_eq!(audited(NOW + Duration::from_secs(901)), 8);
}

#[tokio::test]
async fn full_hashing_queue_refuses_at_once() {
    let password_hasher = PasswordHasher::new(1, 2);
    let (first, second, third) = tokio::join!(
        password_hasher.matches(Secret::new("one"), None),
        password_hasher.matches(Secret::new("two"), None),
        password_hasher.matches(Secret::new("three"), None),
    );
    assert_eq!((first, second, third), (Some(false), Some(false), None));
    assert_eq!(password_hasher.computed.get(), 2, "the refused request computes no hash");
    assert_eq!(password_hasher.matches(Secret::new("four"), None).await, Some(false), "slots are released");
    assert!(!password_hasher.is_full() && PasswordHasher::new(1, 0).is_full());
}
