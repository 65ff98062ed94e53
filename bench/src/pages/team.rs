//! The team: its developers, clients, subscriptions and requests, and its webhooks over the tenants of its customers.

use std::time::Duration;

use domain::event::EventKind;
use domain::ids::SubscriptionId;
use domain::subscription::{Product, Products};
use domain::{
    AccountId, ClientId, GrantId, MembershipId, Random as _, Realm, RequestId, Resource, Scopes, Secret,
    TeamId, TenantId, Ticks,
};
use store::{
    Account, AuthorizationCode, CallbackIdToken, Client, CodeExchange, CodeOutcome, Consent, FIRST_REVISION,
    Grant, HandshakeStep, MemberStep, Membership, NewGrant, NewWebhook, Pkce, RequestDecision, RequestKind,
    RequestState, Status, SubscribeOutcome, Subscription, TeamMemberChange, TeamRequest, TeamRole, Tenant,
    Webhook, WebhookOwner,
};

use super::data::{Size, Writer};
use crate::Fallible;

const DEVELOPERS: usize = 20;
const CLIENTS: usize = 5;
const SUBSCRIPTIONS: usize = 10;
const PENDING_REQUESTS: usize = 20;
const REFUSED_REQUESTS: usize = 180;
/// One in so many webhooks is of the tenant with the records.
const OF_BIG_TENANT: usize = 20;
/// The records of every other tenant.
pub(super) const FEW_RECORDS: u64 = 20;
/// The webhook with the deliveries, and the one whose receiver is down; both of the tenant with the records.
pub(super) const BUSY: usize = 0;
pub(super) const DOWN: usize = OF_BIG_TENANT;
const SCOPES: &str = "openid offline_access SVC.ES.NEWPOL.ACC.API SVC.ES.EquipoContex SVC.ES.Webhooks";
const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

pub(super) struct Team {
    pub(super) id: TeamId,
    pub(super) name: String,
    pub(super) developer: AccountId,
    pub(super) clients: Vec<ClientId>,
    pub(super) subscriptions: Vec<SubscriptionId>,
    pub(super) user: AccountId,
    /// In order of creation.
    pub(super) webhooks: Vec<TeamWebhook>,
}

pub(super) struct TeamWebhook {
    pub(super) webhook: Webhook,
    /// The head of its tenant's log once all records are written.
    pub(super) head: u64,
}

/// A customer's tenant, and the client that it has authorized.
struct Customer {
    tenant: TenantId,
    client: ClientId,
    head: u64,
}

pub(super) async fn write(writer: &Writer, big_tenant: &TenantId, size: &Size) -> Fallible<Team> {
    let id = TeamId::new("bench");
    let mut team = Team {
        name: "Equipo de integración".into(),
        developer: AccountId::new("developer-0"),
        clients: (0..CLIENTS).map(|number| ClientId::new(format!("client-{number}"))).collect(),
        subscriptions: (0..SUBSCRIPTIONS)
            .map(|number| SubscriptionId::new(format!("subscription-{number}")))
            .collect(),
        user: AccountId::new("maria"),
        webhooks: Vec::new(),
        id,
    };
    add_team(writer, &team).await?;
    add_requests(writer, &team).await?;
    let customers = add_customers(writer, &team, big_tenant, size).await?;
    team.webhooks = subscribe(writer, &team, &customers, size).await?;
    Ok(team)
}

pub(super) fn account(writer: &Writer, id: &AccountId, realm: Realm) -> Account {
    Account {
        id: id.clone(),
        realm,
        email: format!("{id}@example.com"),
        given_name: "María".into(),
        family_name: String::new(),
        lang: "es".into(),
        // Nobody signs in with a password.
        password_hash: String::new(),
        status: Status::Active,
        role: None,
        created_at: writer.start,
        updated_at: writer.start,
        revision: FIRST_REVISION,
    }
}

