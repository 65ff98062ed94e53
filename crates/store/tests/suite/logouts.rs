//! Back-channel logouts: queued with the end of a session for the clients that took part in it, leased by one node at a time,
//! retried, and ended once.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::{AccountId, ClientId, Guid, Realm, Scopes, Secret, Ticks};
use store::{
    AccountUpdate, Actor, AuditContext, AuditEntry, AuditKind, AuditQuery, Client, ClientUpdate,
    EndedSessions, FactorEffects, GrantSession, LOGOUT_LIFE, LeasedLogout, Logout, LogoutEnd, LogoutProgress,
    LogoutState, NewGrant, RetentionCutoffs, Session, Status,
};

use super::clients::client;
use super::codes::{code, context, exchange, grant, membership_id, our_client};
use super::directory::user;
use super::fixture::{Fixture, by, concurrently};
use super::second_factors::totp;
use super::sessions::{session, sign_in_entry, sign_out_entry};

const LEASE: Duration = Duration::from_secs(60);

/// Session `number` of a user; its cookie is the number.
fn numbered(number: u8, user: &str, now: Ticks) -> Session {
    Session { id: Guid::from_bytes([number; 16]), ..session(user, now) }
}

async fn begin(fixture: &Fixture, number: u8, user: &str) -> Session {
    let (now, cookie) = (fixture.now(), Secret::new(number.to_string()));
    let one = numbered(number, user, now);
    fixture.store.begin_session(&cookie, &one, None, None, &sign_in_entry(user, now)).await.unwrap();
    one
}

async fn end(fixture: &Fixture, number: u8, user: &str) -> bool {
    let entry = sign_out_entry(user, fixture.now());
    let cookie = Secret::new(number.to_string());
    fixture.store.end_session(Realm::Users, &cookie, &entry).await.unwrap()
}

fn in_session(session: &Session) -> GrantSession {
    GrantSession { id: session.id, expires_at: session.expires_at }
}

async fn join(fixture: &Fixture, session: &Session, client: &str) {
    let client = ClientId::new(client);
    fixture.store.join_session(in_session(session), &session.account, &client, &by()).await.unwrap();
}

/// A client that wants to be told.
async fn add_told_client(fixture: &Fixture, id: &str) {
    let uri = Some(format!("https://{id}.example/logout"));
    let told = Client { backchannel_logout_uri: uri, ..client(fixture, id) };
    fixture.store.add_client(&told, &Secret::new("secret"), &by()).await.unwrap();
}

/// `client of user in session` of each logout that is due, by client.
async fn due(fixture: &Fixture) -> Vec<String> {
    let leased = fixture.store.due_logouts(fixture.now(), LEASE, 100).await.unwrap();
    let line = |one: &LeasedLogout| {
        let Logout { client, user, session, .. } = &one.logout;
        format!("{client} {user} {}", session.as_bytes()[0])
    };
    let mut lines: Vec<String> = leased.iter().map(line).collect();
    lines.sort();
    lines
}

async fn audited(fixture: &Fixture, kind: AuditKind) -> Vec<AuditEntry> {
    let query = AuditQuery { kind: Some(kind), rows_max: 100, ..AuditQuery::default() };
    fixture.store.audit(&query).await.unwrap().into_iter().map(|record| record.entry).collect()
}

pub(crate) async fn end_of_a_session_tells_its_clients(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    for id in ["erp", "panel", "other", "off"] {
        add_told_client(&fixture, id).await;
    }
    store.add_client(&client(&fixture, "silent"), &Secret::new("secret"), &by()).await.unwrap();
    let [first, second] = [begin(&fixture, 1, "maria").await, begin(&fixture, 2, "maria").await];
    for client in ["panel", "erp", "erp", "silent", "off"] {
        join(&fixture, &first, client).await;
    }
    join(&fixture, &second, "other").await;
    let disabled = ClientUpdate { status: Some(Status::Disabled), ..ClientUpdate::default() };
    assert!(store.update_client(&ClientId::new("off"), &disabled, None, &by()).await.unwrap().is_updated());
    assert!(due(&fixture).await.is_empty());

    assert!(end(&fixture, 1, "maria").await);
    let reopened = fixture.reopen().await.store;
    let leased = reopened.due_logouts(now, LEASE, 100).await.unwrap();
    let found: BTreeSet<String> = leased.iter().map(|one| one.logout.client.to_string()).collect();
    assert_eq!(found, BTreeSet::from(["erp".to_owned(), "panel".to_owned()]));
    let one = &leased[0];
    let expected = Logout {
        id: one.logout.id,
        client: one.logout.client.clone(),
        user: AccountId::new("maria"),
        session: first.id,
        created_at: now,
        expires_at: now + LOGOUT_LIFE,
    };
    assert_eq!(*one, LeasedLogout { logout: expected, attempts: 1, leased_until: now + LEASE });
    let queued = audited(&fixture, AuditKind::LogoutQueued).await;
    assert_eq!(queued.len(), 2);
    for entry in queued {
        assert_eq!((entry.user, entry.context), (Some(AccountId::new("maria")), context()));
        assert!(entry.client.is_some_and(|client| found.contains(client.as_str())));
    }
    assert!(!end(&fixture, 1, "maria").await, "it has ended");
    assert!(end(&fixture, 2, "maria").await);
    assert_eq!(due(&fixture).await, ["other maria 2"]);
}

