//! Requests of teams in PostgreSQL.

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::{RequestId, TeamId};

use super::audit::append_audit;
use super::clients::{CLIENT, change_client, insert_client};
use super::notices::insert_notice;
use super::rows::{execute, limit, parse, row};
use super::subscriptions::insert_subscription;
use super::teams::lock_team;
use super::{PostgresStore, exists, store_error};
use crate::audit::Act;
use crate::clients::CLIENT_SECRET;
use crate::plan::signed;
use crate::requests::{Effect, decide_ask, decide_request};
use crate::subscriptions::SealedKey;
use crate::{
    AskOutcome, AuditContext, Client, ClientUpdate, DECIDED_REQUESTS_MAX, DecisionOutcome, ListPage,
    ListQuery, Notice, Ports, RequestDecision, RequestFilter, RequestKind, RequestState, Result, TeamRequest,
    TeamRequests,
};

const REQUEST: &str = "SELECT id, team_id, details, state, note, asked_by, created_at, decided_by, decided_at, reason, \
                       result, revision FROM requests";

/// The client that a request names, locked.
async fn named_client(on: &Transaction<'_>, kind: &RequestKind) -> Result<Option<Client>> {
    let RequestKind::RedirectUri { client: id, .. } = kind else { return Ok(None) };
    let found = row(on, &format!("{CLIENT} WHERE id = $1 FOR UPDATE"), &[&id.as_str()]).await?;
    found.as_ref().map(parse).transpose()
}

async fn insert(on: &Transaction<'_>, one: &TeamRequest) -> Result<()> {
    // Old decided requests of the team make room.
    execute(
        on,
        "DELETE FROM requests WHERE team_id = $1 AND state <> 0 AND (created_at, id) <=
             (SELECT created_at, id FROM requests WHERE team_id = $1 AND state <> 0
              ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET $2)",
        &[&one.team.as_str(), &limit(DECIDED_REQUESTS_MAX)],
    )
    .await
    .map_err(store_error)?;
    execute(
        on,
        "INSERT INTO requests (id, team_id, details, state, note, asked_by, created_at, decided_by, decided_at,
             reason, result, revision)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        &[
            &one.id.as_str(),
            &one.team.as_str(),
            &one.kind.to_json(),
            &one.state.code(),
            &one.note,
            &one.asked_by.as_str(),
            &one.created_at.0,
            &one.decided_by,
            &one.decided_at.map(|at| at.0),
            &one.reason,
            &one.result,
            &signed(one.revision),
        ],
    )
    .await
    .map_err(exists(format!("a request \"{}\"", one.id)))?;
    Ok(())
}

async fn carry_out(
    on: &Transaction<'_>,
    ports: &Ports,
    effect: Effect,
    decision: &RequestDecision,
    act: &Act,
) -> Result<()> {
    let RequestDecision::Approve(approval) = decision else { return Ok(()) };
    let (random, vault) = (&*ports.random, &ports.vault);
    match effect {
        Effect::None => Ok(()),
        Effect::AddClient(client) => {
            let hash = vault.fingerprint(CLIENT_SECRET, &approval.secret);
            insert_client(on, random, &client, hash, act).await
        }
        Effect::AddSubscription(one) => {
            let [primary, secondary] = &approval.keys;
            let keys = SealedKey::pair(ports, &one.id, primary, secondary)?;
            insert_subscription(on, random, &one, &keys, act).await
        }
        Effect::SetRedirectUris(client, uris) => {
            let update = ClientUpdate { redirect_uris: Some(uris), ..ClientUpdate::default() };
            change_client(on, random, &client, &update, None, act).await.map(drop)
        }
    }
}

