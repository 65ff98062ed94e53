//! Notices to teams: one for each fact, by whatever node; who reads them and gets mails; and how long they are kept.

use std::time::Duration;

use domain::{AccountId, ClientId, Guid, NoticeKind, NoticeKinds, NoticeObject, RequestId, Secret, TeamId};
use store::{
    AskOutcome, AuditQuery, CheckpointResult, Client, ClientSecret, DecisionOutcome, FAILING_AFTER,
    FAILING_PAUSE, KeySlot, MemberStep, NOTICES_MAX, Notice, NoticeQuery, RequestDecision, Status,
    Subscription, SuspensionStep, TeamRole, UNREAD_NOTICES_MAX, Webhook, WebhookChange, WebhookFailure,
};

use super::clients::{client, subscription};
use super::fixture::{Fixture, by, concurrently};
use super::mails::mail;
use super::maintenance::cutoffs_at;
use super::requests::{approval, new_client, request};
use super::teams::{add_developer, add_team, member_change};
use super::webhook_fixtures::{
    active_webhook, create_webhook, guid, lane, new_checkpoint, new_webhook_of, retry, write_checkpoint,
};

const ALL: NoticeQuery = NoticeQuery { before: None, rows_max: NOTICES_MAX };
const HOUR: Duration = Duration::from_hours(1);

fn panel() -> TeamId {
    TeamId::new("panel")
}

/// The team `panel` of `ana`, which owns the client `erp`.
async fn add_panel(fixture: &Fixture) {
    add_team(fixture, "panel", "ana").await;
    let erp = Client { team: Some(panel()), ..client(fixture, "erp") };
    fixture.store.add_client(&erp, &Secret::new("secret"), &by()).await.unwrap();
}

async fn notices(fixture: &Fixture) -> Vec<Notice> {
    fixture.store.list_notices(&panel(), &ALL).await.unwrap().rows
}

async fn kinds(fixture: &Fixture) -> Vec<NoticeKind> {
    notices(fixture).await.into_iter().map(|notice| notice.kind).collect()
}

/// Asks for a client, and refuses it: one notice.
async fn refuse(fixture: &Fixture, id: &str) {
    let asked = fixture.store.add_request(&request(fixture, id, new_client()), &by()).await;
    assert_eq!(asked, Ok(AskOutcome::Asked));
    decide(fixture, id, &RequestDecision::Refuse { reason: "sin «contrato»".into() }).await;
}

async fn decide(fixture: &Fixture, id: &str, decision: &RequestDecision) {
    let outcome = fixture.store.decide_request(&RequestId::new(id), decision, None, &by()).await.unwrap();
    assert!(matches!(outcome, DecisionOutcome::Decided(_)), "{outcome:?}");
}

pub(crate) async fn decision_of_somebody_else_is_a_notice(fixture: Fixture) {
    let store = &fixture.store;
    add_panel(&fixture).await;
    refuse(&fixture, "r1").await;
    let at = fixture.now();
    let listed = notices(&fixture).await;
    let expected = Notice {
        id: listed[0].id,
        team: panel(),
        kind: NoticeKind::RequestRefused,
        object: NoticeObject::Client,
        subject: "r1".into(),
        name: "Panel de ventas".into(),
        detail: "sin «contrato»".into(),
        since: at,
        at,
    };
    assert_eq!(listed, [expected]);
    fixture.clock.advance(HOUR);
    let RequestDecision::Approve(approved) = approval(7) else { panic!() };
    let automatic = store::Approval { is_automatic: true, id: guid(8), ..approved.clone() };
    let by_nobody = [RequestDecision::Withdraw, RequestDecision::Approve(automatic)];
    for (id, decision) in ["r2", "r3"].into_iter().zip(by_nobody) {
        let asked = store.add_request(&request(&fixture, id, new_client()), &by()).await;
        assert_eq!(asked, Ok(AskOutcome::Asked));
        decide(&fixture, id, &decision).await;
    }
    assert_eq!(notices(&fixture).await.len(), 1, "nobody else decided");
    let asked = store.add_request(&request(&fixture, "r4", new_client()), &by()).await;
    assert_eq!(asked, Ok(AskOutcome::Asked));
    decide(&fixture, "r4", &RequestDecision::Approve(approved)).await;
    let listed = notices(&fixture).await;
    assert_eq!((listed[0].kind, listed[0].subject.as_str()), (NoticeKind::RequestApproved, "r4"));
    assert_eq!(
        notices(&fixture).await,
        fixture.reopen().await.store.list_notices(&panel(), &ALL).await.unwrap().rows
    );
}

