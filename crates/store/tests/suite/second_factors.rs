//! Second factors: bounded, never accepted twice, and changed together with sessions, recovery codes and mails.

use std::sync::Arc;
use std::time::Duration;

use domain::recovery_codes::{RECOVERY_CODE_COUNT, RecoveryCode};
use domain::totp::TimeStep;
use domain::{AccountId, Guid, Realm, Secret, Ticks};
use store::{
    Account, AccountFactors, AuditQuery, FACTORS_MAX, FactorAddition, FactorEffects, FactorMethod,
    FactorRemoval, Mail, Passkey, PasskeyUse, PasskeyUseOutcome, RecoveryCodeNotice, RetentionCutoffs,
    SecondFactor, Session, SignInProof, Status, Store, StoreError, UsedChallenge,
};

use super::directory::user;
use super::fixture::{Fixture, by, concurrently};
use super::mails::mail;
use super::sessions::{session, sign_in_entry};

pub(crate) const TOTP_SECRET: &str = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

pub(crate) fn totp(number: u8, account: &str, now: Ticks) -> SecondFactor {
    SecondFactor {
        id: Guid::from_bytes([number; 16]),
        realm: Realm::Users,
        account: AccountId::new(account),
        name: format!("Teléfono «{number}»"),
        method: FactorMethod::Totp {
            secret: Secret::new(format!("{TOTP_SECRET}{number}")),
            last_used: TimeStep(100),
        },
        created_at: now,
        last_used_at: None,
    }
}

