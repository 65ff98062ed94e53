//! Requests of teams: every transition, their effects, their bounds and their audit.

use std::time::Duration;

use domain::ids::SubscriptionId;
use domain::subscription::{Product, Products};
use domain::{AccountId, ClientId, Guid, RequestId, Secret, TeamId};
use store::{
    Approval, AskOutcome, AuditQuery, Client, ClientUpdate, Consent, DECIDED_REQUESTS_MAX, DecisionOutcome,
    FIRST_REVISION, ListFilter, ListQuery, PENDING_REQUESTS_MAX, Pkce, RequestDecision, RequestFilter,
    RequestKind, RequestState, Status, Subscription, TeamRequest, TeamUpdate,
};

use super::clients::{client, subscription};
use super::fixture::{Fixture, by, concurrently};
use super::teams::{add_team, team};

pub(crate) fn request(fixture: &Fixture, id: &str, kind: RequestKind) -> TeamRequest {
    TeamRequest {
        id: RequestId::new(id),
        team: TeamId::new("panel"),
        kind,
        state: RequestState::Pending,
        note: "por favor, \"ñ\"".into(),
        asked_by: AccountId::new("ana"),
        created_at: fixture.now(),
        decided_by: None,
        decided_at: None,
        reason: String::new(),
        result: None,
        revision: FIRST_REVISION,
    }
}

pub(crate) fn new_client() -> RequestKind {
    RequestKind::Client {
        name: "Panel de ventas".into(),
        kind: domain::ClientKind::Web,
        redirect_uris: vec!["https://panel.example/ñ".into()],
        products: [Product::Accounting, Product::Invoicing].into_iter().collect(),
        pkce: Pkce::Required,
        is_sandbox: false,
    }
}

fn redirect_uri(uri: &str) -> RequestKind {
    RequestKind::RedirectUri { client: ClientId::new("erp"), uri: uri.into() }
}

fn new_subscription() -> RequestKind {
    RequestKind::Subscription { name: "Clave".into(), product: Product::Payroll, is_sandbox: true }
}

pub(crate) fn approval(number: u8) -> RequestDecision {
    RequestDecision::Approve(Approval {
        is_automatic: false,
        id: Guid::from_bytes([number; 16]),
        guid: Guid::from_bytes([number + 100; 16]),
        secret: Secret::new(format!("hush {number}")),
        keys: ["first", "second"].map(|which| Secret::new(format!("{which} hush {number}"))),
        consent: Consent::Required,
    })
}

fn refusal() -> RequestDecision {
    RequestDecision::Refuse { reason: "sin contrato".into() }
}

async fn ask(fixture: &Fixture, id: &str, kind: RequestKind) -> TeamRequest {
    let request = request(fixture, id, kind);
    assert_eq!(fixture.store.add_request(&request, &by()).await, Ok(AskOutcome::Asked));
    request
}

async fn decide(fixture: &Fixture, id: &str, decision: &RequestDecision) -> DecisionOutcome {
    fixture.store.decide_request(&RequestId::new(id), decision, None, &by()).await.unwrap()
}

