//! What a restored store looks like after ends of access were repeated in it.

mod backup;

use std::time::Duration;

use domain::ids::SubscriptionId;
use domain::subscription::Products;
use domain::{AccountId, ClientId, OperatorRole, TeamId};
use store::{Account, AccountUpdate, ClientUpdate, MemberStep, Status, SubscriptionUpdate, TeamUpdate};

use super::*;
use backup::{Backup, WEBHOOK, by, changed};

/// An entry of this kind, and whether it is repeated; else it is listed.
fn sample(kind: AuditKind) -> (String, bool) {
    let change = |member: &str, from: &str, to: &str| {
        format!(r#""changes":[{{"member":"{member}","from":{from},"to":{to}}}]"#)
    };
    let member = |from: &str, to: &str, role: &str| {
        format!(
            r#""object":"team:panel","changes":[{{"member":"developer","from":{from},"to":{to}}},{{"member":"role","to":{role}}}]"#
        )
    };
    let webhook = format!(r#""object":"webhook:{WEBHOOK}""#);
    let disabled = change("status", r#""active""#, r#""disabled""#);
    let (text, is_repeated) = match kind {
        AuditKind::Revoked | AuditKind::CodeReused | AuditKind::RefreshReused => {
            (r#""grant":"g""#.to_owned(), true)
        }
        AuditKind::AccessEnded => (r#""user":"maria","client":"erp","tenant":"t""#.to_owned(), true),
        AuditKind::TenantChanged => (format!(r#""tenant":"t",{disabled}"#), true),
        AuditKind::TenantErased => (r#""tenant":"t""#.to_owned(), true),
        AuditKind::UserChanged => (format!(r#""user":"maria",{disabled}"#), true),
        AuditKind::DeveloperChanged => (format!(r#""object":"developer:ana",{disabled}"#), true),
        AuditKind::OperatorChanged => (format!(r#""object":"operator:ines",{disabled}"#), true),
        AuditKind::MembershipChanged => {
            (format!(r#""user":"maria","tenant":"t",{}"#, change("admin", "true", "false")), true)
        }
        AuditKind::MembershipRemoved => (r#""user":"maria","tenant":"t""#.to_owned(), true),
        AuditKind::ClientChanged => {
            (format!(r#""client":"erp",{}"#, change("sandbox", "null", "true")), true)
        }
        AuditKind::SubscriptionChanged => (format!(r#""object":"subscription:s",{disabled}"#), true),
        AuditKind::SubscriptionCancelled => (r#""object":"subscription:s""#.to_owned(), true),
        AuditKind::TeamChanged => (format!(r#""object":"team:panel",{disabled}"#), true),
        AuditKind::TeamMemberAdded | AuditKind::TeamMemberChanged => {
            (member("null", r#""leo""#, r#""member""#), true)
        }
        AuditKind::TeamMemberRemoved => (member(r#""leo""#, "null", "null"), true),
        AuditKind::OperatorTokenRevoked => (r#""object":"operator_token:n""#.to_owned(), true),
        AuditKind::WebhookChanged => (format!("{webhook},{}", change("enabled", "true", "false")), true),
        AuditKind::WebhookUnsubscribed | AuditKind::WebhookDeleted => (webhook, true),
        AuditKind::ClientSecretRotated => (r#""client":"erp""#.to_owned(), false),
        AuditKind::SubscriptionKeyRotated => (r#""object":"subscription:s""#.to_owned(), false),
        AuditKind::SecondFactorRemoved
        | AuditKind::SecondFactorReset
        | AuditKind::RecoveryCodesMade
        | AuditKind::RecoveryCodeUsed => (r#""user":"maria""#.to_owned(), false),
        AuditKind::SigningKeyRetired => (r#""object":"signing_key:k""#.to_owned(), false),
        AuditKind::WebhookSecretRotated => (webhook, false),
        _ => panic!("{} ends access and has no example here", kind.as_str()),
    };
    let entry = format!(r#"{{"at":"2026-11-15T10:30:00Z","kind":"{}",{text}}}"#, kind.as_str());
    (entry, is_repeated)
}

/// No kind that may end access leads to nothing.
#[tokio::test]
async fn every_kind_that_ends_access_is_repeated_or_listed() {
    for kind in entry::ENDING {
        let (entry, is_repeated) = sample(*kind);
        let (repeated, listed) = Backup::new().await.repeat(&entry).await;
        let expected = if is_repeated { repeated == 1 } else { repeated == 0 && listed.len() == 1 };
        assert!(expected, "{}: {repeated} repeated; {listed:?}", kind.as_str());
    }
}

/// What happens after the backup is exported as the store audits it. Repeated in the backup, it gives the same again.
#[tokio::test]
async fn what_teams_operators_clients_and_subscriptions_lost_is_repeated() {
    let lost = Backup::new().await;
    lost.clock.advance(Duration::from_secs(60));
    let disabled = TeamUpdate { status: Some(Status::Disabled), ..TeamUpdate::default() };
    changed(&lost.store.update_team(&TeamId::new("panel"), &disabled, None, &by()).await.unwrap());
    let sandbox = ClientUpdate {
        is_sandbox: Some(true),
        team: Some(Some(TeamId::new("otro"))),
        products: Some(Products::default()),
        redirect_uris: Some(vec!["https://b/".into()]),
        ..ClientUpdate::default()
    };
    changed(&lost.store.update_client(&ClientId::new("erp"), &sandbox, None, &by()).await.unwrap());
    let left =
        SubscriptionUpdate { is_sandbox: Some(true), team: Some(None), ..SubscriptionUpdate::default() };
    let subscription = SubscriptionId::new("s");
    changed(&lost.store.update_subscription(&subscription, &left, None, &by()).await.unwrap());
    lost.change_member("leo", MemberStep::Remove).await;
    lost.update_operator(
        "olga",
        AccountUpdate { role: Some(OperatorRole::Viewer), ..AccountUpdate::default() },
    )
    .await;

    let restored = Backup::new().await;
    let (repeated, listed) = restored.repeat(&lost.export().await).await;
    assert_eq!((repeated, listed), (9, Vec::new()));
    assert_eq!(restored.facts().await, lost.facts().await);
    let again = restored.repeat(&lost.export().await).await;
    assert_eq!(again.0, 1, "only the status of the team is set again: {again:?}");
}

/// The last role counts: an owner who was removed and added again as a member is a member.
#[tokio::test]
async fn removed_owner_who_was_added_again_is_a_member() {
    let lost = Backup::new().await;
    for step in [MemberStep::Remove, MemberStep::Add(TeamRole::Member)] {
        lost.clock.advance(Duration::from_secs(60));
        lost.change_member("leo", step).await;
    }
    let restored = Backup::new().await;
    assert_eq!(restored.repeat(&lost.export().await).await, (1, Vec::new()));
    assert_eq!(restored.members().await, lost.members().await);
    // Who became an owner after the backup stays what the backup says.
    let more = Backup::new().await;
    more.clock.advance(Duration::from_secs(60));
    more.change_member("leo", MemberStep::SetRole(TeamRole::Member)).await;
    more.clock.advance(Duration::from_secs(60));
    more.change_member("leo", MemberStep::SetRole(TeamRole::Owner)).await;
    assert_eq!(restored.repeat(&more.export().await).await, (0, Vec::new()));
}

/// The two admins of the backup were replaced by one whom the backup does not have: the last one stays, and is listed.
#[tokio::test]
async fn last_admin_is_not_locked_out() {
    let disabled = AccountUpdate { status: Some(Status::Disabled), ..AccountUpdate::default() };
    let viewer = AccountUpdate { role: Some(OperatorRole::Viewer), ..AccountUpdate::default() };
    let line = |what: &str, command: &str| {
        format!(
            "operator ines@example.com {what}, but is the only admin of the backup who can sign in (make another operator an \
             admin, then: aldaba operator {command})"
        )
    };
    for (update, expected, operators) in [
        (
            disabled,
            line("was disabled", "disable ines@example.com"),
            [(Status::Active, Some(OperatorRole::Admin)), (Status::Disabled, Some(OperatorRole::Admin))],
        ),
        (
            viewer,
            line("became viewer", "role ines@example.com viewer"),
            [(Status::Active, Some(OperatorRole::Admin)), (Status::Active, Some(OperatorRole::Viewer))],
        ),
    ] {
        let lost = Backup::new().await;
        lost.clock.advance(Duration::from_secs(60));
        let new = lost.store.find_account(&AccountId::new("ines")).await.unwrap().unwrap();
        let new = Account { id: AccountId::new("eva"), email: "eva@example.com".into(), ..new };
        lost.store.add_account(&new, &[], &by()).await.unwrap();
        for id in ["olga", "ines"] {
            lost.clock.advance(Duration::from_secs(60));
            lost.update_operator(id, update.clone()).await;
        }
        let restored = Backup::new().await;
        assert_eq!(restored.repeat(&lost.export().await).await, (1, vec![expected]));
        assert_eq!(restored.operators().await, operators);
    }
}

#[tokio::test]
async fn last_owner_and_missing_team_are_listed() {
    let restored = Backup::new().await;
    restored.change_member("leo", MemberStep::Remove).await;
    let entry = |kind: &str, rest: &str| {
        format!("{{\"at\":\"{}\",\"kind\":\"{kind}\",{rest}}}\n", "2026-11-15T10:30:00Z")
    };
    let removed = r#""object":"team:panel","changes":[{"member":"developer","from":"ana"},{"member":"role","from":"owner"}]"#;
    let moved = r#""changes":[{"member":"team","from":"panel","to":"nuevo"}]"#;
    let export = [
        entry("team_member_removed", removed),
        entry("client_changed", &format!(r#""client":"erp",{moved}"#)),
        entry("subscription_changed", &format!(r#""object":"subscription:s",{moved}"#)),
        // The backup has neither.
        entry("client_changed", &format!(r#""client":"crm",{moved}"#)),
        entry("team_member_removed", &removed.replace("ana", "eva")),
        // Nobody can say what these changed.
        entry("team_member_removed", r#""object":"team:panel""#),
        entry("operator_changed", r#""object":"operator:ines","changes":[{"member":"role","to":"auditor"}]"#),
    ];
    let expected = [
        "a change of the members of team panel that the audit does not describe",
        "client erp was moved to team nuevo, which is not in the backup (add the team, then: aldaba client set erp --team nuevo)",
        "developer ana@example.com was removed from team panel, but is its only owner in the backup (make another member an \
         owner, then: aldaba team leave panel ana@example.com)",
        "subscription s was moved to team nuevo, which is not in the backup (add the team, then: aldaba key team s nuevo)",
        "the role of operator ines was changed",
    ];
    assert_eq!(restored.repeat(&export.concat()).await, (0, expected.map(str::to_owned).to_vec()));
    assert_eq!(restored.members().await, [("ana".to_owned(), TeamRole::Owner)]);
}
