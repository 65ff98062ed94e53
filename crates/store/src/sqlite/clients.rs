//! OAuth clients in SQLite.

use async_trait::async_trait;
use domain::subscription::Products;
use domain::{ClientId, Random, Secret, TeamId, Ticks};
use rusqlite::{Connection, OptionalExtension, params};

use super::audit::append_audit;
use super::directory::change;
use super::rows::{find, list_filtered, parse};
use super::{SqliteStore, exists, store_error};
use crate::audit::Act;
use crate::clients::{CLIENT_SECRET, secret_hash, to_list};
use crate::list_filter::CLIENTS;
use crate::plan::signed;
use crate::{
    AuditContext, CallbackIdToken, Client, ClientSecret, ClientUpdate, Clients, Consent, ListFilter,
    ListPage, ListQuery, Pkce, Result, Status, UpdateOutcome,
};

pub(super) const CLIENT: &str = "SELECT id, guid, name, redirect_uris, post_logout_uris, pkce, consent, callback_id_token, \
                      standing, created_at, revision, products, team_id, sandbox, kind, backchannel_logout_uri FROM clients";

/// Inserts a client and audits it.
pub(super) fn insert_client(
    writer: &Connection,
    random: &dyn Random,
    one: &Client,
    hash: [u8; 32],
    act: &Act,
) -> Result<()> {
    writer
        .execute(
            "INSERT INTO clients (id, guid, name, redirect_uris, post_logout_uris, pkce, consent,
                 callback_id_token, standing, created_at, secret_hash, revision, products, team_id, sandbox, kind,
                 backchannel_logout_uri)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
            params![
                one.id.as_str(),
                one.guid.as_bytes(),
                one.name,
                to_list(&one.redirect_uris),
                to_list(&one.post_logout_uris),
                one.pkce.code(),
                one.consent.code(),
                one.callback_id_token.code(),
                one.status.code(),
                one.created_at.0,
                secret_hash(one, hash),
                signed(one.revision),
                one.products.bits(),
                one.team.as_ref().map(TeamId::as_str),
                one.is_sandbox,
                one.kind.code(),
                one.backchannel_logout_uri
            ],
        )
        .map_err(exists(format!("a client \"{}\"", one.id)))?;
    set_origins(writer, one)?;
    append_audit(writer, random, act.client_added(one))
}

/// Stores the origins of a client's redirect URIs in place of the former ones.
fn set_origins(writer: &Connection, client: &Client) -> Result<()> {
    change(writer, "DELETE FROM client_origins WHERE client_id = ?1", [client.id.as_str()])?;
    client.origins().iter().try_for_each(|origin| {
        let sql = "INSERT INTO client_origins (origin, client_id) VALUES (?1, ?2)";
        change(writer, sql, [origin.as_str(), client.id.as_str()]).map(drop)
    })
}

/// Changes a client, if it has the expected revision, and audits it.
pub(super) fn change_client(
    writer: &Connection,
    random: &dyn Random,
    id: &ClientId,
    update: &ClientUpdate,
    expected_revision: Option<u64>,
    act: &Act,
) -> Result<UpdateOutcome<Client>> {
    let row = || find::<Client>(writer, &format!("{CLIENT} WHERE id = ?1"), id.as_str(), parse);
    let before = row()?;
    let updated = change(
        writer,
        "UPDATE clients SET name = coalesce(?2, name), redirect_uris = coalesce(?3, redirect_uris),
             post_logout_uris = coalesce(?4, post_logout_uris), pkce = coalesce(?5, pkce),
             consent = coalesce(?6, consent), callback_id_token = coalesce(?7, callback_id_token),
             standing = coalesce(?8, standing), products = coalesce(?10, products),
             team_id = CASE WHEN ?11 THEN ?12 ELSE team_id END, sandbox = coalesce(?13, sandbox),
             backchannel_logout_uri = CASE WHEN ?14 THEN ?15 ELSE backchannel_logout_uri END,
             revision = revision + 1
         WHERE id = ?1 AND (?9 IS NULL OR revision = ?9)",
        params![
            id.as_str(),
            update.name,
            update.redirect_uris.as_deref().map(to_list),
            update.post_logout_uris.as_deref().map(to_list),
            update.pkce.map(Pkce::code),
            update.consent.map(Consent::code),
            update.callback_id_token.map(CallbackIdToken::code),
            update.status.map(Status::code),
            expected_revision.map(signed),
            update.products.map(Products::bits),
            update.team.is_some(),
            update.team.as_ref().and_then(Option::as_ref).map(TeamId::as_str),
            update.is_sandbox,
            update.backchannel_logout_uri.is_some(),
            update.backchannel_logout_uri.as_ref().and_then(Option::as_deref)
        ],
    )?;
    let outcome = UpdateOutcome::of(updated, row()?);
    if let (Some(before), UpdateOutcome::Updated(after)) = (&before, &outcome) {
        if before.redirect_uris != after.redirect_uris {
            set_origins(writer, after)?;
        }
        append_audit(writer, random, act.client_changed(before, after))?;
    }
    Ok(outcome)
}

