//! Sign-in attempts with a registered passkey, over the in-memory store.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use domain::{AccountId, Clock, Guid, Realm, Secret};
use store::memory::MemoryStore;
use store::{
    Account, AuditContext, FIRST_REVISION, FactorEffects, FactorMethod, MasterKey, Ports, SecondFactor,
    Status, Store, UsedChallenge, Vault,
};
use testkit::{SeededRandom, TestClock};

use super::authenticator::{Assertion, EDDSA, Registration};
use super::{assertion_challenge, registration_challenge, relying_party};
use crate::second_factor::{PasskeyAttempt, PasskeyCheck, passkey_of, user_handle};
use crate::sign_in::LoginThrottle;
use crate::webauthn::{AssertionResponse, RegistrationResponse};

struct Fixture {
    store: Arc<dyn Store>,
    clock: Arc<TestClock>,
    vault: Arc<Vault>,
    throttle: Arc<LoginThrottle>,
}

fn account(realm: Realm, id: &str, clock: &TestClock) -> Account {
    Account {
        id: AccountId::new(id),
        realm,
        role: None,
        email: format!("{id}@example.com"),
        given_name: "María".into(),
        family_name: String::new(),
        lang: "es".into(),
        password_hash: String::new(),
        status: Status::Active,
        created_at: clock.now(),
        updated_at: clock.now(),
        revision: FIRST_REVISION,
    }
}

impl Fixture {
    /// Maria, a user, has a passkey; Jon has none.
    async fn new() -> Self {
        let (clock, random) = (Arc::new(TestClock::default()), Arc::new(SeededRandom::new(1)));
        let vault = Arc::new(Vault::new(&MasterKey::from_bytes([7; 32])).unwrap());
        let ports = Ports { clock: clock.clone(), random: random.clone(), vault: vault.clone() };
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(ports).unwrap());
        for name in ["maria", "jon"] {
            let one = account(Realm::Users, name, &clock);
            store.add_account(&one, &[], &AuditContext::default()).await.unwrap();
        }
        let registered = Registration::new(&EDDSA).json().to_string();
        let response = RegistrationResponse::parse(&registered).unwrap();
        let credential = response.verify(&relying_party(), &registration_challenge()).unwrap();
        let factor = SecondFactor {
            id: Guid::from_bytes([1; 16]),
            realm: Realm::Users,
            account: AccountId::new("maria"),
            name: "Portátil".into(),
            method: FactorMethod::Passkey(passkey_of(&credential)),
            created_at: clock.now(),
            last_used_at: None,
        };
        let (effects, context) = (FactorEffects::default(), AuditContext::default());
        store.add_second_factor(&factor, &[], None, &effects, &context).await.unwrap();
        let throttle = Arc::new(LoginThrottle::new(store.clone(), clock.clone(), 3));
        Self { store, clock, vault, throttle }
    }

    /// What Maria's authenticator answers.
    fn assertion(&self) -> Assertion {
        let handle = user_handle(&self.vault, Realm::Users, &AccountId::new("maria")).unwrap();
        Assertion { user_handle: Some(handle.as_bytes().to_vec()), ..Assertion::new() }
    }

    async fn attempt(&self, assertion: &Assertion, realm: Realm, known: Option<&str>) -> String {
        let challenge = assertion_challenge();
        let attempt = PasskeyAttempt {
            realm,
            relying_party: relying_party(),
            used: UsedChallenge {
                challenge: Secret::new(challenge.to_text()),
                expires_at: self.clock.now() + Duration::from_secs(60),
            },
            challenge,
            response: AssertionResponse::parse(&assertion.signed(&EDDSA).to_string()).unwrap(),
            known: known.map(AccountId::new),
            address: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
        };
        let (store, clock) = (self.store.clone(), self.clock.clone());
        match attempt.run(store, clock, self.vault.clone(), self.throttle.clone()).await.unwrap() {
            PasskeyCheck::Accepted { account, .. } => format!("{} signs in", account.id),
            PasskeyCheck::Rejected { reason, .. } => reason,
            PasskeyCheck::Throttled { .. } => "throttled".into(),
        }
    }
}

#[tokio::test]
async fn passkey_alone_says_who_signs_in() {
    let fixture = Fixture::new().await;
    assert_eq!(fixture.attempt(&fixture.assertion(), Realm::Users, None).await, "maria signs in");
    let replayed = fixture.attempt(&fixture.assertion(), Realm::Users, None).await;
    assert_eq!(replayed, "the challenge was used before");
}

#[tokio::test]
async fn passkey_of_another_account_or_realm_is_refused() {
    let fixture = Fixture::new().await;
    let assertion = fixture.assertion();
    let other = fixture.attempt(&assertion, Realm::Users, Some("jon")).await;
    assert_eq!(other, "the passkey of another account");
    assert_eq!(fixture.attempt(&assertion, Realm::Operators, None).await, "unknown passkey");
    assert_eq!(fixture.attempt(&assertion, Realm::Users, Some("maria")).await, "maria signs in");
}

#[tokio::test]
async fn passkey_without_its_account_is_refused_where_nothing_else_names_it() {
    let fixture = Fixture::new().await;
    let nameless = Assertion { user_handle: None, ..fixture.assertion() };
    let refused = fixture.attempt(&nameless, Realm::Users, None).await;
    assert!(refused.contains("no user handle"), "{refused}");
    assert_eq!(fixture.attempt(&nameless, Realm::Users, Some("maria")).await, "maria signs in");
}

#[tokio::test]
async fn stale_count_is_refused() {
    let fixture = Fixture::new().await;
    let mut stale = fixture.assertion();
    stale.data.sign_count = 3;
    let refused = fixture.attempt(&stale, Realm::Users, None).await;
    assert!(refused.contains("sign count is stale"), "{refused}");
}

#[tokio::test]
async fn account_that_is_disabled_does_not_sign_in() {
    let fixture = Fixture::new().await;
    let (maria, context) = (AccountId::new("maria"), AuditContext::default());
    fixture.store.set_account_status(&maria, Status::Disabled, &context).await.unwrap();
    let refused = fixture.attempt(&fixture.assertion(), Realm::Users, None).await;
    assert_eq!(refused, "the passkey's account is not active");
}

#[tokio::test]
async fn failures_use_up_the_bucket_of_the_address() {
    let fixture = Fixture::new().await;
    let assertion = fixture.assertion();
    for _ in 0..3 {
        let refused = fixture.attempt(&assertion, Realm::Operators, None).await;
        assert_eq!(refused, "unknown passkey");
    }
    assert_eq!(fixture.attempt(&assertion, Realm::Users, None).await, "throttled");
    fixture.clock.advance(Duration::from_secs(5));
    assert_eq!(fixture.attempt(&assertion, Realm::Users, None).await, "maria signs in");
}