pub(crate) fn passkey(number: u8, account: &str, now: Ticks) -> SecondFactor {
    let key = Passkey { credential_id: vec![number; 40], credential: r#"{"ñ":1}"#.into(), sign_count: 7 };
    SecondFactor { method: FactorMethod::Passkey(key), ..totp(number, account, now) }
}

pub(crate) fn codes(fixture: &Fixture) -> [RecoveryCode; RECOVERY_CODE_COUNT] {
    RecoveryCode::generate(&*fixture.random)
}

fn challenge(text: &str, now: Ticks) -> UsedChallenge {
    UsedChallenge { challenge: Secret::new(text), expires_at: now + Duration::from_mins(10) }
}

#[allow(clippy::unnecessary_wraps, reason = "what the port returns")]
fn added(with_recovery_codes: bool) -> store::Result<FactorAddition> {
    Ok(FactorAddition::Added { with_recovery_codes })
}

/// Adds users with the given names.
async fn with_users(fixture: &Fixture, names: &[&str]) {
    for name in names {
        fixture.store.add_account(&user(fixture, name), &[], &by()).await.unwrap();
    }
}

async fn add(fixture: &Fixture, factor: &SecondFactor) -> store::Result<FactorAddition> {
    let codes = codes(fixture);
    fixture.store.add_second_factor(factor, &codes, None, &FactorEffects::default(), &by()).await
}

/// The kinds and accounts of all audit entries.
async fn audit_lines(store: &Arc<dyn Store>) -> Vec<String> {
    let query = AuditQuery { rows_max: 1000, ..AuditQuery::default() };
    let entries = store.audit(&query).await.unwrap().into_iter().map(|record| record.entry);
    let account = |user: Option<AccountId>| user.map_or_else(String::new, |user| user.to_string());
    entries.map(|entry| format!("{} {}", entry.kind.as_str(), account(entry.user))).collect()
}

async fn factors_of(fixture: &Fixture, account: &str) -> AccountFactors {
    fixture.store.second_factors(&AccountId::new(account)).await.unwrap()
}

pub(crate) async fn factors_are_stored_unchanged(fixture: Fixture) {
    let now = fixture.now();
    with_users(&fixture, &["maria", "jon"]).await;
    assert_eq!(factors_of(&fixture, "maria").await, AccountFactors::default());
    let (app, key) = (totp(2, "maria", now), passkey(1, "maria", now + Duration::from_secs(1)));
    assert_eq!(add(&fixture, &app).await, added(true));
    assert_eq!(add(&fixture, &key).await, added(false), "only the first factor comes with recovery codes");
    let reopened = fixture.reopen().await.store;
    let all = reopened.second_factors(&AccountId::new("maria")).await.unwrap();
    assert_eq!(all, AccountFactors { factors: vec![app, key.clone()], recovery_codes_left: 10 });
    assert_eq!((all.is_enrolled(), all.has_totp(), all.has_passkey()), (true, true, true));
    assert_eq!(factors_of(&fixture, "jon").await, AccountFactors::default());
    assert_eq!(add(&fixture, &totp(9, "nobody", now)).await, Ok(FactorAddition::NoAccount));
    let elsewhere = SecondFactor { realm: Realm::Operators, ..totp(9, "maria", now) };
    assert_eq!(add(&fixture, &elsewhere).await, Ok(FactorAddition::NoAccount), "of another realm");

    let find = |realm, number: u8| {
        let store = fixture.store.clone();
        async move { store.find_passkey(realm, &[number; 40]).await }
    };
    assert_eq!(find(Realm::Users, 1).await, Ok(Some(key)));
    assert_eq!(find(Realm::Users, 2).await, Ok(None));
    assert_eq!(find(Realm::Operators, 1).await, Ok(None), "a passkey belongs to its realm");
    let lines = audit_lines(&fixture.store).await;
    let mut kinds: Vec<&str> = lines.iter().filter_map(|line| line.split(' ').next()).collect();
    kinds.retain(|kind| *kind != "user_added");
    kinds.sort_unstable();
    assert_eq!(kinds, ["recovery_codes_made", "second_factor_added", "second_factor_added"]);
}

pub(crate) async fn secret_and_credential_are_added_once(fixture: Fixture) {
    let now = fixture.now();
    with_users(&fixture, &["maria", "jon"]).await;
    add(&fixture, &totp(1, "maria", now)).await.unwrap();
    add(&fixture, &passkey(2, "maria", now)).await.unwrap();
    let again = |factor: SecondFactor, id: u8| SecondFactor { id: Guid::from_bytes([id; 16]), ..factor };
    assert_eq!(add(&fixture, &again(totp(1, "maria", now), 8)).await, Ok(FactorAddition::Exists));
    assert_eq!(add(&fixture, &again(passkey(2, "jon", now), 8)).await, Ok(FactorAddition::Exists));
    assert_eq!(add(&fixture, &again(totp(1, "jon", now), 8)).await, added(true), "another account's secret");
    let operator = Account { realm: Realm::Operators, ..user(&fixture, "ana") };
    fixture.store.add_account(&operator, &[], &by()).await.unwrap();
    let in_realm = SecondFactor { realm: Realm::Operators, ..again(passkey(2, "ana", now), 9) };
    assert_eq!(add(&fixture, &in_realm).await, added(true), "credentials are unique per realm");
}

pub(crate) async fn concurrent_additions_stay_within_the_limit(fixture: Fixture) {
    let (now, count) = (fixture.now(), FACTORS_MAX + 4);
    with_users(&fixture, &["maria"]).await;
    let other = fixture.reopen().await.store;
    let all_codes: Vec<_> = (0..count).map(|_| codes(&fixture)).collect();
    let results = concurrently(count, &[&fixture.store, &other], |number, store| {
        let factor = totp(u8::try_from(number).unwrap(), "maria", now);
        let (codes, effects) = (all_codes[number].clone(), FactorEffects::default());
        async move { (number, store.add_second_factor(&factor, &codes, None, &effects, &by()).await) }
    })
    .await;
    let counted =
        |wanted: store::Result<FactorAddition>| results.iter().filter(|(_, one)| *one == wanted).count();
    assert_eq!(counted(added(true)), 1, "{results:?}");
    assert_eq!(counted(added(false)), FACTORS_MAX - 1);
    assert_eq!(counted(Ok(FactorAddition::TooMany)), 4);
    let all = factors_of(&fixture, "maria").await;
    assert_eq!((all.factors.len(), all.recovery_codes_left), (FACTORS_MAX, 10));
    let (first, _) = results.iter().find(|(_, one)| *one == added(true)).unwrap();
    let own = all_codes[*first][3].clone();
    let left = fixture.store.use_recovery_code(&AccountId::new("maria"), &own, None, &by()).await;
    assert_eq!(left, Ok(Some(9)), "the codes of the first factor count, and no others");
}

pub(crate) async fn concurrent_additions_of_one_secret_add_it_once(fixture: Fixture) {
    let now = fixture.now();
    with_users(&fixture, &["maria"]).await;
    let (other, codes) = (fixture.reopen().await.store, codes(&fixture));
    let results = concurrently(6, &[&fixture.store, &other], |number, store| {
        let id = Guid::from_bytes([u8::try_from(number).unwrap(); 16]);
        let (factor, codes) = (SecondFactor { id, ..passkey(99, "maria", now) }, codes.clone());
        async move { store.add_second_factor(&factor, &codes, None, &FactorEffects::default(), &by()).await }
    })
    .await;
    assert_eq!(results.iter().filter(|one| **one == added(true)).count(), 1, "{results:?}");
    assert_eq!(results.iter().filter(|one| **one == Ok(FactorAddition::Exists)).count(), 5);
}

pub(crate) async fn code_of_a_step_is_accepted_once(fixture: Fixture) {
    let (now, maria) = (fixture.now(), AccountId::new("maria"));
    with_users(&fixture, &["maria"]).await;
    let app = totp(1, "maria", now);
    add(&fixture, &app).await.unwrap();
    add(&fixture, &passkey(2, "maria", now)).await.unwrap();
    let used = |account: &str, id: Guid, step: i64| {
        let (store, account) = (fixture.store.clone(), AccountId::new(account));
        async move { store.use_totp(&account, id, TimeStep(step), now).await }
    };
    assert_eq!(used("maria", app.id, 100).await, Ok(false), "the step of the enrolment");
    assert_eq!(used("jon", app.id, 101).await, Ok(false), "another account");
    assert_eq!(used("maria", Guid::from_bytes([2; 16]), 101).await, Ok(false), "a passkey has no codes");
    let other = fixture.reopen().await.store;
    let results = concurrently(8, &[&fixture.store, &other], |_, store| {
        let (maria, id) = (maria.clone(), app.id);
        async move { store.use_totp(&maria, id, TimeStep(102), now).await.unwrap() }
    })
    .await;
    assert_eq!(results.iter().filter(|accepted| **accepted).count(), 1);
    for (step, is_accepted) in [(101, false), (102, false), (103, true)] {
        assert_eq!(used("maria", app.id, step).await, Ok(is_accepted), "{step}");
    }
    let factors = factors_of(&fixture, "maria").await.factors;
    let FactorMethod::Totp { last_used, .. } = &factors[0].method else { panic!("an app") };
    assert_eq!((*last_used, factors[0].last_used_at), (TimeStep(103), Some(now)));
}

pub(crate) async fn challenge_and_count_of_a_passkey_are_accepted_once(fixture: Fixture) {
    let (now, maria) = (fixture.now(), AccountId::new("maria"));
    with_users(&fixture, &["maria"]).await;
    let key = passkey(1, "maria", now);
    let codes = codes(&fixture);
    let (store, effects) = (&fixture.store, FactorEffects::default());
    let first = challenge("registration", now);
    assert_eq!(store.add_second_factor(&key, &codes, Some(&first), &effects, &by()).await, added(true));
    let again =
        store.add_second_factor(&passkey(2, "maria", now), &codes, Some(&first), &effects, &by()).await;
    assert_eq!(again, Ok(FactorAddition::ChallengeUsed));

    let usage =
        |text: &str, sign_count| PasskeyUse { factor: key.id, challenge: challenge(text, now), sign_count };
    let other = fixture.reopen().await.store;
    let results = concurrently(8, &[store, &other], |_, store| {
        let (maria, usage) = (maria.clone(), usage("one", 8));
        async move { store.use_passkey(&maria, &usage, now).await.unwrap() }
    })
    .await;
    assert_eq!(results.iter().filter(|one| **one == PasskeyUseOutcome::Used).count(), 1, "{results:?}");
    assert_eq!(results.iter().filter(|one| **one == PasskeyUseOutcome::ChallengeUsed).count(), 7);
    for (text, count, outcome) in [
        ("two", 8, PasskeyUseOutcome::StaleCount),
        ("two", 9, PasskeyUseOutcome::ChallengeUsed),
        ("three", 9, PasskeyUseOutcome::Used),
        ("registration", 10, PasskeyUseOutcome::ChallengeUsed),
    ] {
        assert_eq!(store.use_passkey(&maria, &usage(text, count), now).await, Ok(outcome), "{text} {count}");
    }
    let jon = AccountId::new("jon");
    assert_eq!(store.use_passkey(&jon, &usage("four", 10), now).await, Ok(PasskeyUseOutcome::NotFound));
    let cutoffs = |now| RetentionCutoffs {
        now,
        processes: Ticks(0),
        audit: Ticks(0),
        calls: Ticks(0),
        reads: Ticks(0),
        deliveries: Ticks(0),
        mails: Ticks(0),
    };
    assert_eq!(store.expire(cutoffs(now), 10).await.map(|rows| rows.used_challenges), Ok(0));
    let later = now + Duration::from_mins(11);
    assert_eq!(store.expire(cutoffs(later), 10).await.map(|rows| rows.used_challenges), Ok(4));
}

pub(crate) async fn recovery_code_is_used_once(fixture: Fixture) {
    let (now, maria) = (fixture.now(), AccountId::new("maria"));
    with_users(&fixture, &["maria", "jon"]).await;
    let (store, codes, new) = (&fixture.store, codes(&fixture), codes(&fixture));
    assert_eq!(
        store.set_recovery_codes(&maria, &codes, &FactorEffects::default(), &by()).await,
        Ok(false),
        "without a second factor"
    );
    let effects = FactorEffects::default();
    store.add_second_factor(&totp(1, "maria", now), &codes, None, &effects, &by()).await.unwrap();
    assert_eq!(store.use_recovery_code(&AccountId::new("jon"), &codes[0], None, &by()).await, Ok(None));
    let other = fixture.reopen().await.store;
    let results = concurrently(6, &[store, &other], |_, store| {
        let (maria, code) = (maria.clone(), codes[0].clone());
        async move { store.use_recovery_code(&maria, &code, None, &by()).await.unwrap() }
    })
    .await;
    assert_eq!(results.iter().filter(|one| **one == Some(9)).count(), 1, "{results:?}");
    assert_eq!(results.iter().flatten().count(), 1);
    assert_eq!(store.set_recovery_codes(&maria, &new, &effects, &by()).await, Ok(true));
    assert_eq!(store.use_recovery_code(&maria, &codes[1], None, &by()).await, Ok(None), "replaced");
    assert_eq!(store.use_recovery_code(&maria, &new[1], None, &by()).await, Ok(Some(9)));
    assert_eq!(store.waiting_mails(now).await, Ok(0));
    let lines = audit_lines(store).await;
    let count = |kind: &str| lines.iter().filter(|line| line.starts_with(kind)).count();
    assert_eq!((count("recovery_code_used maria"), count("recovery_codes_made maria")), (2, 2), "{lines:?}");
}

/// The mail says how many codes are left when the code is used, also where others are used at the same time.
pub(crate) async fn used_recovery_code_is_mailed(fixture: Fixture) {
    let (now, maria) = (fixture.now(), AccountId::new("maria"));
    with_users(&fixture, &["maria"]).await;
    let codes = codes(&fixture);
    let effects = FactorEffects::default();
    fixture.store.add_second_factor(&totp(1, "maria", now), &codes, None, &effects, &by()).await.unwrap();
    let notice = RecoveryCodeNotice::new(move |left| Mail {
        kind: format!("{left} left"),
        ..mail(u8::try_from(left).unwrap(), now)
    });
    let other = fixture.reopen().await.store;
    let results = concurrently(6, &[&fixture.store, &other], |number, store| {
        // Each of three codes comes twice.
        let (maria, code, notice) = (maria.clone(), codes[number / 2].clone(), notice.clone());
        async move { store.use_recovery_code(&maria, &code, Some(&notice), &by()).await.unwrap() }
    })
    .await;
    let mut left: Vec<u64> = results.into_iter().flatten().collect();
    left.sort_unstable();
    assert_eq!(left, [7, 8, 9]);
    let due = fixture.store.due_mails(now, Duration::from_secs(60), 10).await.unwrap();
    let mut kinds: Vec<String> = due.into_iter().map(|one| one.mail.kind).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["7 left", "8 left", "9 left"], "a refused code tells nobody");
}