pub(crate) async fn every_way_to_end_a_session_tells_its_clients(fixture: Fixture) {
    let (store, maria) = (&fixture.store, AccountId::new("maria"));
    add_told_client(&fixture, "erp").await;
    store.add_account(&user(&fixture, "maria"), &[], &by()).await.unwrap();
    let begin_three = async || {
        for number in 1..=3 {
            let one = begin(&fixture, number, "maria").await;
            join(&fixture, &one, "erp").await;
        }
    };
    let [first, third] = [1, 3].map(|number| numbered(number, "maria", fixture.now()).id);
    begin_three().await;
    store.end_sessions(&maria, EndedSessions::One(first), &by()).await.unwrap();
    assert_eq!(due(&fixture).await, ["erp maria 1"]);
    store.end_sessions(&maria, EndedSessions::AllExcept(third), &by()).await.unwrap();
    assert_eq!(due(&fixture).await, ["erp maria 2"]);
    store.end_sessions(&maria, EndedSessions::All, &by()).await.unwrap();
    assert_eq!(due(&fixture).await, ["erp maria 3"]);

    let all = ["erp maria 1", "erp maria 2", "erp maria 3"];
    begin_three().await;
    store.set_password_hash(&maria, "$argon2id$new", &by()).await.unwrap();
    assert_eq!(due(&fixture).await, all, "a new password");
    begin_three().await;
    let disable = AccountUpdate { status: Some(Status::Disabled), ..AccountUpdate::default() };
    assert!(store.update_account(&maria, &disable, None, &by()).await.unwrap().is_updated());
    assert_eq!(due(&fixture).await, all, "a disabled account");
    assert_eq!(store.list_sessions(&maria, fixture.now()).await, Ok(Vec::new()));

    begin_three().await;
    let keep = FactorEffects { kept_session: Some(third), mail: None };
    let factor = totp(1, "maria", fixture.now());
    store.add_second_factor(&factor, &[], None, &keep, &by()).await.unwrap();
    assert_eq!(due(&fixture).await, all[..2], "a second factor");
    store.reset_second_factors(&maria, &FactorEffects::default(), &by()).await.unwrap();
    assert_eq!(due(&fixture).await, all[2..], "a reset of the second factors");

    let one = begin(&fixture, 4, "maria").await;
    join(&fixture, &one, "erp").await;
    let (now, [old, new]) = (fixture.now(), ["4", "5"].map(Secret::new));
    let of_jon = numbered(5, "jon", now);
    store.begin_session(&new, &of_jon, Some(&old), None, &sign_in_entry("jon", now)).await.unwrap();
    assert_eq!(due(&fixture).await, ["erp maria 4"], "somebody else signs in with the browser");
}

pub(crate) async fn expired_session_tells_nobody(fixture: Fixture) {
    let store = &fixture.store;
    add_told_client(&fixture, "erp").await;
    let one = begin(&fixture, 1, "maria").await;
    join(&fixture, &one, "erp").await;
    let operator = Session { realm: Realm::Operators, ..numbered(2, "ops", fixture.now()) };
    let cookie = Secret::new("operator");
    let entry = sign_in_entry("ops", fixture.now());
    store.begin_session(&cookie, &operator, None, None, &entry).await.unwrap();
    join(&fixture, &operator, "erp").await;
    store.end_sessions(&operator.account, EndedSessions::All, &by()).await.unwrap();
    assert!(due(&fixture).await.is_empty(), "only users sign in to clients");

    fixture.clock.set(one.expires_at);
    assert!(end(&fixture, 1, "maria").await, "the row is there until the maintenance deletes it");
    assert!(due(&fixture).await.is_empty());

    let other = begin(&fixture, 3, "maria").await;
    join(&fixture, &other, "erp").await;
    fixture.clock.set(other.expires_at + Duration::from_secs(1));
    let expired = store.expire(cutoffs(fixture.now(), Ticks(0)), 100).await.unwrap();
    assert_eq!((expired.sessions, expired.logouts), (1, 1));
    assert!(due(&fixture).await.is_empty());
}

