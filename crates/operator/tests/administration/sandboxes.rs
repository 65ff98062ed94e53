//! Sandboxes: made once with sample data, apart from other teams, and every event can be made to happen.

use std::sync::Arc;

use domain::TeamId;
use domain::event::EventKind;
use operator::admin::{
    AdminError, ApprovalSettings, DeveloperAdmin, MadeEvent, SandboxAdmin, SandboxSettings,
};
use operator::ingest::known_events;
use operator::ports::SampleData;
use serde_json::{Value, json};
use store::{AuditContext, AuditQuery, LogPage, LogQuery, ReceiverMode, Status};

use super::fixture::Api;
use super::teams::teams;

struct OneCompany;

impl SampleData for OneCompany {
    fn lines(&self) -> Vec<String> {
        let data = json!({"vatName": "Norte", "vatNumber": "", "chartOfAccountId": 1, "accountLength": 8});
        let company = json!({
            "area": "accounting", "resource": "companies", "action": "upsert", "correlationId": "c1", "data": data
        });
        vec![company.to_string()]
    }
}

fn settings() -> SandboxSettings {
    SandboxSettings { is_open: true, events_per_day_max: 10_000, sample: Arc::new(OneCompany) }
}

fn sandboxes_with(api: &Api, developer: &str, settings: &SandboxSettings) -> SandboxAdmin {
    let id = domain::AccountId::new(developer);
    let context = AuditContext::default();
    SandboxAdmin::new(&DeveloperAdmin::new(&api.admin, id, &context, ApprovalSettings::default()), settings)
}

fn sandboxes(api: &Api, developer: &str) -> SandboxAdmin {
    sandboxes_with(api, developer, &settings())
}

#[tokio::test]
async fn sandbox_is_made_once_with_its_data_and_reset_to_its_beginning() {
    let api = teams().await;
    let leo = sandboxes(&api, "leo");
    assert_eq!(leo.sandbox("panel").await.unwrap(), None);
    assert!(matches!(leo.reset_sandbox("panel").await, Err(AdminError::NotFound(_))));
    let made = leo.create_sandbox("panel").await.unwrap();
    assert!(made.is_ready());
    assert_eq!(leo.create_sandbox("panel").await.unwrap(), made);
    assert_eq!(sandboxes(&api, "ana").sandbox("panel").await.unwrap(), Some(made.clone()));
    assert!(made.email.ends_with(".example") && made.email.contains("@sandbox-"), "{}", made.email);
    let account = api.store.find_account(&made.user).await.unwrap().unwrap();
    assert!(domain::password::matches(&made.password, &account.password_hash));
    let tenant = api.store.find_tenant(&made.tenant).await.unwrap().unwrap();
    assert_eq!((tenant.name.as_str(), tenant.sandbox_of), ("panel (sandbox)", Some(TeamId::new("panel"))));
    assert_eq!(api.store.company_ids(&made.tenant, 9).await.unwrap()[0], "c1".into());
    let shown = api.get(&format!("/tenants/{}", made.tenant)).await;
    assert_eq!(shown["sandboxOf"], "panel");

    let made_event = leo.make_event("panel", "customers.created").await.unwrap();
    let after = leo.reset_sandbox("panel").await.unwrap();
    assert!(after.is_ready() && after.tenant != made.tenant && after.password != made.password);
    assert_eq!((&after.user, after.receiver), (&made.user, made.receiver));
    let log = async |tenant| api.store.log_bounds(tenant).await.unwrap().head;
    assert!(log(&after.tenant).await < made_event.sequence, "the event is gone");

    // What the operator erased is made again; what was disabled is not.
    api.store.erase_tenant(&after.tenant, &AuditContext::default()).await.unwrap();
    let again = leo.create_sandbox("panel").await.unwrap();
    assert!(again.is_ready() && again.tenant != after.tenant);
    api.store.set_tenant_status(&again.tenant, Status::Disabled, &AuditContext::default()).await.unwrap();
    assert!(!leo.create_sandbox("panel").await.unwrap().is_ready());
    let refused = leo.make_event("panel", "customers.created").await;
    assert!(
        matches!(refused, Err(AdminError::Conflict { code: domain::ErrorCode::SandboxNotReady, .. })),
        "{refused:?}"
    );
    let refused = leo.reset_sandbox("panel").await;
    assert!(
        matches!(refused, Err(AdminError::Conflict { code: domain::ErrorCode::SandboxNotReady, .. })),
        "{refused:?}"
    );
    assert_eq!(leo.sandbox("panel").await.unwrap().unwrap().tenant, again.tenant);
}