/// Starts three sessions of one account, with the ids 1 to 3.
async fn with_sessions(fixture: &Fixture, account: &str) {
    for number in 1..=3_u8 {
        let id = Guid::from_bytes([number; 16]);
        let (cookie, entry) =
            (Secret::new(format!("{account}-{number}")), sign_in_entry(account, fixture.now()));
        let one = Session { id, ..session(account, fixture.now()) };
        fixture.store.begin_session(&cookie, &one, None, None, &entry).await.unwrap();
    }
}

async fn sessions_of(fixture: &Fixture, account: &str) -> Vec<(u8, String)> {
    let all = fixture.store.list_sessions(&AccountId::new(account), fixture.now()).await.unwrap();
    let mut all: Vec<_> = all.into_iter().map(|one| (one.id.as_bytes()[0], one.methods)).collect();
    all.sort();
    all
}

pub(crate) async fn changes_end_other_sessions_and_mail_the_person(fixture: Fixture) {
    let (now, maria) = (fixture.now(), AccountId::new("maria"));
    with_users(&fixture, &["maria", "jon"]).await;
    with_sessions(&fixture, "maria").await;
    with_sessions(&fixture, "jon").await;
    let kept_session = Some(Guid::from_bytes([2; 16]));
    let effects = |number| FactorEffects { kept_session, mail: Some(mail(number, now)) };
    let (store, codes) = (&fixture.store, codes(&fixture));
    let app = totp(1, "maria", now);
    store.add_second_factor(&app, &codes, None, &effects(1), &by()).await.unwrap();
    assert_eq!(sessions_of(&fixture, "maria").await, [(2, "password 2fa".to_owned())]);
    assert_eq!(sessions_of(&fixture, "jon").await.len(), 3);
    assert_eq!(store.waiting_mails(now).await, Ok(1));
    let refused = store.add_second_factor(&app, &codes, None, &effects(2), &by()).await;
    assert_eq!(refused, Ok(FactorAddition::Exists));
    assert_eq!(store.waiting_mails(now).await, Ok(1), "a refused addition tells nobody");

    store.add_second_factor(&passkey(2, "maria", now), &codes, None, &effects(3), &by()).await.unwrap();
    assert_eq!(store.rename_second_factor(&maria, app.id, "Móvil", &by()).await, Ok(true));
    assert_eq!(store.rename_second_factor(&AccountId::new("jon"), app.id, "x", &by()).await, Ok(false));
    assert_eq!(factors_of(&fixture, "maria").await.factors[0].name, "Móvil");
    let not_own = store.remove_second_factor(&AccountId::new("jon"), app.id, &effects(4), &by()).await;
    assert_eq!(not_own, Ok(FactorRemoval::NotFound));
    let removed = store.remove_second_factor(&maria, app.id, &effects(5), &by()).await;
    assert_eq!(removed, Ok(FactorRemoval::Removed { was_last: false }));
    assert_eq!(factors_of(&fixture, "maria").await.recovery_codes_left, 10);
    let last = store.remove_second_factor(&maria, Guid::from_bytes([2; 16]), &effects(6), &by()).await;
    assert_eq!(last, Ok(FactorRemoval::Removed { was_last: true }));
    assert_eq!(
        store.use_recovery_code(&maria, &codes[0], None, &by()).await,
        Ok(None),
        "gone with the last factor"
    );
    assert_eq!(store.waiting_mails(now).await, Ok(4));
}