async fn decide(
    on: &Transaction<'_>,
    ports: &Ports,
    id: &RequestId,
    decision: &RequestDecision,
    expected_revision: Option<u64>,
    act: &Act,
) -> Result<DecisionOutcome> {
    // The team first, as everywhere.
    let owner = row(on, "SELECT team_id FROM requests WHERE id = $1", &[&id.as_str()]).await?;
    let Some(owner) = owner.map(|row| TeamId::new(row.get::<_, Box<str>>(0))) else {
        return Ok(DecisionOutcome::NotFound);
    };
    let team = lock_team(on, &owner).await?;
    let find = format!("{REQUEST} WHERE id = $1 FOR UPDATE");
    let found = row(on, &find, &[&id.as_str()]).await?;
    let Some(before) = found.as_ref().map(parse::<TeamRequest>).transpose()? else {
        return Ok(DecisionOutcome::NotFound);
    };
    let client = named_client(on, &before.kind).await?;
    let decided = decide_request(&before, team.as_ref(), client.as_ref(), decision, expected_revision, act);
    let (after, effect) = match decided {
        Err(outcome) => return Ok(outcome),
        Ok(decided) => decided,
    };
    carry_out(on, ports, effect, decision, act).await?;
    execute(
        on,
        "UPDATE requests SET state = $2, decided_by = $3, decided_at = $4, reason = $5, result = $6, revision = $7
         WHERE id = $1",
        &[
            &id.as_str(),
            &after.state.code(),
            &after.decided_by,
            &after.decided_at.map(|at| at.0),
            &after.reason,
            &after.result,
            &signed(after.revision),
        ],
    )
    .await
    .map_err(store_error)?;
    append_audit(on, &*ports.random, act.request_decided(&before, &after)).await?;
    if let Some(notice) = Notice::of_decision(&after, decision, ports.random.guid()) {
        insert_notice(on, &notice).await?;
    }
    Ok(DecisionOutcome::Decided(Box::new(after)))
}

#[async_trait]
impl TeamRequests for PostgresStore {
    async fn add_request(&self, request: &TeamRequest, context: &AuditContext) -> Result<AskOutcome> {
        let mut connection = self.client().await?;
        let transaction = connection.transaction().await.map_err(store_error)?;
        let team = lock_team(&transaction, &request.team).await?;
        let count = "SELECT count(*) FROM requests WHERE team_id = $1 AND state = 0";
        let pending = row(&transaction, count, &[&request.team.as_str()]).await?;
        let pending = pending.map_or(0, |row| row.get::<_, i64>(0));
        let client = named_client(&transaction, &request.kind).await?;
        let pending = usize::try_from(pending).unwrap_or(usize::MAX);
        let outcome = decide_ask(request, team.as_ref(), pending, client.as_ref());
        if outcome == AskOutcome::Asked {
            insert(&transaction, request).await?;
            let entry = self.act(context).request_added(request);
            append_audit(&transaction, &*self.ports().random, entry).await?;
            transaction.commit().await.map_err(store_error)?;
        }
        Ok(outcome)
    }

    async fn find_request(&self, id: &RequestId) -> Result<Option<TeamRequest>> {
        let found = self.row(&format!("{REQUEST} WHERE id = $1"), &[&id.as_str()]).await?;
        found.as_ref().map(parse).transpose()
    }

    async fn list_requests(
        &self,
        filter: &RequestFilter,
        query: &ListQuery,
    ) -> Result<ListPage<TeamRequest>> {
        let by_team = if filter.team.is_some() { "team_id = $4" } else { "$4::text IS NULL" };
        let by_state = if filter.state.is_some() { "state = $5" } else { "$5::bigint IS NULL" };
        let sql = format!(
            "{REQUEST} WHERE {by_team} AND {by_state} AND (created_at, id) > ($1, $2)
             ORDER BY created_at, id LIMIT $3"
        );
        let (created_at, id) = query.after();
        let team = filter.team.as_ref().map(TeamId::as_str);
        let state = filter.state.map(RequestState::code);
        let found = self.rows(&sql, &[&created_at, &id, &query.limit(), &team, &state]).await?;
        Ok(query.page(found.iter().map(parse).collect::<Result<_>>()?))
    }

    async fn decide_request(
        &self,
        id: &RequestId,
        decision: &RequestDecision,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<DecisionOutcome> {
        let mut connection = self.client().await?;
        let transaction = connection.transaction().await.map_err(store_error)?;
        let act = self.act(context);
        let decided = decide(&transaction, self.ports(), id, decision, expected_revision, &act).await?;
        let committed = transaction.commit().await.map_err(store_error);
        // Also after an error: the connection may have broken after the commit.
        self.access_changed();
        committed.map(|()| decided)
    }
}