async fn add_team(writer: &Writer, team: &Team) -> Fallible<()> {
    let (store, by, created_at) = (&writer.store, &writer.by, writer.start);
    let row = store::Team {
        id: team.id.clone(),
        name: team.name.clone(),
        status: Status::Active,
        created_at,
        revision: FIRST_REVISION,
    };
    store.add_team(&row, by).await?;
    for number in 0..DEVELOPERS {
        let id = AccountId::new(format!("developer-{number}"));
        store.add_account(&account(writer, &id, Realm::Developers), &[], by).await?;
        let step = MemberStep::Add(if number == 0 { TeamRole::Owner } else { TeamRole::Member });
        let change = TeamMemberChange { team: team.id.clone(), account: id, step };
        let _ = store.change_team_member(&change, by).await?;
    }
    for (number, id) in team.clients.iter().enumerate() {
        let client = Client {
            id: id.clone(),
            guid: writer.random.guid(),
            name: format!("Panel {number}"),
            redirect_uris: vec!["https://panel.example/callback".into()],
            post_logout_uris: Vec::new(),
            pkce: Pkce::IfSent,
            consent: Consent::None,
            kind: domain::ClientKind::Web,
            backchannel_logout_uri: None,
            callback_id_token: CallbackIdToken::Auto,
            products: Products::all(),
            team: Some(team.id.clone()),
            is_sandbox: false,
            status: Status::Active,
            created_at: created_at + Duration::from_secs(u64::try_from(number)?),
            revision: FIRST_REVISION,
        };
        store.add_client(&client, &Secret::new(writer.random.token()), by).await?;
    }
    for (number, id) in team.subscriptions.iter().enumerate() {
        let subscription = Subscription {
            id: id.clone(),
            name: format!("Suscripción {number}"),
            products: Products::all(),
            team: Some(team.id.clone()),
            is_sandbox: number == 1,
            status: Status::Active,
            created_at: created_at + Duration::from_secs(u64::try_from(number)?),
            daily_quota: Some(100_000),
            cancelled_at: None,
            revision: FIRST_REVISION,
        };
        let keys = [(); 2].map(|()| Secret::new(writer.random.token()));
        store.add_subscription(&subscription, &keys[0], &keys[1], by).await?;
    }
    Ok(())
}

/// Requests up to what a team may have; each refusal is a notice too.
async fn add_requests(writer: &Writer, team: &Team) -> Fallible<()> {
    for number in 0..REFUSED_REQUESTS + PENDING_REQUESTS {
        let id = RequestId::new(format!("request-{number}"));
        let name = format!("Petición {number}");
        let request = TeamRequest {
            id: id.clone(),
            team: team.id.clone(),
            kind: if number % 2 == 0 {
                RequestKind::Subscription { name, product: Product::Accounting, is_sandbox: false }
            } else {
                let uri = format!("https://panel.example/callback-{number}");
                RequestKind::RedirectUri { client: team.clients[0].clone(), uri }
            },
            state: RequestState::Pending,
            note: "Para la nueva versión".into(),
            asked_by: team.developer.clone(),
            created_at: writer.at(u64::try_from(number)?, 1_000),
            decided_by: None,
            decided_at: None,
            reason: String::new(),
            result: None,
            revision: FIRST_REVISION,
        };
        let _ = writer.store.add_request(&request, &writer.by).await?;
        if number < REFUSED_REQUESTS {
            let refusal = RequestDecision::Refuse { reason: "Falta el contrato".into() };
            let _ = writer.store.decide_request(&id, &refusal, None, &writer.by).await?;
        }
    }
    Ok(())
}

/// The tenant with the records comes first.
async fn add_customers(
    writer: &Writer,
    team: &Team,
    big_tenant: &TenantId,
    size: &Size,
) -> Fallible<Vec<Customer>> {
    let small = (0..size.tenants).map(small_tenant);
    let customers: Vec<Customer> = std::iter::once(big_tenant.clone())
        .chain(small)
        .enumerate()
        .map(|(number, tenant)| Customer {
            head: if number == 0 { size.records + 1 } else { FEW_RECORDS + 1 },
            client: team.clients[number % CLIENTS].clone(),
            tenant,
        })
        .collect();
    for (number, customer) in customers.iter().enumerate().skip(1) {
        let tenant = Tenant {
            id: customer.tenant.clone(),
            name: format!("Bodegas Peñalver {number} S.L."),
            short_code: format!("T{number}"),
            status: Status::Active,
            created_at: writer.start,
            revision: FIRST_REVISION,
            sandbox_of: None,
        };
        writer.store.add_tenant(&tenant, &writer.by).await?;
    }
    let membership =
        |customer: &Customer| Membership::new(&writer.random, &team.user, &customer.tenant, writer.start);
    let memberships: Vec<Membership> = customers.iter().map(membership).collect();
    let user = account(writer, &team.user, Realm::Users);
    writer.store.add_account(&user, &memberships, &writer.by).await?;
    for (customer, membership) in customers.iter().zip(&memberships) {
        authorize(writer, team, customer, &membership.id).await?;
    }
    for customer in customers.iter().skip(1) {
        writer.few_records(&customer.tenant, FEW_RECORDS).await?;
    }
    Ok(customers)
}