pub(crate) async fn checkpoint_tells_the_team_what_the_service_did(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    add_panel(&fixture).await;
    let webhook = active_webhook(&fixture, &tenant, "a").await;
    let since = fixture.now();
    let mut suspend = new_checkpoint(store, &webhook).await;
    suspend.suspension = Some(SuspensionStep::Suspended { at: since });
    fixture.clock.advance(HOUR);
    write_checkpoint(store, suspend.clone()).await;
    write_checkpoint(store, suspend.clone()).await;
    let listed = notices(&fixture).await;
    assert_eq!(listed.len(), 1, "the same fact: {listed:?}");
    let Notice { kind, object, subject, name, detail, since: began, at, .. } = &listed[0];
    assert_eq!((*kind, *object), (NoticeKind::WebhookSuspended, NoticeObject::Webhook));
    assert_eq!((subject, name.as_str(), detail.as_str()), (&webhook.id.to_string(), "a", ""));
    assert_eq!((*began, *at), (since, fixture.now()));

    fixture.clock.advance(HOUR);
    let mut resume = new_checkpoint(store, &webhook).await;
    resume.suspension = Some(SuspensionStep::Resumed);
    write_checkpoint(store, resume).await;
    let mut disable = new_checkpoint(store, &webhook).await;
    disable.disabled = Some("no delivery succeeded for 24 h".into());
    write_checkpoint(store, disable).await;
    let listed = notices(&fixture).await;
    assert_eq!((listed[0].kind, listed.len()), (NoticeKind::WebhookDisabled, 2));
    assert_eq!(
        (listed[0].detail.as_str(), listed[0].since),
        ("no delivery succeeded for 24 h", fixture.now())
    );

    // Of a client without a team nobody is told; nor of a checkpoint that is refused.
    let own = store::WebhookOwner { client: ClientId::new("own"), ..webhook.owner.clone() };
    store.add_client(&client(&fixture, "own"), &Secret::new("secret"), &by()).await.unwrap();
    let other = create_webhook(store, new_webhook_of(&fixture, own, "own")).await;
    let mut disable = new_checkpoint(store, &other).await;
    disable.disabled = Some("why".into());
    write_checkpoint(store, disable).await;
    let third = active_webhook(&fixture, &tenant, "third").await;
    let mut stale = new_checkpoint(store, &third).await;
    stale.disabled = Some("why".into());
    stale.fence -= 1;
    assert_eq!(store.checkpoint(vec![stale]).await, Ok(vec![CheckpointResult::Fenced]));
    assert_eq!(notices(&fixture).await.len(), 2);
}

/// Parks a record that fails since now.
async fn fail(fixture: &Fixture, webhook: &Webhook, record_key: i64) {
    let mut failed = new_checkpoint(&fixture.store, webhook).await;
    failed.parked = vec![lane(record_key, 2, fixture.now())];
    write_checkpoint(&fixture.store, failed).await;
}

pub(crate) async fn webhook_that_fails_for_an_hour_is_one_notice(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    add_panel(&fixture).await;
    let webhook = active_webhook(&fixture, &tenant, "a").await;
    let began = fixture.now();
    fail(&fixture, &webhook, 1).await;
    fixture.clock.advance(FAILING_AFTER.saturating_sub(Duration::from_secs(1)));
    assert_eq!(store.add_failing_notice(webhook.id, fixture.now()).await, Ok(false), "not for an hour yet");
    fixture.clock.advance(Duration::from_secs(1));
    let (now, other) = (fixture.now(), fixture.reopen().await.store);
    let id = webhook.id;
    let added = concurrently(8, &[store, &other], |_, store| async move {
        store.add_failing_notice(id, now).await.unwrap()
    })
    .await;
    assert_eq!(added.into_iter().filter(|added| *added).count(), 1, "one node adds it");
    let listed = notices(&fixture).await;
    assert_eq!((listed.len(), listed[0].kind, listed[0].since), (1, NoticeKind::WebhookFailing, began));

    // The same failure, days later; then another one, which is worth a notice after a day without.
    fixture.clock.advance(FAILING_PAUSE * 3);
    assert_eq!(store.add_failing_notice(webhook.id, fixture.now()).await, Ok(false));
    let mut cleared = new_checkpoint(store, &webhook).await;
    cleared.cleared = vec![1];
    write_checkpoint(store, cleared).await;
    assert_eq!(store.add_failing_notice(webhook.id, fixture.now()).await, Ok(false), "nothing fails");
    fail(&fixture, &webhook, 2).await;
    fixture.clock.advance(HOUR);
    assert_eq!(store.add_failing_notice(webhook.id, fixture.now()).await, Ok(true));
    assert_eq!(notices(&fixture).await.len(), 2);
}