pub(crate) async fn reset_removes_everything_and_ends_all_sessions(fixture: Fixture) {
    let (now, maria) = (fixture.now(), AccountId::new("maria"));
    with_users(&fixture, &["maria", "jon"]).await;
    let (store, effects) = (&fixture.store, FactorEffects { mail: Some(mail(1, now)), ..Default::default() });
    assert_eq!(store.reset_second_factors(&maria, &effects, &by()).await, Ok(0));
    assert_eq!(store.waiting_mails(now).await, Ok(0), "there was nothing to reset");
    add(&fixture, &totp(1, "maria", now)).await.unwrap();
    add(&fixture, &passkey(2, "maria", now)).await.unwrap();
    add(&fixture, &totp(3, "jon", now)).await.unwrap();
    with_sessions(&fixture, "maria").await;
    assert_eq!(store.reset_second_factors(&maria, &effects, &by()).await, Ok(2));
    assert_eq!(factors_of(&fixture, "maria").await, AccountFactors::default());
    assert_eq!(sessions_of(&fixture, "maria").await, []);
    assert_eq!(store.waiting_mails(now).await, Ok(1));
    assert_eq!(factors_of(&fixture, "jon").await.recovery_codes_left, 10);
    assert_eq!(store.find_passkey(Realm::Users, &[2; 40]).await, Ok(None));
    let lines = audit_lines(store).await;
    assert_eq!(lines.iter().filter(|line| *line == "second_factor_reset maria").count(), 1, "{lines:?}");
}

