//! OAuth clients in PostgreSQL.

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::subscription::Products;
use domain::{ClientId, Random, Secret, TeamId, Ticks};

use super::audit::append_audit;
use super::rows::{execute, parse, row};
use super::{PostgresStore, exists, store_error};
use crate::audit::Act;
use crate::clients::{CLIENT_SECRET, secret_hash, to_list};
use crate::list_filter::CLIENTS;
use crate::plan::signed;
use crate::{
    AuditContext, CallbackIdToken, Client, ClientSecret, ClientUpdate, Clients, Consent, ListFilter,
    ListPage, ListQuery, Pkce, Result, Status, StoreError, UpdateOutcome,
};

pub(super) const CLIENT: &str = "SELECT id, guid, name, redirect_uris, post_logout_uris, pkce, consent, callback_id_token, \
                      standing, created_at, revision, products, team_id, sandbox, kind, backchannel_logout_uri FROM clients";

/// Inserts a client and audits it.
pub(super) async fn insert_client(
    on: &Transaction<'_>,
    random: &dyn Random,
    one: &Client,
    hash: [u8; 32],
    act: &Act,
) -> Result<()> {
    execute(
        on,
        "INSERT INTO clients (id, guid, name, redirect_uris, post_logout_uris, pkce, consent,
             callback_id_token, standing, created_at, secret_hash, revision, products, team_id, sandbox, kind,
                 backchannel_logout_uri)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)",
        &[
            &one.id.as_str(),
            &one.guid.as_bytes().as_slice(),
            &one.name,
            &to_list(&one.redirect_uris),
            &to_list(&one.post_logout_uris),
            &one.pkce.code(),
            &one.consent.code(),
            &one.callback_id_token.code(),
            &one.status.code(),
            &one.created_at.0,
            &secret_hash(one, hash),
            &signed(one.revision),
            &one.products.bits(),
            &one.team.as_ref().map(TeamId::as_str),
            &i64::from(one.is_sandbox),
            &one.kind.code(),
            &one.backchannel_logout_uri,
        ],
    )
    .await
    .map_err(exists(format!("a client \"{}\"", one.id)))?;
    set_origins(on, one).await?;
    append_audit(on, random, act.client_added(one)).await
}

/// Stores the origins of a client's redirect URIs in place of the former ones.
async fn set_origins(on: &Transaction<'_>, client: &Client) -> Result<()> {
    let delete = "DELETE FROM client_origins WHERE client_id = $1";
    execute(on, delete, &[&client.id.as_str()]).await.map_err(store_error)?;
    for origin in client.origins() {
        let insert = "INSERT INTO client_origins (origin, client_id) VALUES ($1, $2)";
        execute(on, insert, &[&origin, &client.id.as_str()]).await.map_err(store_error)?;
    }
    Ok(())
}

/// Changes a client, if it has the expected revision, and audits it.
pub(super) async fn change_client(
    on: &Transaction<'_>,
    random: &dyn Random,
    id: &ClientId,
    update: &ClientUpdate,
    expected_revision: Option<u64>,
    act: &Act,
) -> Result<UpdateOutcome<Client>> {
    let find = format!("{CLIENT} WHERE id = $1");
    let before = row(on, &format!("{find} FOR UPDATE"), &[&id.as_str()]).await?;
    let before: Option<Client> = before.as_ref().map(parse).transpose()?;
    let updated = execute(
        on,
        "UPDATE clients SET name = coalesce($2, name), redirect_uris = coalesce($3, redirect_uris),
             post_logout_uris = coalesce($4, post_logout_uris), pkce = coalesce($5, pkce),
             consent = coalesce($6, consent), callback_id_token = coalesce($7, callback_id_token),
             standing = coalesce($8, standing), products = coalesce($10, products),
             team_id = CASE WHEN $11 THEN $12 ELSE team_id END, sandbox = coalesce($13, sandbox),
             backchannel_logout_uri = CASE WHEN $14 THEN $15 ELSE backchannel_logout_uri END,
             revision = revision + 1
         WHERE id = $1 AND ($9::bigint IS NULL OR revision = $9)",
        &[
            &id.as_str(),
            &update.name,
            &update.redirect_uris.as_deref().map(to_list),
            &update.post_logout_uris.as_deref().map(to_list),
            &update.pkce.map(Pkce::code),
            &update.consent.map(Consent::code),
            &update.callback_id_token.map(CallbackIdToken::code),
            &update.status.map(Status::code),
            &expected_revision.map(signed),
            &update.products.map(Products::bits),
            &update.team.is_some(),
            &update.team.as_ref().and_then(Option::as_ref).map(TeamId::as_str),
            &update.is_sandbox.map(i64::from),
            &update.backchannel_logout_uri.is_some(),
            &update.backchannel_logout_uri.as_ref().and_then(Option::as_deref),
        ],
    )
    .await
    .map_err(store_error)?;
    let after: Option<Client> = row(on, &find, &[&id.as_str()]).await?.as_ref().map(parse).transpose()?;
    if let (true, Some(before), Some(after)) = (updated > 0, &before, &after) {
        if before.redirect_uris != after.redirect_uris {
            set_origins(on, after).await?;
        }
        append_audit(on, random, act.client_changed(before, after)).await?;
    }
    Ok(UpdateOutcome::of(updated > 0, after))
}