pub(crate) async fn webhook_that_is_not_active_does_not_fail(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    add_panel(&fixture).await;
    let mut webhooks = Vec::new();
    for name in ["waiting", "suspended", "disabled", "paused"] {
        let webhook = active_webhook(&fixture, &tenant, name).await;
        let mut state = new_checkpoint(store, &webhook).await;
        state.parked = vec![lane(1, 2, fixture.now())];
        match name {
            "waiting" => state.parked[0].retry = retry(0, fixture.now()),
            "suspended" => state.suspension = Some(SuspensionStep::Suspended { at: fixture.now() }),
            "disabled" => state.disabled = Some("why".into()),
            _ => {}
        }
        write_checkpoint(store, state).await;
        if name == "paused" {
            store.change_webhook(webhook.id, None, WebhookChange::Disable, &by()).await.unwrap();
        }
        webhooks.push(webhook);
    }
    fixture.clock.advance(HOUR * 2);
    for webhook in &webhooks {
        assert_eq!(store.add_failing_notice(webhook.id, fixture.now()).await, Ok(false), "{}", webhook.name);
    }
    assert_eq!(store.add_failing_notice(Guid::from_bytes([9; 16]), fixture.now()).await, Ok(false));
    assert_eq!(kinds(&fixture).await.len(), 2);
}

pub(crate) async fn failures_are_listed_by_their_beginning(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let (a, b) = (active_webhook(&fixture, &tenant, "a").await, active_webhook(&fixture, &tenant, "b").await);
    let mut expected = Vec::new();
    for webhook in [&b, &a] {
        let first_failed_at = fixture.now();
        for record_key in 1..=3 {
            fail(&fixture, webhook, record_key).await;
        }
        expected.push(WebhookFailure { first_failed_at, webhook: webhook.id });
        fixture.clock.advance(HOUR);
    }
    let list = async |after, until, rows_max| store.failing_webhooks(after, until, rows_max).await.unwrap();
    let (start, now) = (WebhookFailure::default(), fixture.now());
    assert_eq!(list(start, now, 10).await, expected, "each once");
    assert_eq!(list(start, now, 1).await, expected[..1]);
    assert_eq!(list(expected[0], now, 10).await, expected[1..]);
    assert_eq!(list(start, now.minus(HOUR * 2), 10).await, expected[..1]);
    assert_eq!(list(expected[1], now, 10).await, []);
}

pub(crate) async fn keys_and_secrets_that_end_are_notices(fixture: Fixture) {
    let store = &fixture.store;
    add_panel(&fixture).await;
    let [a, b, c, d] = ["key-a", "key-b", "key-c", "key-d"].map(Secret::new);
    let of_team = Subscription { team: Some(panel()), ..subscription(&fixture, "s1") };
    store.add_subscription(&of_team, &a, &b, &by()).await.unwrap();
    store.add_subscription(&subscription(&fixture, "s2"), &c, &d, &by()).await.unwrap();
    let ends = fixture.now() + HOUR * 48;
    for (one, key) in [("s1", "key-e"), ("s2", "key-f")] {
        let (id, key) = (domain::ids::SubscriptionId::new(one), Secret::new(key));
        assert_eq!(store.rotate_key(&id, KeySlot::Secondary, &key, ends, &by()).await, Ok(true));
    }
    let secret = ClientSecret { secret: Secret::new("new"), previous_valid_until: ends + HOUR };
    store.set_client_secret(&ClientId::new("erp"), &secret, &by()).await.unwrap();
    assert_eq!(store.add_ending_notices(fixture.now(), 10).await, Ok(0), "not within a day");
    fixture.clock.advance(HOUR * 24);
    let (now, other) = (fixture.now(), fixture.reopen().await.store);
    let added = concurrently(6, &[store, &other], |_, store| async move {
        store.add_ending_notices(now, 10).await.unwrap()
    })
    .await;
    assert_eq!(added.iter().sum::<usize>(), 1);
    fixture.clock.advance(HOUR);
    assert_eq!(store.add_ending_notices(fixture.now(), 10).await, Ok(1));
    let listed = notices(&fixture).await;
    let shown = |one: &Notice| (one.kind, one.subject.clone(), one.detail.clone(), one.since);
    let expected = [
        (NoticeKind::ClientSecretEnds, "erp".into(), String::new(), ends + HOUR),
        (NoticeKind::KeyEnds, "s1".into(), "secondary".into(), ends),
    ];
    assert_eq!(listed.iter().map(shown).collect::<Vec<_>>(), expected);
    fixture.clock.advance(HOUR * 72);
    assert_eq!(store.add_ending_notices(fixture.now(), 10).await, Ok(0), "they have ended");
}