pub(crate) async fn session_without_the_second_factor_does_not_begin(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    with_users(&fixture, &["maria", "jon"]).await;
    add(&fixture, &totp(1, "maria", now)).await.unwrap();
    let begin = |account: &'static str, methods: &str| {
        let one = Session { methods: methods.into(), ..session(account, now) };
        let (store, cookie) = (store.clone(), Secret::new(format!("{account} {methods}")));
        async move { store.begin_session(&cookie, &one, None, None, &sign_in_entry(account, now)).await }
    };
    assert_eq!(begin("maria", "password").await, Err(StoreError::SecondFactorNeeded));
    assert_eq!(begin("maria", "password 2fa").await, Ok(()));
    assert_eq!(begin("jon", "password").await, Ok(()));
    assert_eq!(sessions_of(&fixture, "maria").await, [(7, "password 2fa".to_owned())]);
    let signed_in = audit_lines(store).await.iter().filter(|line| *line == "signed_in maria").count();
    assert_eq!(signed_in, 1, "a refused session has no entry");
}

/// The password is verified before the factor is added, and the session begins during the addition.
pub(crate) async fn concurrent_enrolment_leaves_no_session_without_the_factor(fixture: Fixture) {
    let now = fixture.now();
    with_users(&fixture, &["maria"]).await;
    let (other, codes) = (fixture.reopen().await.store, codes(&fixture));
    concurrently(12, &[&fixture.store, &other], |number, store| {
        let (factor, codes) = (totp(1, "maria", now), codes.clone());
        let one = Session {
            id: Guid::from_bytes([u8::try_from(number).unwrap(); 16]),
            methods: "password".into(),
            ..session("maria", now)
        };
        let cookie = Secret::new(format!("cookie-{number}"));
        async move {
            if number == 5 {
                let effects = FactorEffects::default();
                store.add_second_factor(&factor, &codes, None, &effects, &by()).await.unwrap();
            } else {
                let begun =
                    store.begin_session(&cookie, &one, None, None, &sign_in_entry("maria", now)).await;
                assert!(matches!(begun, Ok(()) | Err(StoreError::SecondFactorNeeded)), "{begun:?}");
            }
        }
    })
    .await;
    assert_eq!(sessions_of(&fixture, "maria").await, []);
}

