//! The search over everything by id, address or name of a request: one bounded look-up for each kind of thing, all at once.

mod hit;

use domain::ids::{InvitationId, OperatorTokenId, SubscriptionId, is_hyphenated_guid};
use domain::outgoing_id::IdKey;
use domain::{AccountId, ClientId, Guid, Realm, RequestId, TeamId, TenantId, WebhookId};
use store::{Account, AuditQuery};

pub use hit::{SearchHit, SearchKind, SearchResults};

use super::{Admin, AdminError, Result};

const TEXT_CHARS_MAX: usize = 254;
/// Of each kind.
const HITS_MAX: usize = 10;
/// An `OutgoingId` can be read with the key of its webhook alone: the newest ones are tried.
const WEBHOOKS_TRIED_MAX: usize = 10_000;
/// With the key of another webhook, an id reads as a random number of 64 bits. No log is that long.
const SEQUENCE_MAX: u64 = 1 << 48;

type Hits = Result<Vec<SearchHit>>;

impl Admin {
    /// Everything that has this id or address, or that a request with this id did.
    pub async fn search(&self, text: &str) -> Result<SearchResults> {
        let text = text.trim();
        if text.is_empty() || text.contains('\0') || text.chars().count() > TEXT_CHARS_MAX {
            return Err(AdminError::Invalid(format!(
                "a search has 1 to {TEXT_CHARS_MAX} characters, none of them NUL"
            )));
        }
        let found = if text.contains('@') {
            let (accounts, invitations, records) =
                tokio::join!(self.accounts_by_email(text), self.invitations_to(text), self.record_hits(text));
            vec![accounts, invitations, records]
        } else {
            let (people, owned, webhooks, deliveries, records, traces) = tokio::join!(
                self.people(text),
                self.owned_by_teams(text),
                self.webhook_hits(text),
                self.delivery_hits(text),
                self.record_hits(text),
                self.traces(text),
            );
            vec![people, owned, webhooks, deliveries, records, traces]
        };
        let hits: Vec<Vec<SearchHit>> = found.into_iter().collect::<Result<_>>()?;
        Ok(SearchResults { query: text.to_owned(), hits: hits.into_iter().flatten().collect() })
    }

    async fn accounts_by_email(&self, text: &str) -> Hits {
        let email = text.to_lowercase();
        let find = |realm| self.store.find_account_by_email(realm, &email);
        let found = tokio::try_join!(find(Realm::Users), find(Realm::Developers), find(Realm::Operators))?;
        Ok([found.0, found.1, found.2].into_iter().flatten().map(account_hit).collect())
    }

    async fn invitations_to(&self, text: &str) -> Hits {
        let email = text.to_lowercase();
        let find = |realm| self.store.find_open_invitation(realm, &email);
        let found = tokio::try_join!(find(Realm::Users), find(Realm::Developers), find(Realm::Operators))?;
        let hit = |one: store::Invitation| SearchHit::new(SearchKind::Invitation, &one.id).named(one.email);
        Ok([found.0, found.1, found.2].into_iter().flatten().map(hit).collect())
    }

    /// Tenants, accounts and invitations by their id.
    async fn people(&self, text: &str) -> Hits {
        let (tenant, account) = (TenantId::new(text), AccountId::new(text));
        let (invitation, token) = (InvitationId::new(text), OperatorTokenId::new(text));
        let (tenant, account, invitation, token) = tokio::try_join!(
            self.store.find_tenant(&tenant),
            self.store.find_account(&account),
            self.store.find_invitation(&invitation),
            self.store.find_operator_token(&token),
        )?;
        let tenant = tenant.map(|one| SearchHit::new(SearchKind::Tenant, &one.id).named(one.name));
        let invitation =
            invitation.map(|one| SearchHit::new(SearchKind::Invitation, &one.id).named(one.email));
        let token = token.map(|one| SearchHit::new(SearchKind::Token, &one.id).named(one.name));
        Ok([tenant, account.map(account_hit), invitation, token].into_iter().flatten().collect())
    }

    /// Teams, and their clients, subscriptions and requests, by their id.
    async fn owned_by_teams(&self, text: &str) -> Hits {
        let (team, client) = (TeamId::new(text), ClientId::new(text));
        let (subscription, request) = (SubscriptionId::new(text), RequestId::new(text));
        let (team, client, subscription, request) = tokio::try_join!(
            self.store.find_team(&team),
            self.store.find_client(&client),
            self.store.find_subscription(&subscription),
            self.store.find_request(&request),
        )?;
        let team = team.map(|one| SearchHit::new(SearchKind::Team, &one.id).named(one.name));
        let client = client.map(|one| SearchHit::new(SearchKind::Client, &one.id).named(one.name));
        let subscription =
            subscription.map(|one| SearchHit::new(SearchKind::Subscription, &one.id).named(one.name));
        let request =
            request.map(|one| SearchHit::new(SearchKind::Request, &one.id).named(one.team.to_string()));
        Ok([team, client, subscription, request].into_iter().flatten().collect())
    }

