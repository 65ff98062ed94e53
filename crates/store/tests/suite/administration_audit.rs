//! The audit entries of the administration and of webhooks: each mutation writes who changed what, from what, to what.

use std::time::Duration;

use domain::{Secret, Ticks};
use store::{
    AccountUpdate, AuditEntry, AuditQuery, ClientSecret, ClientUpdate, KeySlot, MemberChange, MemberStep,
    ReplayKind, RevealedKey, Status, SubscribeOutcome, SubscriptionUpdate, TeamRole, TeamUpdate,
    TenantUpdate, WebhookChange, WebhookChangeOutcome,
};

use super::clients::{client, subscription};
use super::codes::{code, membership_id};
use super::directory::{membership, user};
use super::fixture::{Fixture, by, new_tenant};
use super::signing_keys::signing_key;
use super::teams::{add_developer, member_change, team};
use super::test_tenant::TestTenant;
use super::webhook_fixtures::new_webhook;

/// `client_changed client=erp: name "a" → "b", secret`
fn line(entry: &AuditEntry) -> String {
    let value = |value: &serde_json::Value| if value.is_null() { String::new() } else { value.to_string() };
    let change = |change: &MemberChange| match (value(&change.from), value(&change.to)) {
        (from, to) if from.is_empty() && to.is_empty() => change.member.clone(),
        (from, to) => format!("{} {from} → {to}", change.member),
    };
    let names = [
        entry.user.as_ref().map(|id| format!("user={id}")),
        entry.tenant.as_ref().map(|id| format!("tenant={id}")),
        entry.client.as_ref().map(|id| format!("client={id}")),
        entry.object.clone(),
    ];
    let names: Vec<String> = names.into_iter().flatten().collect();
    let changes: Vec<String> = entry.changes.iter().map(change).collect();
    format!("{} {}: {}", entry.kind.as_str(), names.join(" "), changes.join(", ")).trim_end().to_owned()
}

async fn entries(fixture: &Fixture) -> Vec<AuditEntry> {
    let query = AuditQuery { rows_max: 1000, ..AuditQuery::default() };
    let mut records = fixture.store.audit(&query).await.unwrap();
    records.reverse();
    records.into_iter().map(|record| record.entry).collect()
}

/// The entries since the last call; the clock moves on, so that they keep their order.
async fn new_lines(fixture: &Fixture, seen: &mut usize) -> Vec<String> {
    let all = entries(fixture).await;
    fixture.clock.advance(Duration::from_secs(1));
    let new = all[*seen..].iter();
    for entry in new.clone() {
        assert_eq!(entry.context, by(), "{entry:?}");
        assert_eq!(entry.count, 1);
    }
    let mut lines: Vec<String> = new.map(line).collect();
    lines.sort();
    *seen = all.len();
    lines
}

pub(crate) async fn every_mutation_leaves_its_entry(fixture: Fixture) {
    let seen = &mut 0;
    directory_mutations(&fixture, seen).await;
    client_mutations(&fixture, seen).await;
    subscription_mutations(&fixture, seen).await;
    team_mutations(&fixture, seen).await;
    key_mutations(&fixture, seen).await;
}

async fn directory_mutations(fixture: &Fixture, seen: &mut usize) {
    let (store, by) = (&fixture.store, &by());
    let tenant = new_tenant("t", fixture.now());
    store.add_tenant(&tenant, by).await.unwrap();
    let added =
        "tenant_added tenant=t: name  → \"Asesoría t\", shortCode  → \"ES00042\", status  → \"active\"";
    assert_eq!(new_lines(fixture, seen).await, [added]);
    let disable = TenantUpdate { status: Some(Status::Disabled) };
    assert!(store.update_tenant(&tenant.id, &disable, None, by).await.unwrap().is_updated());
    assert_eq!(new_lines(fixture, seen).await, ["tenant_changed tenant=t: status \"active\" → \"disabled\""]);

    let maria = user(fixture, "maria");
    store.add_account(&maria, &[membership(fixture, "m1", "maria", &tenant.id)], by).await.unwrap();
    let lines = new_lines(fixture, seen).await;
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(
        lines[0].starts_with("membership_added user=maria tenant=t membership:m1: modules  → "),
        "{lines:?}"
    );
    assert!(
        lines[1].starts_with("user_added user=maria: email  → ") && !lines[1].contains("hash"),
        "{lines:?}"
    );
    let update = AccountUpdate {
        status: Some(Status::Disabled),
        password_hash: Some("new-hash".into()),
        ..AccountUpdate::default()
    };
    assert!(store.update_account(&maria.id, &update, None, by).await.unwrap().is_updated());
    let changed = "user_changed user=maria: status \"active\" → \"disabled\", password";
    assert_eq!(new_lines(fixture, seen).await, [changed]);
    assert!(store.remove_membership(&maria.id, &tenant.id, by).await.unwrap());
    let removed = &new_lines(fixture, seen).await[0];
    assert!(
        removed.starts_with("membership_removed user=maria tenant=t membership:m1: modules \""),
        "{removed}"
    );
    store.add_membership(&membership(fixture, "m2", "maria", &tenant.id), by).await.unwrap();
    assert!(
        new_lines(fixture, seen).await[0].starts_with("membership_added user=maria tenant=t membership:m2")
    );
    let now = fixture.now();
    store.store_code(&Secret::new("code-1"), &code(now), &membership_id(), now, by).await.unwrap();
    let issued = &new_lines(fixture, seen).await[0];
    assert!(issued.starts_with("code_issued user=maria tenant="), "{issued}");
    assert!(store.erase_tenant(&tenant.id, by).await.unwrap());
    assert!(new_lines(fixture, seen).await[0].starts_with("tenant_erased tenant=t: name \"Asesoría t\" → "));
}