pub(crate) async fn member_reads_and_chooses(fixture: Fixture) {
    let (store, ana, leo) = (&fixture.store, AccountId::new("ana"), AccountId::new("leo"));
    add_panel(&fixture).await;
    fixture.clock.advance(HOUR);
    refuse(&fixture, "r1").await;
    let first = fixture.now();
    fixture.clock.advance(HOUR);
    add_developer(&fixture, "leo").await;
    let join = member_change("panel", "leo", MemberStep::Add(TeamRole::Member));
    let _ = store.change_team_member(&join, &by()).await.unwrap();
    assert_eq!(store.unread_notices(&panel(), &ana).await, Ok(1));
    assert_eq!(store.unread_notices(&panel(), &leo).await, Ok(0), "from before they joined");
    fixture.clock.advance(HOUR);
    refuse(&fixture, "r2").await;
    assert_eq!(store.unread_notices(&panel(), &leo).await, Ok(1));
    assert_eq!(store.mark_notices_read(&panel(), &ana, first).await, Ok(true));
    assert_eq!(store.unread_notices(&panel(), &ana).await, Ok(1));
    assert_eq!(store.mark_notices_read(&panel(), &ana, fixture.now()).await, Ok(true));
    assert_eq!(store.mark_notices_read(&panel(), &ana, first).await, Ok(true), "never backwards");
    assert_eq!(store.unread_notices(&panel(), &ana).await, Ok(0));

    let settings = store.notice_settings(&panel(), &ana).await.unwrap().unwrap();
    assert_eq!((settings.mailed, settings.read_at), (NoticeKinds::all(), fixture.now()));
    let some: NoticeKinds = [NoticeKind::KeyEnds].into_iter().collect();
    for _ in 0..2 {
        assert_eq!(store.set_notice_preferences(&panel(), &ana, some, &by()).await, Ok(true));
    }
    assert_eq!(store.notice_settings(&panel(), &ana).await.unwrap().unwrap().mailed, some);
    let query = AuditQuery { rows_max: 1000, ..AuditQuery::default() };
    let audit = store.audit(&query).await.unwrap();
    let changes = audit.iter().filter(|one| one.entry.kind.as_str() == "notice_preferences_changed");
    assert_eq!(changes.count(), 1, "the second changed nothing");

    let nobody = AccountId::new("nobody");
    assert_eq!(store.unread_notices(&panel(), &nobody).await, Ok(0));
    assert_eq!(store.notice_settings(&panel(), &nobody).await, Ok(None));
    assert_eq!(store.mark_notices_read(&panel(), &nobody, first).await, Ok(false));
    assert_eq!(store.set_notice_preferences(&panel(), &nobody, some, &by()).await, Ok(false));
    // Who leaves and comes back begins anew.
    for (id, step) in [
        ("leo", MemberStep::SetRole(TeamRole::Owner)),
        ("ana", MemberStep::Remove),
        ("ana", MemberStep::Add(TeamRole::Member)),
    ] {
        let _ = store.change_team_member(&member_change("panel", id, step), &by()).await.unwrap();
    }
    let settings = store.notice_settings(&panel(), &ana).await.unwrap().unwrap();
    assert_eq!((settings.mailed, settings.read_at), (NoticeKinds::all(), fixture.now()));
}