/// A request of a session that ended meanwhile, or that has only the password of an account with a second factor.
pub(crate) async fn void_session_changes_no_factor(fixture: Fixture) {
    let (now, maria) = (fixture.now(), AccountId::new("maria"));
    with_users(&fixture, &["maria"]).await;
    let (store, codes) = (&fixture.store, codes(&fixture));
    let by_session =
        |number: u8| FactorEffects { kept_session: Some(Guid::from_bytes([number; 16])), mail: None };
    let begin = async |number: u8, methods: &str| {
        let id = Guid::from_bytes([number; 16]);
        let one = Session { id, methods: methods.into(), ..session("maria", now) };
        let (cookie, entry) = (Secret::new(format!("cookie-{number}")), sign_in_entry("maria", now));
        store.begin_session(&cookie, &one, None, None, &entry).await.unwrap();
    };
    begin(1, "password").await;
    begin(2, "password").await;
    let ended = store.add_second_factor(&totp(9, "maria", now), &codes, None, &by_session(9), &by()).await;
    assert_eq!(ended, Ok(FactorAddition::SessionVoid));
    let app = totp(1, "maria", now);
    let first = store.add_second_factor(&app, &codes, None, &by_session(1), &by()).await;
    assert_eq!(first, added(true));
    assert_eq!(sessions_of(&fixture, "maria").await, [(1, "password 2fa".to_owned())]);
    // The other session had asked at the same time.
    let second = store.add_second_factor(&totp(2, "maria", now), &codes, None, &by_session(2), &by()).await;
    assert_eq!(second, Ok(FactorAddition::SessionVoid));
    let removal = store.remove_second_factor(&maria, app.id, &by_session(2), &by()).await;
    assert_eq!(removal, Ok(FactorRemoval::SessionVoid));
    assert_eq!(store.set_recovery_codes(&maria, &codes, &by_session(2), &by()).await, Ok(false));
    assert_eq!(store.set_recovery_codes(&maria, &codes, &by_session(1), &by()).await, Ok(true));
    let removal = store.remove_second_factor(&maria, app.id, &by_session(1), &by()).await;
    assert_eq!(removal, Ok(FactorRemoval::Removed { was_last: true }));
    assert_eq!(sessions_of(&fixture, "maria").await, [(1, "password".to_owned())]);
}