async fn decided(fixture: &Fixture, id: &str, decision: &RequestDecision) -> TeamRequest {
    match decide(fixture, id, decision).await {
        DecisionOutcome::Decided(request) => *request,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn requests_are_stored_unchanged_and_filtered(fixture: Fixture) {
    let store = &fixture.store;
    add_team(&fixture, "panel", "ana").await;
    add_team(&fixture, "z", "eva").await;
    let erp = Client { team: Some(TeamId::new("panel")), ..client(&fixture, "erp") };
    store.add_client(&erp, &Secret::new("secret"), &by()).await.unwrap();
    let mut all = Vec::new();
    for (id, kind) in
        [("r1", new_client()), ("r2", redirect_uri("https://panel.example/x")), ("r3", new_subscription())]
    {
        let request = ask(&fixture, id, kind).await;
        assert_eq!(store.find_request(&request.id).await, Ok(Some(request.clone())));
        all.push(request);
        fixture.clock.advance(Duration::from_secs(1));
    }
    let foreign = TeamRequest { team: TeamId::new("z"), ..request(&fixture, "r4", new_client()) };
    assert_eq!(store.add_request(&foreign, &by()).await, Ok(AskOutcome::Asked));
    all.push(foreign);
    all[1] = decided(&fixture, "r2", &refusal()).await;
    assert_eq!((all[1].reason.as_str(), all[1].decided_at), ("sin contrato", Some(fixture.now())));
    assert_eq!(all[1].decided_by.as_deref(), Some(by().actor.to_string().as_str()));
    let listed = async |team: Option<&str>, state| {
        let filter = RequestFilter { team: team.map(TeamId::new), state };
        let page = store.list_requests(&filter, &ListQuery::default()).await.unwrap();
        page.rows.iter().map(|one| one.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(listed(None, None).await, ["r1", "r2", "r3", "r4"]);
    assert_eq!(listed(Some("panel"), None).await, ["r1", "r2", "r3"]);
    assert_eq!(listed(None, Some(RequestState::Pending)).await, ["r1", "r3", "r4"]);
    assert_eq!(listed(Some("panel"), Some(RequestState::Refused)).await, ["r2"]);
    assert_eq!(listed(Some("none"), None).await, [""; 0]);
    let query = ListQuery { after: None, rows_max: 3 };
    let first = store.list_requests(&RequestFilter::default(), &query).await.unwrap();
    let rest = ListQuery { after: first.next, rows_max: 3 };
    let rest = store.list_requests(&RequestFilter::default(), &rest).await.unwrap();
    assert_eq!([first.rows, rest.rows].concat(), all);
    for unknown in ["", "R1", "r1\0"] {
        assert_eq!(store.find_request(&RequestId::new(unknown)).await, Ok(None));
        assert_eq!(decide(&fixture, unknown, &refusal()).await, DecisionOutcome::NotFound);
    }
}

pub(crate) async fn approval_carries_out_its_effect(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    add_team(&fixture, "panel", "ana").await;
    ask(&fixture, "r1", new_client()).await;
    ask(&fixture, "r2", new_subscription()).await;
    let approved = decided(&fixture, "r1", &approval(1)).await;
    assert_eq!((approved.state, approved.revision), (RequestState::Approved, 2));
    let id = ClientId::from(Guid::from_bytes([1; 16]));
    assert_eq!(approved.result.as_deref(), Some(id.as_str()));
    assert_eq!(store.find_request(&approved.id).await, Ok(Some(approved)));
    let expected = Client {
        id: id.clone(),
        guid: Guid::from_bytes([101; 16]),
        name: "Panel de ventas".into(),
        redirect_uris: vec!["https://panel.example/ñ".into()],
        post_logout_uris: Vec::new(),
        products: [Product::Accounting, Product::Invoicing].into_iter().collect(),
        team: Some(TeamId::new("panel")),
        ..client(&fixture, "any")
    };
    assert_eq!(expected.consent, Consent::Required);
    assert_eq!(store.find_client(&id).await, Ok(Some(expected)));
    assert_eq!(store.client_secret_matches(&id, &Secret::new("hush 1"), now).await, Ok(true));

    let approved = decided(&fixture, "r2", &approval(2)).await;
    let expected = Subscription {
        id: SubscriptionId::from(Guid::from_bytes([2; 16])),
        name: "Clave".into(),
        products: Products::from_iter([Product::Payroll]),
        team: Some(TeamId::new("panel")),
        is_sandbox: true,
        ..subscription(&fixture, "any")
    };
    assert_eq!(approved.result.as_deref(), Some(expected.id.as_str()));
    for key in ["first hush 2", "second hush 2"] {
        let found = store.find_subscription_by_key(&Secret::new(key), now).await;
        assert_eq!(found, Ok(Some(expected.clone())));
    }
    // An id that is taken: neither the effect nor the decision.
    ask(&fixture, "r3", new_client()).await;
    assert!(store.decide_request(&RequestId::new("r3"), &approval(1), None, &by()).await.is_err());
    let pending = store.find_request(&RequestId::new("r3")).await.unwrap().unwrap();
    assert_eq!(pending.state, RequestState::Pending);
    // A disabled team asks for nothing and gets nothing.
    let disable = TeamUpdate { status: Some(Status::Disabled), ..TeamUpdate::default() };
    assert!(store.update_team(&TeamId::new("panel"), &disable, None, &by()).await.unwrap().is_updated());
    assert!(matches!(decide(&fixture, "r3", &approval(3)).await, DecisionOutcome::Blocked(_)));
    let more = request(&fixture, "r4", new_client());
    assert_eq!(store.add_request(&more, &by()).await, Ok(AskOutcome::TeamDisabled));
    let nobody = TeamRequest { team: TeamId::new("none"), ..more };
    assert_eq!(store.add_request(&nobody, &by()).await, Ok(AskOutcome::TeamNotFound));
    assert_eq!(decided(&fixture, "r3", &refusal()).await.state, RequestState::Refused);
}

pub(crate) async fn approved_redirect_address_is_added_once(fixture: Fixture) {
    let store = &fixture.store;
    add_team(&fixture, "panel", "ana").await;
    store.add_team(&team(&fixture, "z"), &by()).await.unwrap();
    let erp = client(&fixture, "erp");
    store.add_client(&erp, &Secret::new("secret"), &by()).await.unwrap();
    let set_team = async |team: Option<&str>| {
        let update = ClientUpdate { team: Some(team.map(TeamId::new)), ..ClientUpdate::default() };
        assert!(store.update_client(&erp.id, &update, None, &by()).await.unwrap().is_updated());
    };
    let asked = request(&fixture, "r1", redirect_uri("https://panel.example/new"));
    for foreign in [None, Some("z")] {
        set_team(foreign).await;
        assert_eq!(store.add_request(&asked, &by()).await, Ok(AskOutcome::ClientNotFound));
    }
    set_team(Some("panel")).await;
    let known = request(&fixture, "r0", redirect_uri(&erp.redirect_uris[0]));
    assert_eq!(store.add_request(&known, &by()).await, Ok(AskOutcome::AlreadyRegistered));
    assert_eq!(store.add_request(&asked, &by()).await, Ok(AskOutcome::Asked));
    ask(&fixture, "r2", redirect_uri("https://panel.example/new")).await;
    ask(&fixture, "r3", redirect_uri("https://panel.example/third")).await;
    set_team(Some("z")).await;
    assert!(matches!(decide(&fixture, "r1", &approval(1)).await, DecisionOutcome::Blocked(_)));
    set_team(Some("panel")).await;
    assert_eq!(decided(&fixture, "r1", &approval(1)).await.result.as_deref(), Some("erp"));
    assert_eq!(decided(&fixture, "r2", &approval(2)).await.state, RequestState::Approved);
    let uris = store.find_client(&erp.id).await.unwrap().unwrap().redirect_uris;
    let expected = [&erp.redirect_uris[..], &["https://panel.example/new".to_owned()]].concat();
    assert_eq!(uris, expected);
    let many = (0..20).map(|number| format!("https://panel.example/{number}")).collect();
    let update = ClientUpdate { redirect_uris: Some(many), ..ClientUpdate::default() };
    assert!(store.update_client(&erp.id, &update, None, &by()).await.unwrap().is_updated());
    assert!(matches!(decide(&fixture, "r3", &approval(3)).await, DecisionOutcome::Blocked(_)));
}

/// The client may have changed since the request was made.
pub(crate) async fn automatic_approval_is_for_sandbox_clients_with_consent(fixture: Fixture) {
    let store = &fixture.store;
    add_team(&fixture, "panel", "ana").await;
    let erp = Client { team: Some(TeamId::new("panel")), is_sandbox: true, ..client(&fixture, "erp") };
    store.add_client(&erp, &Secret::new("secret"), &by()).await.unwrap();
    ask(&fixture, "r1", redirect_uri("https://panel.example/new")).await;
    let RequestDecision::Approve(by_operator) = approval(1) else { unreachable!() };
    let automatic = RequestDecision::Approve(Approval { is_automatic: true, ..by_operator });
    for (consent, is_sandbox) in [(Consent::Required, false), (Consent::None, true), (Consent::None, false)] {
        let (consent, is_sandbox) = (Some(consent), Some(is_sandbox));
        let update = ClientUpdate { consent, is_sandbox, ..ClientUpdate::default() };
        assert!(store.update_client(&erp.id, &update, None, &by()).await.unwrap().is_updated());
        let outcome = decide(&fixture, "r1", &automatic).await;
        assert!(matches!(outcome, DecisionOutcome::Blocked(_)), "{update:?}: {outcome:?}");
        assert_eq!(store.find_client(&erp.id).await.unwrap().unwrap().redirect_uris, erp.redirect_uris);
    }
    let update =
        ClientUpdate { consent: Some(Consent::Required), is_sandbox: Some(true), ..ClientUpdate::default() };
    assert!(store.update_client(&erp.id, &update, None, &by()).await.unwrap().is_updated());
    assert_eq!(decided(&fixture, "r1", &automatic).await.state, RequestState::Approved);
}

pub(crate) async fn decided_request_never_changes(fixture: Fixture) {
    let store = &fixture.store;
    add_team(&fixture, "panel", "ana").await;
    let decisions = [
        (approval(1), RequestState::Approved),
        (refusal(), RequestState::Refused),
        (RequestDecision::Withdraw, RequestState::Withdrawn),
    ];
    for (first, state) in &decisions {
        let id = state.as_str();
        ask(&fixture, id, new_client()).await;
        let stale = store.decide_request(&RequestId::new(id), first, Some(7), &by()).await;
        assert_eq!(stale, Ok(DecisionOutcome::RevisionConflict));
        let after = decided(&fixture, id, first).await;
        assert_eq!(after.state, *state);
        for (second, _) in &decisions {
            assert_eq!(decide(&fixture, id, second).await, DecisionOutcome::NotPending(*state));
        }
        assert_eq!(store.find_request(&after.id).await, Ok(Some(after)));
    }
    assert_eq!(
        store.list_clients(&ListFilter::default(), &ListQuery::default()).await.unwrap().rows.len(),
        1
    );
}

pub(crate) async fn concurrent_decisions_have_one_winner(fixture: Fixture) {
    add_team(&fixture, "panel", "ana").await;
    ask(&fixture, "r1", new_client()).await;
    let other = fixture.reopen().await.store;
    let outcomes = concurrently(6, &[&fixture.store, &other], |number, store| async move {
        let decision = match number % 3 {
            0 => approval(u8::try_from(number).unwrap()),
            1 => refusal(),
            _ => RequestDecision::Withdraw,
        };
        store.decide_request(&RequestId::new("r1"), &decision, None, &by()).await.unwrap()
    })
    .await;
    let winners = outcomes.iter().filter(|outcome| matches!(outcome, DecisionOutcome::Decided(_))).count();
    assert_eq!(winners, 1, "{outcomes:?}");
    let state = fixture.store.find_request(&RequestId::new("r1")).await.unwrap().unwrap().state;
    let clients =
        fixture.store.list_clients(&ListFilter::default(), &ListQuery::default()).await.unwrap().rows.len();
    assert_eq!(clients, usize::from(state == RequestState::Approved));
}

pub(crate) async fn pending_requests_are_bounded(fixture: Fixture) {
    add_team(&fixture, "panel", "ana").await;
    let other = fixture.reopen().await.store;
    let now = fixture.now();
    let template = request(&fixture, "any", new_client());
    let outcomes = concurrently(PENDING_REQUESTS_MAX + 4, &[&fixture.store, &other], |number, store| {
        let request = TeamRequest { id: RequestId::new(format!("r{number}")), ..template.clone() };
        async move { store.add_request(&request, &by()).await.unwrap() }
    })
    .await;
    let asked = outcomes.iter().filter(|outcome| **outcome == AskOutcome::Asked).count();
    assert_eq!(asked, PENDING_REQUESTS_MAX);
    let pending = RequestFilter { state: Some(RequestState::Pending), ..RequestFilter::default() };
    let first = fixture.store.list_requests(&pending, &ListQuery::default()).await.unwrap().rows;
    let _ = decide(&fixture, first[0].id.as_str(), &RequestDecision::Withdraw).await;
    let more = TeamRequest { id: RequestId::new("more"), created_at: now, ..template };
    assert_eq!(fixture.store.add_request(&more, &by()).await, Ok(AskOutcome::Asked));
}

pub(crate) async fn old_decided_requests_make_room(fixture: Fixture) {
    add_team(&fixture, "panel", "ana").await;
    ask(&fixture, "kept", new_client()).await;
    for number in 0..=DECIDED_REQUESTS_MAX + 1 {
        fixture.clock.advance(Duration::from_secs(1));
        let id = format!("r{number}");
        ask(&fixture, &id, new_client()).await;
        let _ = decide(&fixture, &id, &RequestDecision::Withdraw).await;
    }
    let all = fixture.store.list_requests(&RequestFilter::default(), &ListQuery::default()).await.unwrap();
    assert_eq!(all.rows.len(), DECIDED_REQUESTS_MAX + 2, "the last one was decided after it was asked");
    assert_eq!(all.rows[0].id.as_str(), "kept", "a pending request is never deleted");
    assert_eq!(all.rows[1].id.as_str(), "r1");
}

pub(crate) async fn every_step_is_audited(fixture: Fixture) {
    add_team(&fixture, "panel", "ana").await;
    fixture.clock.advance(Duration::from_secs(1));
    let since = Some(fixture.now());
    for (id, decision) in [("r1", approval(1)), ("r2", refusal()), ("r3", RequestDecision::Withdraw)] {
        ask(&fixture, id, new_client()).await;
        fixture.clock.advance(Duration::from_secs(1));
        let _ = decide(&fixture, id, &decision).await;
        let _ = decide(&fixture, id, &decision).await;
        fixture.clock.advance(Duration::from_secs(1));
    }
    let query = AuditQuery { rows_max: 100, since, ..AuditQuery::default() };
    let mut records = fixture.store.audit(&query).await.unwrap();
    records.reverse();
    let mut kinds: Vec<_> = records
        .iter()
        .map(|record| (record.entry.kind.as_str(), record.entry.object.clone().unwrap_or_default()))
        .collect();
    // The client's entry and that of the request are equally old.
    kinds[1..3].sort();
    let expected = [
        ("request_added", "request:r1"),
        ("client_added", ""),
        ("request_approved", "request:r1"),
        ("request_added", "request:r2"),
        ("request_refused", "request:r2"),
        ("request_added", "request:r3"),
        ("request_withdrawn", "request:r3"),
    ];
    assert_eq!(kinds, expected.map(|(kind, object)| (kind, object.to_owned())));
    let texts = format!("{records:?}");
    assert!(!texts.contains("hush") && texts.contains("sin contrato"), "{texts}");
}