/// A user signs in again with the same browser: the session keeps its id.
pub(crate) async fn clients_stay_in_a_renewed_session(fixture: Fixture) {
    let (store, [old, new]) = (&fixture.store, ["1", "2"].map(Secret::new));
    add_told_client(&fixture, "erp").await;
    let one = begin(&fixture, 1, "maria").await;
    join(&fixture, &one, "erp").await;
    fixture.clock.advance(Duration::from_hours(7));
    let renewed = numbered(1, "maria", fixture.now());
    let entry = sign_in_entry("maria", fixture.now());
    store.begin_session(&new, &renewed, Some(&old), None, &entry).await.unwrap();
    assert!(due(&fixture).await.is_empty());

    fixture.clock.advance(Duration::from_hours(7));
    let expired = store.expire(cutoffs(fixture.now(), Ticks(0)), 100).await.unwrap();
    assert_eq!((expired.sessions, expired.logouts), (0, 0), "they expire with the new session");
    assert!(end(&fixture, 2, "maria").await);
    assert_eq!(due(&fixture).await, ["erp maria 1"]);
}

pub(crate) async fn client_that_joins_too_late_is_told_at_once(fixture: Fixture) {
    add_told_client(&fixture, "erp").await;
    let one = begin(&fixture, 1, "maria").await;
    assert!(end(&fixture, 1, "maria").await);
    assert!(due(&fixture).await.is_empty());
    join(&fixture, &one, "erp").await;
    assert_eq!(due(&fixture).await, ["erp maria 1"]);
    fixture.clock.set(one.expires_at);
    join(&fixture, &one, "erp").await;
    assert_eq!(audited(&fixture, AuditKind::LogoutQueued).await.len(), 1, "it has expired by itself");
}

pub(crate) async fn exchange_of_a_code_joins_the_session(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    add_told_client(&fixture, our_client().as_str()).await;
    let exchange_code = async |number: u8, session: Option<GrantSession>| {
        let secret = Secret::new(format!("code {number}"));
        store.store_code(&secret, &code(now), &membership_id(), now, &by()).await.unwrap();
        let new = NewGrant {
            grant: grant(&format!("g{number}"), now),
            scopes: Scopes::parse("openid").scopes,
            refresh: None,
            session,
        };
        store.take_code(&exchange(&secret, &our_client(), now), Box::new(move |_| Some(new))).await.unwrap();
    };
    let one = begin(&fixture, 1, "maria").await;
    exchange_code(1, Some(in_session(&one))).await;
    let other = begin(&fixture, 2, "maria").await;
    exchange_code(2, None).await;
    assert!(end(&fixture, 2, "maria").await);
    assert!(due(&fixture).await.is_empty(), "without an id_token");
    assert!(end(&fixture, 1, "maria").await);
    assert_eq!(due(&fixture).await, ["erp-norte maria 1"]);
    // The user signed out before the client exchanged the code.
    exchange_code(3, Some(in_session(&other))).await;
    assert_eq!(due(&fixture).await, ["erp-norte maria 2"]);
}

/// One logout that is due.
async fn queue_one(fixture: &Fixture, number: u8) {
    let one = begin(fixture, number, "maria").await;
    join(fixture, &one, "erp").await;
    assert!(end(fixture, number, "maria").await);
}

pub(crate) async fn logout_is_leased_by_one_node_and_retried(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    add_told_client(&fixture, "erp").await;
    queue_one(&fixture, 1).await;
    assert_eq!(store.due_logouts(now, LEASE, 0).await, Ok(Vec::new()));
    let first = store.due_logouts(now, LEASE, 9).await.unwrap().remove(0);
    let other_node = fixture.reopen().await.store;
    assert_eq!(other_node.due_logouts(now, LEASE, 9).await, Ok(Vec::new()), "another node has it");

    let next_at = now + Duration::from_secs(5);
    assert_eq!(store.logout_failed(&first, "503\r\n\0 later", next_at).await, Ok(true));
    assert_eq!(store.logout_failed(&first, "", now).await, Ok(false), "the lease has ended");
    assert_eq!(store.due_logouts(Ticks(next_at.0 - 1), LEASE, 9).await, Ok(Vec::new()));
    let waiting = LogoutProgress {
        logout: first.logout.clone(),
        state: LogoutState::Waiting,
        attempts: 1,
        error: "503    later".into(),
        ended_at: None,
    };
    assert_eq!(store.last_logout(&ClientId::new("erp")).await, Ok(Some(waiting)));
    let second = other_node.due_logouts(next_at, LEASE, 9).await.unwrap().remove(0);
    assert_eq!((second.attempts, second.leased_until), (2, next_at + LEASE));
    assert_eq!(second.logout, first.logout);
    // Its node fails; it is due even after its time, so that a node can give it up.
    let late = now + LOGOUT_LIFE + LEASE;
    assert_eq!(store.due_logouts(late, LEASE, 9).await.unwrap()[0].attempts, 3);
}