pub(crate) async fn session_begins_only_while_its_proof_holds(fixture: Fixture) {
    let (now, store) = (fixture.now(), &fixture.store);
    with_users(&fixture, &["maria"]).await;
    let maria = user(&fixture, "maria");
    let key = passkey(2, "maria", now);
    let begin = async |number: u8, proof: &SignInProof| {
        let one = Session { methods: "passkey 2fa".into(), ..session("maria", now) };
        let (cookie, entry) = (Secret::new(format!("proof-{number}")), sign_in_entry("maria", now));
        store.begin_session(&cookie, &one, None, Some(proof), &entry).await
    };
    let (password, passkey) =
        (SignInProof::Password(maria.password_hash.clone()), SignInProof::Passkey(key.id));
    let void = Err(StoreError::ProofVoid);
    assert_eq!(begin(1, &passkey).await, void, "the passkey is not there yet");
    add(&fixture, &key).await.unwrap();
    assert_eq!(begin(2, &passkey).await, Ok(()));
    assert_eq!(begin(3, &password).await, Ok(()));
    store.set_account_status(&maria.id, Status::Disabled, &by()).await.unwrap();
    assert_eq!((begin(4, &password).await, begin(5, &passkey).await), (void.clone(), void.clone()));
    store.set_account_status(&maria.id, Status::Active, &by()).await.unwrap();
    store.set_password_hash(&maria.id, "$argon2id$new", &by()).await.unwrap();
    assert_eq!(begin(6, &password).await, void, "the password was changed since it was verified");
    store.reset_second_factors(&maria.id, &FactorEffects::default(), &by()).await.unwrap();
    assert_eq!(begin(7, &passkey).await, void, "the passkey was removed since it signed");
}
