//! Requests of teams in SQLite.

use async_trait::async_trait;
use domain::{ClientId, RequestId, TeamId};
use rusqlite::{Connection, params};

use super::audit::append_audit;
use super::clients::{CLIENT, change_client, insert_client};
use super::directory::change;
use super::notices::insert_notice;
use super::rows::{find, parse};
use super::subscriptions::insert_subscription;
use super::teams::TEAM;
use super::{SqliteStore, exists, store_error};
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

/// The client that a request names.
fn named_client(reader: &Connection, kind: &RequestKind) -> Result<Option<Client>> {
    let RequestKind::RedirectUri { client: id, .. } = kind else { return Ok(None) };
    find_client(reader, id)
}

fn find_client(reader: &Connection, id: &ClientId) -> Result<Option<Client>> {
    find(reader, &format!("{CLIENT} WHERE id = ?1"), id.as_str(), parse)
}

fn insert(writer: &Connection, one: &TeamRequest) -> Result<()> {
    // Old decided requests of the team make room.
    change(
        writer,
        "DELETE FROM requests WHERE team_id = ?1 AND state <> 0 AND (created_at, id) <=
             (SELECT created_at, id FROM requests WHERE team_id = ?1 AND state <> 0
              ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET ?2)",
        params![one.team.as_str(), i64::try_from(DECIDED_REQUESTS_MAX).unwrap_or(i64::MAX)],
    )?;
    writer
        .execute(
            "INSERT INTO requests (id, team_id, details, state, note, asked_by, created_at, decided_by, decided_at,
                 reason, result, revision)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            params![
                one.id.as_str(),
                one.team.as_str(),
                one.kind.to_json(),
                one.state.code(),
                one.note,
                one.asked_by.as_str(),
                one.created_at.0,
                one.decided_by,
                one.decided_at.map(|at| at.0),
                one.reason,
                one.result,
                signed(one.revision)
            ],
        )
        .map_err(exists(format!("a request \"{}\"", one.id)))?;
    Ok(())
}

fn carry_out(
    writer: &Connection,
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
            insert_client(writer, random, &client, hash, act)
        }
        Effect::AddSubscription(one) => {
            let [primary, secondary] = &approval.keys;
            let keys = SealedKey::pair(ports, &one.id, primary, secondary)?;
            insert_subscription(writer, random, &one, &keys, act)
        }
        Effect::SetRedirectUris(client, uris) => {
            let update = ClientUpdate { redirect_uris: Some(uris), ..ClientUpdate::default() };
            change_client(writer, random, &client, &update, None, act).map(drop)
        }
    }
}

fn decide(
    writer: &Connection,
    ports: &Ports,
    id: &RequestId,
    decision: &RequestDecision,
    expected_revision: Option<u64>,
    act: &Act,
) -> Result<DecisionOutcome> {
    let found = find::<TeamRequest>(writer, &format!("{REQUEST} WHERE id = ?1"), id.as_str(), parse)?;
    let Some(before) = found else {
        return Ok(DecisionOutcome::NotFound);
    };
    let team = find(writer, &format!("{TEAM} WHERE id = ?1"), before.team.as_str(), parse)?;
    let client = named_client(writer, &before.kind)?;
    let decided = decide_request(&before, team.as_ref(), client.as_ref(), decision, expected_revision, act);
    let (after, effect) = match decided {
        Err(outcome) => return Ok(outcome),
        Ok(decided) => decided,
    };
    carry_out(writer, ports, effect, decision, act)?;
    change(
        writer,
        "UPDATE requests SET state = ?2, decided_by = ?3, decided_at = ?4, reason = ?5, result = ?6, revision = ?7
         WHERE id = ?1",
        params![
            id.as_str(),
            after.state.code(),
            after.decided_by,
            after.decided_at.map(|at| at.0),
            after.reason,
            after.result,
            signed(after.revision)
        ],
    )?;
    append_audit(writer, &*ports.random, act.request_decided(&before, &after))?;
    if let Some(notice) = Notice::of_decision(&after, decision, ports.random.guid()) {
        insert_notice(writer, &notice)?;
    }
    Ok(DecisionOutcome::Decided(Box::new(after)))
}

#[async_trait]
impl TeamRequests for SqliteStore {
    async fn add_request(&self, request: &TeamRequest, context: &AuditContext) -> Result<AskOutcome> {
        let (one, act, random) = (request.clone(), self.act(context), self.ports().random.clone());
        self.write(move |writer| {
            let team = find(writer, &format!("{TEAM} WHERE id = ?1"), one.team.as_str(), parse)?;
            let pending: i64 = writer
                .prepare_cached("SELECT count(*) FROM requests WHERE team_id = ?1 AND state = 0")
                .and_then(|mut count| count.query_row([one.team.as_str()], |row| row.get(0)))
                .map_err(store_error)?;
            let client = named_client(writer, &one.kind)?;
            let pending = usize::try_from(pending).unwrap_or(usize::MAX);
            let outcome = decide_ask(&one, team.as_ref(), pending, client.as_ref());
            if outcome == AskOutcome::Asked {
                insert(writer, &one)?;
                append_audit(writer, &*random, act.request_added(&one))?;
            }
            Ok(outcome)
        })
        .await
    }

    async fn find_request(&self, id: &RequestId) -> Result<Option<TeamRequest>> {
        self.read(|reader| find(reader, &format!("{REQUEST} WHERE id = ?1"), id.as_str(), parse))
    }

    async fn list_requests(
        &self,
        filter: &RequestFilter,
        query: &ListQuery,
    ) -> Result<ListPage<TeamRequest>> {
        let by_team = if filter.team.is_some() { "team_id = ?4" } else { "?4 IS NULL" };
        let by_state = if filter.state.is_some() { "state = ?5" } else { "?5 IS NULL" };
        let sql = format!(
            "{REQUEST} WHERE {by_team} AND {by_state} AND (created_at, id) > (?1, ?2)
             ORDER BY created_at, id LIMIT ?3"
        );
        let (created_at, id) = query.after();
        let team = filter.team.as_ref().map(TeamId::as_str);
        let args = params![created_at, id, query.limit(), team, filter.state.map(RequestState::code)];
        let rows = self.read(|reader| {
            reader
                .prepare_cached(&sql)
                .and_then(|mut all| all.query_map(args, parse)?.collect())
                .map_err(store_error)
        })?;
        Ok(query.page(rows))
    }

    async fn decide_request(
        &self,
        id: &RequestId,
        decision: &RequestDecision,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<DecisionOutcome> {
        let (id, decision, act) = (id.clone(), decision.clone(), self.act(context));
        let ports = self.ports().clone();
        self.write_access(move |writer| decide(writer, &ports, &id, &decision, expected_revision, &act)).await
    }
}