pub(crate) async fn ended_logout_is_audited_and_never_due_again(fixture: Fixture) {
    let (store, now, erp) = (&fixture.store, fixture.now(), ClientId::new("erp"));
    add_told_client(&fixture, "erp").await;
    assert_eq!(store.last_logout(&erp).await, Ok(None));
    queue_one(&fixture, 1).await;
    let slow = store.due_logouts(now, LEASE, 9).await.unwrap().remove(0);
    let other = store.due_logouts(now + LEASE, LEASE, 9).await.unwrap().remove(0);
    assert_eq!(store.logout_failed(&slow, "", now).await, Ok(false), "the lease is another one");
    let at = now + Duration::from_secs(2);
    assert_eq!(store.logout_ended(&slow.logout, &LogoutEnd::Delivered, at).await, Ok(true));
    let failed = LogoutEnd::Failed("400\0".into());
    assert_eq!(store.logout_ended(&slow.logout, &failed, at).await, Ok(false));
    assert_eq!(store.logout_failed(&other, "", now).await, Ok(false), "it has ended");
    let late = now + Duration::from_hours(23);
    assert_eq!(store.due_logouts(late, LEASE, 9).await, Ok(Vec::new()));
    let last = store.last_logout(&erp).await.unwrap().unwrap();
    assert_eq!((last.state, last.ended_at, last.error.as_str()), (LogoutState::Delivered, Some(at), ""));

    fixture.clock.advance(Duration::from_mins(1));
    queue_one(&fixture, 2).await;
    let leased = store.due_logouts(fixture.now(), LEASE, 9).await.unwrap().remove(0);
    assert_eq!(store.logout_ended(&leased.logout, &failed, fixture.now()).await, Ok(true));
    let last = store.last_logout(&erp).await.unwrap().unwrap();
    assert_eq!((last.state, last.error.as_str()), (LogoutState::Failed, "400 "));
    let expected = [(AuditKind::LogoutDelivered, at, ""), (AuditKind::LogoutFailed, fixture.now(), "400 ")];
    for (kind, at, note) in expected {
        let [entry] = &audited(&fixture, kind).await[..] else { panic!("one entry of {kind:?}") };
        let service = AuditContext { actor: Actor::Service, ..AuditContext::default() };
        assert_eq!((&entry.context, entry.at, entry.note.as_str()), (&service, at, note));
        assert_eq!((&entry.client, &entry.user), (&Some(erp.clone()), &Some(AccountId::new("maria"))));
    }
}

pub(crate) async fn concurrent_nodes_lease_each_logout_once(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    add_told_client(&fixture, "erp").await;
    for number in 0..30 {
        queue_one(&fixture, number).await;
    }
    let second_store = fixture.reopen().await.store;
    let leased = concurrently(20, &[store, &second_store], |_, store| async move {
        let mut leased = Vec::new();
        loop {
            match store.due_logouts(now, LEASE, 2).await.unwrap() {
                none if none.is_empty() => break leased,
                some => leased.extend(some.iter().map(|one| one.logout.session)),
            }
        }
    })
    .await
    .concat();
    assert_eq!(leased.len(), 30);
    assert_eq!(leased.into_iter().collect::<BTreeSet<_>>().len(), 30);
}

fn cutoffs(now: Ticks, mails: Ticks) -> RetentionCutoffs {
    let none = Ticks(0);
    RetentionCutoffs { now, processes: none, audit: none, calls: none, reads: none, deliveries: none, mails }
}

pub(crate) async fn old_logouts_are_deleted(fixture: Fixture) {
    let store = &fixture.store;
    add_told_client(&fixture, "erp").await;
    for number in 1..=3 {
        queue_one(&fixture, number).await;
    }
    let end = fixture.now() + LOGOUT_LIFE;
    assert_eq!(store.expire(cutoffs(Ticks(0), end), 9).await.unwrap().total(), 0, "not before the cutoff");
    let after = cutoffs(Ticks(0), end.next());
    assert_eq!(
        [store.expire(after, 2).await.unwrap().logouts, store.expire(after, 2).await.unwrap().logouts],
        [2, 1]
    );
    assert_eq!(store.last_logout(&ClientId::new("erp")).await, Ok(None));
}