async fn client_mutations(fixture: &Fixture, seen: &mut usize) {
    let (store, by) = (&fixture.store, &by());
    let erp = client(fixture, "erp");
    store.add_client(&erp, &Secret::new("hush-1"), by).await.unwrap();
    let added = &new_lines(fixture, seen).await[0];
    assert!(added.starts_with("client_added client=erp: name  → ") && !added.contains("hush"), "{added}");
    let uris = Some(vec!["https://new.example/cb".to_owned()]);
    let update = ClientUpdate { name: Some("Nuevo".into()), redirect_uris: uris, ..ClientUpdate::default() };
    assert!(store.update_client(&erp.id, &update, Some(1), by).await.unwrap().is_updated());
    let changed = &new_lines(fixture, seen).await[0];
    assert!(changed.starts_with("client_changed client=erp: name \""), "{changed}");
    assert!(
        changed.contains("redirectUris [") && changed.ends_with("→ [\"https://new.example/cb\"]"),
        "{changed}"
    );
    let secret = ClientSecret { secret: Secret::new("hush-2"), previous_valid_until: Ticks(0) };
    assert!(store.set_client_secret(&erp.id, &secret, by).await.unwrap());
    let rotated = &new_lines(fixture, seen).await[0];
    assert!(
        rotated.starts_with("client_secret_rotated client=erp: secret, previousValidUntil  → "),
        "{rotated}"
    );
}

async fn subscription_mutations(fixture: &Fixture, seen: &mut usize) {
    let (store, by) = (&fixture.store, &by());
    let one = subscription(fixture, "s1");
    store.add_subscription(&one, &Secret::new("hush-3"), &Secret::new("hush-4"), by).await.unwrap();
    let added = &new_lines(fixture, seen).await[0];
    assert!(
        added.starts_with("subscription_added subscription:s1: name  → ") && !added.contains("hush"),
        "{added}"
    );
    let update = SubscriptionUpdate {
        status: Some(Status::Disabled),
        daily_quota: Some(Some(5)),
        ..SubscriptionUpdate::default()
    };
    assert!(store.update_subscription(&one.id, &update, None, by).await.unwrap().is_updated());
    let changed = &new_lines(fixture, seen).await[0];
    assert!(changed.starts_with("subscription_changed subscription:s1: status \"active\" → "), "{changed}");
    assert!(changed.contains("dailyQuota") && changed.ends_with("→ 5"), "{changed}");
    let key = Secret::new("hush-5");
    assert!(store.rotate_key(&one.id, KeySlot::Secondary, &key, Ticks(0), by).await.unwrap());
    let rotated = &new_lines(fixture, seen).await[0];
    let expected = "subscription_key_rotated subscription:s1: secondaryKey, previousValidUntil  → ";
    assert!(rotated.starts_with(expected) && !rotated.contains("hush"), "{rotated}");
    let revealed = store.reveal_key(&one.id, KeySlot::Secondary, by).await;
    assert_eq!(revealed, Ok(RevealedKey::Revealed(key)));
    let expected = "subscription_key_revealed subscription:s1: secondaryKey";
    assert_eq!(new_lines(fixture, seen).await, [expected]);
    assert!(store.cancel_subscription(&one.id, fixture.now(), by).await.unwrap());
    let cancelled = &new_lines(fixture, seen).await[0];
    assert!(cancelled.starts_with("subscription_cancelled subscription:s1: cancelledAt  → "), "{cancelled}");
}