pub(crate) async fn mails_are_queued_once_for_active_members(fixture: Fixture) {
    let store = &fixture.store;
    add_panel(&fixture).await;
    add_developer(&fixture, "leo").await;
    add_developer(&fixture, "gone").await;
    for id in ["leo", "gone"] {
        let join = member_change("panel", id, MemberStep::Add(TeamRole::Member));
        let _ = store.change_team_member(&join, &by()).await.unwrap();
    }
    store.set_account_status(&AccountId::new("gone"), Status::Disabled, &by()).await.unwrap();
    let muted = [NoticeKind::RequestRefused].into_iter().collect::<NoticeKinds>().others();
    store.set_notice_preferences(&panel(), &AccountId::new("leo"), muted, &by()).await.unwrap();
    let readers = store.notice_readers(&panel()).await.unwrap();
    let shown: Vec<_> = readers.iter().map(|one| (one.account.as_str(), one.mailed)).collect();
    assert_eq!(shown, [("ana", NoticeKinds::all()), ("leo", muted)]);
    let account = store.find_account(&AccountId::new("ana")).await.unwrap().unwrap();
    assert_eq!(
        (&readers[0].email, &readers[0].given_name, &readers[0].lang),
        (&account.email, &account.given_name, &account.lang)
    );

    refuse(&fixture, "r1").await;
    refuse(&fixture, "r2").await;
    let unmailed = store.unmailed_notices(10).await.unwrap();
    assert_eq!(unmailed.len(), 2);
    let ids: Vec<Guid> = unmailed.iter().map(|one| one.id).collect();
    let (now, other) = (fixture.now(), fixture.reopen().await.store);
    let queued = concurrently(6, &[store, &other], |number, store| {
        let (ids, mail) = (ids.clone(), mail(u8::try_from(number).unwrap(), now));
        async move { store.queue_notice_mails(&panel(), &ids, &[mail], now).await.unwrap() }
    })
    .await;
    assert_eq!(queued.into_iter().filter(|queued| *queued).count(), 1);
    assert_eq!(store.waiting_mails(now).await, Ok(1), "the others queued nothing");
    assert_eq!(store.unmailed_notices(10).await, Ok(Vec::new()));
    refuse(&fixture, "r3").await;
    let new = store.unmailed_notices(10).await.unwrap();
    let mixed = [ids[0], new[0].id];
    assert_eq!(store.queue_notice_mails(&panel(), &mixed, &[mail(9, now)], now).await, Ok(false));
    assert_eq!(store.unmailed_notices(10).await.unwrap(), new, "all or none");
}

pub(crate) async fn list_is_paged_and_bounded(fixture: Fixture) {
    let store = &fixture.store;
    add_panel(&fixture).await;
    let total = NOTICES_MAX + 3;
    for number in 0..total {
        // Two at a time have the same time.
        if number % 2 == 0 {
            fixture.clock.advance(Duration::from_secs(1));
        }
        refuse(&fixture, &format!("r{number}")).await;
    }
    assert_eq!(store.unread_notices(&panel(), &AccountId::new("ana")).await, Ok(UNREAD_NOTICES_MAX));
    let ids: Vec<Guid> = store.unmailed_notices(9999).await.unwrap().iter().map(|one| one.id).collect();
    assert_eq!(ids.len(), total);
    assert_eq!(store.queue_notice_mails(&panel(), &ids, &[], fixture.now()).await, Ok(true));
    let all = notices(&fixture).await;
    assert_eq!(all.len(), NOTICES_MAX, "the oldest made room");
    let (mut paged, mut before) = (Vec::new(), None);
    loop {
        let page = store.list_notices(&panel(), &NoticeQuery { before, rows_max: 99 }).await.unwrap();
        paged.extend(page.rows);
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(paged, all);
    assert!(all.windows(2).all(|pair| pair[0].cursor() > pair[1].cursor()), "newest first");
    assert_eq!(store.list_notices(&TeamId::new("z"), &ALL).await.unwrap().rows, []);
    let day = HOUR * 24;
    let expired = |now| store.expire(cutoffs_at(now), 1000);
    assert_eq!(expired(all[NOTICES_MAX - 1].at + day * 90).await.unwrap().notices, 0);
    let deleted = expired(fixture.now() + day * 90 + HOUR).await.unwrap();
    assert_eq!((deleted.notices, notices(&fixture).await.len()), (NOTICES_MAX, 0));
}