#[async_trait]
impl Clients for SqliteStore {
    async fn add_client(&self, client: &Client, secret: &Secret, context: &AuditContext) -> Result<()> {
        let hash = self.ports().vault.fingerprint(CLIENT_SECRET, secret);
        let (one, act, random) = (client.clone(), self.act(context), self.ports().random.clone());
        self.write(move |writer| insert_client(writer, &*random, &one, hash, &act)).await
    }

    async fn find_client(&self, id: &ClientId) -> Result<Option<Client>> {
        self.read(|reader| {
            reader
                .prepare_cached(&format!("{CLIENT} WHERE id = ?1"))
                .and_then(|mut find| find.query_row([id.as_str()], parse).optional())
                .map_err(store_error)
        })
    }

    async fn list_clients(&self, filter: &ListFilter, query: &ListQuery) -> Result<ListPage<Client>> {
        self.read(|reader| list_filtered(reader, (CLIENT, CLIENTS), filter, query, parse))
    }

    async fn update_client(
        &self,
        id: &ClientId,
        update: &ClientUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Client>> {
        let (id, update) = (id.clone(), update.clone());
        let (act, random) = (self.act(context), self.ports().random.clone());
        self.write_access(move |writer| {
            change_client(writer, &*random, &id, &update, expected_revision, &act)
        })
        .await
    }

    async fn set_client_secret(
        &self,
        id: &ClientId,
        secret: &ClientSecret,
        context: &AuditContext,
    ) -> Result<bool> {
        let hash = self.ports().vault.fingerprint(CLIENT_SECRET, &secret.secret);
        let (id, previous_valid_until) = (id.clone(), secret.previous_valid_until);
        let (act, random) = (self.act(context), self.ports().random.clone());
        self.write(move |writer| {
            let replaced = change(
                writer,
                "UPDATE clients SET old_secret_hash = secret_hash, old_secret_until = ?3, secret_hash = ?2,
                     revision = revision + 1 WHERE id = ?1 AND secret_hash <> x''",
                params![id.as_str(), hash, previous_valid_until.0],
            )?;
            if replaced {
                append_audit(writer, &*random, act.client_secret_rotated(&id, previous_valid_until))?;
            }
            Ok(replaced)
        })
        .await
    }

    async fn is_client_origin(&self, origin: &str) -> Result<bool> {
        self.read(|reader| {
            reader
                .prepare_cached(
                    "SELECT 1 FROM client_origins o JOIN clients c ON c.id = o.client_id
                     WHERE o.origin = ?1 AND c.standing = ?2",
                )
                .and_then(|mut find| find.exists(params![origin, Status::Active.code()]))
                .map_err(store_error)
        })
    }

    async fn client_secret_matches(&self, id: &ClientId, secret: &Secret, now: Ticks) -> Result<bool> {
        let hash = self.ports().vault.fingerprint(CLIENT_SECRET, secret);
        self.read(|reader| {
            reader
                .prepare_cached(
                    "SELECT 1 FROM clients WHERE id = ?1
                     AND (secret_hash = ?2 OR (old_secret_hash = ?2 AND old_secret_until > ?3))",
                )
                .and_then(|mut find| find.exists(params![id.as_str(), hash, now.0]))
                .map_err(store_error)
        })
    }

    async fn previous_client_secret_until(&self, id: &ClientId) -> Result<Option<Ticks>> {
        let until: Option<Option<i64>> = self.read(|reader| {
            reader
                .prepare_cached("SELECT old_secret_until FROM clients WHERE id = ?1")
                .and_then(|mut find| find.query_row([id.as_str()], |row| row.get(0)).optional())
                .map_err(store_error)
        })?;
        Ok(until.flatten().map(Ticks))
    }

    async fn dev_credentials(&self) -> Result<Option<String>> {
        self.read(|reader| {
            reader
                .query_row("SELECT CAST(value AS TEXT) FROM meta WHERE name = 'dev'", [], |row| row.get(0))
                .optional()
                .map_err(store_error)
        })
    }

    async fn save_dev_credentials(&self, json: &str) -> Result<()> {
        let json = json.as_bytes().to_vec();
        self.write(move |writer| {
            change(
                writer,
                "INSERT INTO meta (name, value) VALUES ('dev', ?1)
                 ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                [json],
            )?;
            Ok(())
        })
        .await
    }
}