async fn team_mutations(fixture: &Fixture, seen: &mut usize) {
    let (store, by) = (&fixture.store, &by());
    let panel = team(fixture, "panel");
    store.add_team(&panel, by).await.unwrap();
    let added = &new_lines(fixture, seen).await[0];
    assert!(added.starts_with("team_added team:panel: name  → ") && added.ends_with("\"active\""), "{added}");
    let disable = TeamUpdate { status: Some(Status::Disabled), ..TeamUpdate::default() };
    assert!(store.update_team(&panel.id, &disable, None, by).await.unwrap().is_updated());
    assert_eq!(new_lines(fixture, seen).await, ["team_changed team:panel: status \"active\" → \"disabled\""]);
    for id in ["ana", "leo"] {
        add_developer(fixture, id).await;
        new_lines(fixture, seen).await;
    }
    for (id, step, expected) in [
        (
            "ana",
            MemberStep::Add(TeamRole::Owner),
            "added team:panel: developer  → \"ana\", role  → \"owner\"",
        ),
        (
            "leo",
            MemberStep::Add(TeamRole::Owner),
            "added team:panel: developer  → \"leo\", role  → \"owner\"",
        ),
        (
            "leo",
            MemberStep::SetRole(TeamRole::Member),
            "changed team:panel: developer  → \"leo\", role \"owner\" → \"member\"",
        ),
        ("leo", MemberStep::Remove, "removed team:panel: developer \"leo\" → , role \"member\" → "),
    ] {
        let _ = store.change_team_member(&member_change("panel", id, step), by).await.unwrap();
        let lines = new_lines(fixture, seen).await;
        assert_eq!(lines, [format!("team_member_{expected}").trim_end()]);
    }
    let some = [domain::NoticeKind::KeyEnds, domain::NoticeKind::RequestRefused].into_iter().collect();
    let ana = domain::AccountId::new("ana");
    assert_eq!(store.set_notice_preferences(&panel.id, &ana, some, by).await, Ok(true));
    let lines = new_lines(fixture, seen).await;
    let to = "→ [\"request_refused\",\"key_ends\"]";
    assert!(lines[0].starts_with("notice_preferences_changed team:panel: mailed ["), "{lines:?}");
    assert!(lines[0].ends_with(to) && lines.len() == 1, "{lines:?}");
    // What is refused leaves no entry.
    for step in [MemberStep::Remove, MemberStep::SetRole(TeamRole::Owner)] {
        let _ = store.change_team_member(&member_change("panel", "ana", step), by).await.unwrap();
        assert_eq!(new_lines(fixture, seen).await, [""; 0]);
    }
}

async fn key_mutations(fixture: &Fixture, seen: &mut usize) {
    let (store, by) = (&fixture.store, &by());
    assert!(store.add_signing_key(&signing_key("kid", fixture.now()), None, by).await.unwrap());
    assert!(
        new_lines(fixture, seen).await[0].starts_with("signing_key_rotated signing_key:kid: signsFrom  → ")
    );
    assert!(store.retire_signing_key("kid", fixture.now(), by).await.unwrap());
    assert!(
        new_lines(fixture, seen).await[0].starts_with("signing_key_retired signing_key:kid: retiredAt  → ")
    );
    assert!(store.delete_signing_key("kid", by).await.unwrap());
    assert_eq!(new_lines(fixture, seen).await, ["signing_key_deleted signing_key:kid:"]);
}

pub(crate) async fn mutations_that_change_nothing_leave_no_entry(fixture: Fixture) {
    let (store, by) = (&fixture.store, &by());
    let tenant = new_tenant("t", fixture.now());
    let (maria, erp, one) = (user(&fixture, "maria"), client(&fixture, "erp"), subscription(&fixture, "s1"));
    let mine = membership(&fixture, "m1", "maria", &tenant.id);
    let [secret, key, other_key] = ["a", "b", "c"].map(Secret::new);
    store.add_tenant(&tenant, by).await.unwrap();
    store.add_account(&maria, std::slice::from_ref(&mine), by).await.unwrap();
    store.add_client(&erp, &secret, by).await.unwrap();
    store.add_subscription(&one, &key, &other_key, by).await.unwrap();
    let before = entries(&fixture).await;

    assert!(store.add_tenant(&tenant, by).await.is_err());
    assert!(store.add_account(&maria, &[], by).await.is_err());
    let elsewhere = membership(&fixture, "m3", "ana", &new_tenant("none", fixture.now()).id);
    assert!(store.add_account(&user(&fixture, "ana"), &[elsewhere], by).await.is_err());
    assert!(store.add_membership(&mine, by).await.is_err());
    assert!(store.add_client(&erp, &secret, by).await.is_err());
    assert!(store.add_subscription(&one, &key, &other_key, by).await.is_err());
    let (disable, old) = (Some(Status::Disabled), Some(7));
    let tenant_update = TenantUpdate { status: disable };
    assert!(!store.update_tenant(&tenant.id, &tenant_update, old, by).await.unwrap().is_updated());
    let user_update = AccountUpdate { status: disable, ..AccountUpdate::default() };
    assert!(!store.update_account(&maria.id, &user_update, old, by).await.unwrap().is_updated());
    let client_update = ClientUpdate { status: disable, ..ClientUpdate::default() };
    assert!(!store.update_client(&erp.id, &client_update, old, by).await.unwrap().is_updated());
    let subscription_update = SubscriptionUpdate { status: disable, ..SubscriptionUpdate::default() };
    assert!(!store.update_subscription(&one.id, &subscription_update, old, by).await.unwrap().is_updated());
    assert!(!store.erase_tenant(&new_tenant("none", fixture.now()).id, by).await.unwrap());
    assert!(!store.remove_membership(&user(&fixture, "ana").id, &tenant.id, by).await.unwrap());
    let new_secret = ClientSecret { secret, previous_valid_until: Ticks(0) };
    assert!(!store.set_client_secret(&client(&fixture, "none").id, &new_secret, by).await.unwrap());
    let none = subscription(&fixture, "none").id;
    assert!(!store.cancel_subscription(&none, fixture.now(), by).await.unwrap());
    assert!(!store.rotate_key(&none, KeySlot::Primary, &Secret::new("d"), Ticks(0), by).await.unwrap());
    assert!(!store.retire_signing_key("none", Ticks(0), by).await.unwrap());
    assert!(!store.delete_signing_key("none", by).await.unwrap());
    assert_eq!(entries(&fixture).await, before);
}