#[tokio::test]
async fn other_teams_sandbox_does_not_exist() {
    let api = teams().await;
    sandboxes(&api, "ana").create_sandbox("panel").await.unwrap();
    let eva = sandboxes(&api, "eva");
    let not_found = |error: AdminError| matches!(error, AdminError::NotFound(_));
    assert!(not_found(eva.sandbox("panel").await.unwrap_err()));
    assert!(not_found(eva.create_sandbox("panel").await.unwrap_err()));
    assert!(not_found(eva.reset_sandbox("panel").await.unwrap_err()));
    assert!(not_found(eva.make_event("panel", "customers.created").await.unwrap_err()));
    assert!(not_found(eva.set_receiver_mode("panel", ReceiverMode::Fail).await.unwrap_err()));
    assert!(not_found(eva.received("panel", None, 9).await.unwrap_err()));
    assert!(not_found(eva.received_request("panel", 1).await.unwrap_err()));
    assert!(not_found(eva.companies("panel", 9).await.unwrap_err()));
    assert!(not_found(eva.made_events("panel", 1).await.unwrap_err()));
    assert!(not_found(eva.enterable("panel", "any").await.unwrap_err()));
    assert_eq!(eva.sandbox("other").await.unwrap(), None);
}

#[tokio::test]
async fn closed_sandboxes_do_nothing_and_events_of_a_day_are_bounded() {
    let api = teams().await;
    let closed = SandboxSettings { is_open: false, ..settings() };
    let refused = sandboxes_with(&api, "ana", &closed).create_sandbox("panel").await;
    assert!(
        matches!(refused, Err(AdminError::Conflict { code: domain::ErrorCode::SandboxClosed, .. })),
        "{refused:?}"
    );
    let two = SandboxSettings { events_per_day_max: 2, ..settings() };
    let ana = sandboxes_with(&api, "ana", &two);
    ana.create_sandbox("panel").await.unwrap();
    for _ in 0..2 {
        ana.make_event("panel", "Bank.Created").await.unwrap();
    }
    let refused = ana.make_event("panel", "Bank.Created").await;
    assert!(
        matches!(refused, Err(AdminError::Conflict { code: domain::ErrorCode::TooManyEvents, .. })),
        "{refused:?}"
    );
    let unknown = ana.make_event("panel", "Bank.Exploded").await;
    assert!(matches!(unknown, Err(AdminError::NotFound(_))), "{unknown:?}");
}

/// The events in the log after a sequence.
async fn events_after(api: &Api, tenant: &domain::TenantId, after: u64) -> Vec<(String, EventKind)> {
    let query = LogQuery { tenant: tenant.clone(), company: None, events: None, after, rows_max: 100 };
    let LogPage::Entries(entries) = api.store.read_log(&query).await.unwrap() else { panic!("pruned") };
    entries.iter().map(|entry| (entry.resource.as_str().to_owned(), entry.kind)).collect()
}

#[tokio::test]
async fn every_event_of_the_catalogue_can_be_made_again_and_again() {
    let api = teams().await;
    let ana = sandboxes(&api, "ana");
    let sandbox = ana.create_sandbox("panel").await.unwrap();
    let mut count = 0;
    for (resource, kind, [name, ..]) in known_events() {
        for round in 1..=7 {
            let before = api.store.log_bounds(&sandbox.tenant).await.unwrap().head;
            let MadeEvent { events, sequence, .. } = ana.make_event("panel", &name).await.unwrap();
            let logged = events_after(&api, &sandbox.tenant, before).await;
            let wanted = (resource.as_str().to_owned(), kind);
            assert_eq!(logged.last(), Some(&wanted), "{name} {round}");
            assert_eq!((logged.len(), before + logged.len() as u64), (events.len(), sequence), "{name}");
            assert_eq!(events.last(), Some(&name));
            // Records wait for the first five; later ones are created or enabled first.
            assert!(logged.len() == 1 || round > 5, "{name} {round}: {logged:?}");
        }
        count += 1;
    }
    assert!(count > 100, "{count}");
}