#[async_trait]
impl Clients for PostgresStore {
    async fn add_client(&self, client: &Client, secret: &Secret, context: &AuditContext) -> Result<()> {
        let hash = self.ports().vault.fingerprint(CLIENT_SECRET, secret);
        let mut connection = self.client().await?;
        let transaction = connection.transaction().await.map_err(store_error)?;
        insert_client(&transaction, &*self.ports().random, client, hash, &self.act(context)).await?;
        transaction.commit().await.map_err(store_error)
    }

    async fn find_client(&self, id: &ClientId) -> Result<Option<Client>> {
        self.row(&format!("{CLIENT} WHERE id = $1"), &[&id.as_str()]).await?.as_ref().map(parse).transpose()
    }

    async fn list_clients(&self, filter: &ListFilter, query: &ListQuery) -> Result<ListPage<Client>> {
        let rows = self.list_filtered((CLIENT, CLIENTS), filter, query).await?;
        Ok(query.page(rows.iter().map(parse).collect::<Result<_>>()?))
    }

    async fn update_client(
        &self,
        id: &ClientId,
        update: &ClientUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Client>> {
        let mut connection = self.client().await?;
        let transaction = connection.transaction().await.map_err(store_error)?;
        let (random, act) = (&*self.ports().random, self.act(context));
        let outcome = change_client(&transaction, random, id, update, expected_revision, &act).await?;
        let committed = transaction.commit().await.map_err(store_error);
        // Also after an error: the connection may have broken after the commit.
        self.access_changed();
        committed.map(|()| outcome)
    }

    async fn set_client_secret(
        &self,
        id: &ClientId,
        secret: &ClientSecret,
        context: &AuditContext,
    ) -> Result<bool> {
        let hash = self.ports().vault.fingerprint(CLIENT_SECRET, &secret.secret);
        self.change_audited(
            "UPDATE clients SET old_secret_hash = secret_hash, old_secret_until = $3, secret_hash = $2,
                 revision = revision + 1 WHERE id = $1 AND secret_hash <> ''::bytea",
            &[&id.as_str(), &hash.as_slice(), &secret.previous_valid_until.0],
            self.act(context).client_secret_rotated(id, secret.previous_valid_until),
        )
        .await
    }

    async fn is_client_origin(&self, origin: &str) -> Result<bool> {
        let sql = "SELECT 1 FROM client_origins o JOIN clients c ON c.id = o.client_id
                   WHERE o.origin = $1 AND c.standing = $2 LIMIT 1";
        Ok(self.row(sql, &[&origin, &Status::Active.code()]).await?.is_some())
    }

    async fn client_secret_matches(&self, id: &ClientId, secret: &Secret, now: Ticks) -> Result<bool> {
        let hash = self.ports().vault.fingerprint(CLIENT_SECRET, secret);
        let row = self
            .row(
                "SELECT 1 FROM clients WHERE id = $1
                 AND (secret_hash = $2 OR (old_secret_hash = $2 AND old_secret_until > $3))",
                &[&id.as_str(), &hash.as_slice(), &now.0],
            )
            .await?;
        Ok(row.is_some())
    }

    async fn previous_client_secret_until(&self, id: &ClientId) -> Result<Option<Ticks>> {
        let row = self.row("SELECT old_secret_until FROM clients WHERE id = $1", &[&id.as_str()]).await?;
        Ok(row.and_then(|row| row.get::<_, Option<i64>>(0)).map(Ticks))
    }

    async fn dev_credentials(&self) -> Result<Option<String>> {
        let row = self.row("SELECT value FROM meta WHERE name = 'dev'", &[]).await?;
        row.map(|row| String::from_utf8(row.get(0)).map_err(StoreError::internal)).transpose()
    }

    async fn save_dev_credentials(&self, json: &str) -> Result<()> {
        self.change(
            "INSERT INTO meta (name, value) VALUES ('dev', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            &[&json.as_bytes()],
        )
        .await?;
        Ok(())
    }
}