/// A tenant with a few records.
pub(super) fn small_tenant(number: usize) -> TenantId {
    TenantId::new(format!("tenant-{number}"))
}

/// Issues a code and exchanges it, as a sign-in does.
async fn authorize(
    writer: &Writer,
    team: &Team,
    customer: &Customer,
    membership: &MembershipId,
) -> Fallible<()> {
    let (code, now) = (Secret::new(writer.random.token()), writer.start);
    let (client, tenant, user) = (customer.client.clone(), customer.tenant.clone(), team.user.clone());
    let issued = AuthorizationCode {
        client: client.clone(),
        user: user.clone(),
        tenant: tenant.clone(),
        expires_at: now + Duration::from_secs(60),
        details: "{}".into(),
    };
    writer.store.store_code(&code, &issued, membership, now, &writer.by).await?;
    let grant = Grant {
        id: GrantId::new(writer.random.guid().to_string()),
        client: client.clone(),
        user,
        tenant,
        details: "{}".into(),
        created_at: now,
        last_used_at: now,
        expires_at: now + YEAR,
        revoked_at: None,
    };
    let new_grant = NewGrant { grant, scopes: Scopes::parse(SCOPES).scopes, refresh: None, session: None };
    let exchange = CodeExchange { code, client, now, context: writer.by.clone() };
    match writer.store.take_code(&exchange, Box::new(|_| Some(new_grant))).await? {
        CodeOutcome::Redeemed { .. } => Ok(()),
        other => Err(format!("the code was not redeemed: {other:?}").into()),
    }
}

/// Subscribes, and accepts the handshakes of all webhooks but some.
async fn subscribe(
    writer: &Writer,
    team: &Team,
    customers: &[Customer],
    size: &Size,
) -> Fallible<Vec<TeamWebhook>> {
    let mut webhooks = Vec::new();
    for number in 0..size.webhooks {
        let is_big = number.is_multiple_of(OF_BIG_TENANT);
        let customer = &customers[if is_big { 0 } else { 1 + number % (customers.len() - 1) }];
        writer.clock.set(writer.at(u64::try_from(number)?, 1_000_000));
        let new = NewWebhook {
            id: writer.random.guid(),
            owner: WebhookOwner { tenant: customer.tenant.clone(), client: customer.client.clone() },
            user: team.user.clone(),
            resource: Resource::customers(),
            kinds: EventKind::ALL.into_iter().collect(),
            name: format!("Panel {number}"),
            description: String::new(),
            url: format!("https://receiver-{number}.example/hook"),
            secret: Secret::new(writer.random.token()),
            host_mismatch: String::new(),
            enabled: true,
        };
        let webhook = match writer.store.subscribe(new, size.webhooks, &writer.by).await? {
            SubscribeOutcome::Created(webhook) => webhook,
            other => return Err(format!("the webhook was not created: {other:?}").into()),
        };
        webhooks.push(TeamWebhook { webhook, head: customer.head });
    }
    let mut accepted = Vec::new();
    for one in webhooks.iter().enumerate().filter(|(number, _)| !is_awaiting_contract(*number)) {
        let webhook = &one.1.webhook;
        let mut step = writer.checkpoint(webhook.id, webhook.revision);
        step.handshake = Some(HandshakeStep::Accepted { number: webhook.handshake.number, head: 0 });
        accepted.push(step);
    }
    writer.write_checkpoints(accepted).await?;
    Ok(webhooks)
}

/// Some of the webhooks of other tenants.
pub(super) fn is_awaiting_contract(number: usize) -> bool {
    number % OF_BIG_TENANT == 7
}

/// A time at which nothing is attempted during the benchmark.
pub(super) fn later(writer: &Writer) -> Ticks {
    writer.now + Duration::from_secs(12 * 60 * 60)
}