pub(crate) async fn webhook_entries_are_written_only_with_their_change(fixture: Fixture) {
    let (tenant, store, by): (TestTenant, _, _) = (fixture.add_tenant().await, &fixture.store, &by());
    let seen = &mut 1;
    fixture.clock.advance(Duration::from_secs(1));
    let mut new = new_webhook(&fixture, &tenant, "a");
    new.host_mismatch = "other host".into();
    let Ok(SubscribeOutcome::Created(webhook)) = store.subscribe(new.clone(), 1, by).await else {
        panic!("the webhook is new");
    };
    let owner = format!("tenant={} client={} webhook:{}", tenant.id, webhook.owner.client, webhook.id);
    let lines = new_lines(&fixture, seen).await;
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[0], format!("webhook_doubted {owner}:"));
    assert!(lines[1].starts_with(&format!("webhook_subscribed {owner}: resource  → ")), "{lines:?}");

    let again = store.subscribe(new, 1, by).await;
    assert!(matches!(again, Ok(SubscribeOutcome::Existing(_))), "{again:?}");
    let more = store.subscribe(new_webhook(&fixture, &tenant, "b"), 1, by).await;
    assert_eq!(more, Ok(SubscribeOutcome::LimitReached));
    // It asks for a handshake at once.
    assert_eq!(new_lines(&fixture, seen).await, [format!("webhook_changed {owner}:")]);
    let rotate = WebhookChange::RotateSecret { secret: Secret::new("hush"), previous_valid_until: Ticks(0) };
    let until = Ticks(0).iso();
    let steps = [
        (WebhookChange::Disable, Some(format!("webhook_changed {owner}: enabled true → false"))),
        (WebhookChange::Disable, None),
        (WebhookChange::Enable, Some(format!("webhook_changed {owner}: enabled false → true"))),
        (rotate, Some(format!("webhook_secret_rotated {owner}: secret, previousValidUntil  → \"{until}\""))),
    ];
    for (change, expected) in steps {
        store.change_webhook(webhook.id, None, change, by).await.unwrap();
        assert_eq!(new_lines(&fixture, seen).await, expected.into_iter().collect::<Vec<_>>());
    }
    store.request_replay(webhook.id, ReplayKind::Test, (0, 0), by).await.unwrap();
    store.request_replay(webhook.id, ReplayKind::Events, (4, 6), by).await.unwrap();
    let lines = new_lines(&fixture, seen).await;
    assert_eq!(lines, [format!("webhook_changed {owner}:"), format!("webhook_replayed {owner}:")]);
    store.change_webhook(webhook.id, None, WebhookChange::Delete, by).await.unwrap();
    let lines = new_lines(&fixture, seen).await;
    assert!(lines[0].starts_with(&format!("webhook_deleted {owner}: deletedAt  → ")), "{lines:?}");
    let ended = store.change_webhook(webhook.id, None, WebhookChange::Enable, by).await;
    assert!(matches!(ended, Ok(WebhookChangeOutcome::Ended(_))), "{ended:?}");
    assert_eq!(store.request_replay(webhook.id, ReplayKind::Test, (0, 0), by).await, Ok(None));
    assert_eq!(new_lines(&fixture, seen).await, [""; 0]);
}