#[tokio::test]
async fn receiver_is_told_how_to_answer_and_every_step_is_audited() {
    let api = teams().await;
    let ana = sandboxes(&api, "ana");
    ana.create_sandbox("panel").await.unwrap();
    ana.reset_sandbox("panel").await.unwrap();
    let changed = ana.set_receiver_mode("panel", ReceiverMode::Hang).await.unwrap();
    assert_eq!(changed.receiver_mode, ReceiverMode::Hang);
    assert_eq!(ana.received("panel", None, 9).await.unwrap(), []);
    let query = AuditQuery { rows_max: 100, ..AuditQuery::default() };
    let entries = api.store.audit(&query).await.unwrap();
    for kind in ["sandbox_added", "sandbox_reset", "sandbox_receiver_changed"] {
        let entry = entries.iter().find(|entry| entry.entry.kind.as_str() == kind);
        let entry = entry.unwrap_or_else(|| panic!("{kind}"));
        assert_eq!(
            entry.entry.context.actor,
            store::Actor::Developer(domain::AccountId::new("ana")),
            "{kind}"
        );
    }
}

#[tokio::test]
async fn contents_are_shown_to_the_team() {
    let api = teams().await;
    let ana = sandboxes(&api, "ana");
    let sandbox = ana.create_sandbox("panel").await.unwrap();
    // Companies that wait for events are left out.
    let companies = ana.companies("panel", 9).await.unwrap();
    let shown: Vec<(&str, &str)> =
        companies.iter().map(|one| (one.correlation_id.as_str(), one.name.as_str())).collect();
    assert_eq!(shown, [("c1", "Norte")]);
    // An event with the one that had to precede it, and nothing of what others made.
    let name = "customers.disabled";
    let mut made = ana.make_event("panel", name).await.unwrap();
    while made.events.len() == 1 {
        assert_eq!(ana.made_events("panel", made.sequence).await.unwrap().len(), 1);
        made = ana.make_event("panel", name).await.unwrap();
    }
    let entries = ana.made_events("panel", made.sequence).await.unwrap();
    let kinds: Vec<EventKind> = entries.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [EventKind::Updated, EventKind::Disabled]);
    assert_eq!(*entries[1].correlation_id, *made.correlation_id);
    assert_eq!(ana.made_events("panel", made.sequence + 1).await.unwrap(), []);
    assert_eq!(ana.made_events("panel", 0).await.unwrap(), []);
    assert!(matches!(ana.received_request("panel", 1).await, Err(AdminError::NotFound(_))));
    assert_eq!(ana.sandbox("panel").await.unwrap().unwrap().tenant, sandbox.tenant);
}

#[tokio::test]
async fn only_active_clients_of_an_active_team_enter() {
    let api = teams().await;
    let ana = sandboxes(&api, "ana");
    let add = async |name: &str, team: Value| {
        let body = json!({"name": name, "redirectUris": ["https://erp.example/callback"], "team": team});
        api.add("/clients", &body).await["client"]["id"].as_str().unwrap().to_owned()
    };
    let (own, others, free) = (
        add("own", json!("panel")).await,
        add("others", json!("other")).await,
        add("free", Value::Null).await,
    );
    assert!(matches!(ana.enterable("panel", &own).await, Err(AdminError::NotFound(_))), "no sandbox yet");
    let made = ana.create_sandbox("panel").await.unwrap();
    let (sandbox, client, _) = ana.enterable("panel", &own).await.unwrap();
    assert_eq!((sandbox, client.id.as_str()), (made, own.as_str()));
    for id in [others.as_str(), free.as_str(), "none"] {
        assert!(matches!(ana.enterable("panel", id).await, Err(AdminError::NotFound(_))), "{id}");
    }
    assert_eq!(api.patch(&format!("/clients/{own}"), &json!({"standing": "disabled"})).await.0, 200);
    let refused = ana.enterable("panel", &own).await;
    assert!(
        matches!(refused, Err(AdminError::Conflict { code: domain::ErrorCode::ClientDisabled, .. })),
        "{refused:?}"
    );
    assert_eq!(api.patch("/teams/panel", &json!({"standing": "disabled"})).await.0, 200);
    for refused in [
        ana.create_sandbox("panel").await.err(),
        ana.reset_sandbox("panel").await.err(),
        ana.make_event("panel", "customers.created").await.err(),
        ana.set_receiver_mode("panel", ReceiverMode::Fail).await.err(),
        ana.enterable("panel", &own).await.err(),
    ] {
        assert!(
            matches!(refused, Some(AdminError::Conflict { code: domain::ErrorCode::TeamDisabled, .. })),
            "{refused:?}"
        );
    }
    assert!(ana.sandbox("panel").await.unwrap().is_some(), "it can still be looked at");
}