    async fn webhook_hits(&self, text: &str) -> Hits {
        let Some(id) = Guid::parse(text) else { return Ok(Vec::new()) };
        let found = self.store.find_webhook(id).await?;
        let hit = |one: store::Webhook| {
            let hit = SearchHit::new(SearchKind::Webhook, &one.id).named(one.name);
            SearchHit { tenant: Some(one.owner.tenant.to_string()), ..hit }
        };
        Ok(found.into_iter().map(hit).collect())
    }

    /// The delivery that has this `OutgoingId`.
    async fn delivery_hits(&self, text: &str) -> Hits {
        let Some(id) = Guid::parse(text) else { return Ok(Vec::new()) };
        let mut hits = Vec::new();
        for (webhook, sequence) in self.sequences_of(id).await? {
            hits.extend(self.delivery_hit(webhook, sequence, id).await?);
        }
        Ok(hits)
    }

    /// What the id stands for with the key of each webhook, where that may be an event. It takes a few microseconds for each webhook.
    async fn sequences_of(&self, id: Guid) -> Result<Vec<(WebhookId, u64)>> {
        // Every `OutgoingId` is a version 8 GUID.
        if IdKey::new(&[0; 32]).sequence_from_id(id).is_none() {
            return Ok(Vec::new());
        }
        let webhooks = self.store.newest_webhooks(WEBHOOKS_TRIED_MAX).await?;
        let store = self.store.clone();
        let tried = tokio::task::spawn_blocking(move || {
            let sequence = |webhook: WebhookId| {
                let sequence = IdKey::new(&store.outgoing_id_key(webhook)).sequence_from_id(id)?;
                (1..SEQUENCE_MAX).contains(&sequence).then_some((webhook, sequence))
            };
            webhooks.into_iter().filter_map(sequence).take(HITS_MAX).collect()
        });
        Ok(tried.await.unwrap_or_default())
    }

    /// The delivery, if its event has this id, or is no longer in the log but was sent.
    async fn delivery_hit(&self, webhook: WebhookId, sequence: u64, id: Guid) -> Result<Option<SearchHit>> {
        let Some(found) = self.store.find_webhook(webhook).await? else { return Ok(None) };
        let events = self.store.find_events(&found.owner.tenant, found.resource, &[sequence]).await?;
        let is_it = if let Some(event) = events.first() {
            IdKey::new(&self.store.outgoing_id_key(webhook)).event_id(sequence, event.entry.conversation)
                == id
        } else {
            let history = self.store.delivery_history(webhook, sequence).await?;
            history.delivered.is_some() || !history.attempts.is_empty()
        };
        Ok(is_it.then(|| SearchHit {
            tenant: Some(found.owner.tenant.to_string()),
            webhook: Some(webhook.to_string()),
            sequence: Some(sequence.to_string()),
            ..SearchHit::new(SearchKind::Delivery, &id).named(found.name)
        }))
    }

    /// Companies and other records with this correlation id; a GUID also in lower case.
    async fn record_hits(&self, text: &str) -> Hits {
        let mut found = self.store.find_records(text, HITS_MAX).await?;
        let lower = text.to_lowercase();
        if is_hyphenated_guid(text) && lower != text {
            found.extend(self.store.find_records(&lower, HITS_MAX).await?);
        }
        let hit = |one: store::FoundRecord| SearchHit {
            tenant: Some(one.tenant.to_string()),
            company: one.company.map(String::from),
            area: Some(one.resource.area().as_str()),
            resource: Some(one.resource.as_str()),
            ..SearchHit::new(SearchKind::Record, &one.correlation_id)
        };
        Ok(found.into_iter().take(HITS_MAX).map(hit).collect())
    }

    /// The audit entries and the logged calls of a request.
    async fn traces(&self, text: &str) -> Hits {
        let query =
            AuditQuery { request_id: Some(text.to_owned()), rows_max: HITS_MAX, ..AuditQuery::default() };
        let (entries, calls) =
            tokio::try_join!(self.store.audit(&query), self.store.find_calls(text, HITS_MAX))?;
        let mut hits = Vec::new();
        if let Some(newest) = entries.first() {
            let hit = SearchHit::new(SearchKind::Audit, &text).named(newest.entry.kind.as_str().to_owned());
            hits.push(SearchHit { at: Some(newest.entry.at.iso()), ..hit });
        }
        hits.extend(calls.into_iter().map(|one| SearchHit {
            at: Some(one.call.at.iso()),
            tenant: one.call.tenant.map(|tenant| tenant.to_string()),
            client: one.call.client.map(|client| client.to_string()),
            subscription: Some(one.call.subscription.to_string()),
            status: Some(one.call.status),
            ..SearchHit::new(SearchKind::Call, &text).named(format!("{} {}", one.call.method, one.call.route))
        }));
        Ok(hits)
    }
}

fn account_hit(account: Account) -> SearchHit {
    let kind = match account.realm {
        Realm::Users => SearchKind::User,
        Realm::Developers => SearchKind::Developer,
        Realm::Operators => SearchKind::Operator,
    };
    SearchHit::new(kind, &account.id).named(account.email)
}
