//! OAuth clients in PostgreSQL.

use async_trait::async_trait;
use domain::subscription::Products;
use domain::{ClientId, Secret, Ticks};
use tokio_postgres::Row;

use super::PostgresStore;
use super::rows::{AFTER, IN_ORDER, guid};
use crate::clients::{CLIENT_SECRET, from_list, to_list};
use crate::plan::{signed, unsigned};
use crate::{
    AuditContext, CallbackIdToken, Client, ClientSecret, ClientUpdate, Clients, Consent, ListPage, ListQuery,
    Pkce, Result, Status, StoreError, UpdateOutcome,
};

const CLIENT: &str = "SELECT id, guid, name, redirect_uris, post_logout_uris, pkce, consent, callback_id_token, \
                      standing, created_at, revision, products FROM clients";

fn client(row: &Row) -> Result<Client> {
    Ok(Client {
        id: ClientId::new(row.get::<_, Box<str>>(0)),
        guid: guid(row, 1)?,
        name: row.get(2),
        redirect_uris: from_list(row.get(3)),
        post_logout_uris: from_list(row.get(4)),
        pkce: Pkce::from_code(row.get(5)),
        consent: Consent::from_code(row.get(6)),
        callback_id_token: CallbackIdToken::from_code(row.get(7)),
        status: Status::from_code(row.get(8)),
        created_at: Ticks(row.get(9)),
        revision: unsigned(row.get(10)),
        products: Products::from_bits(row.get(11)),
    })
}

#[async_trait]
impl Clients for PostgresStore {
    async fn add_client(&self, client: &Client, secret: &Secret, context: &AuditContext) -> Result<()> {
        let hash = self.ports().vault.fingerprint(CLIENT_SECRET, secret);
        self.insert(
            format!("a client \"{}\"", client.id),
            "INSERT INTO clients (id, guid, name, redirect_uris, post_logout_uris, pkce, consent,
                 callback_id_token, standing, created_at, secret_hash, revision, products)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
            &[
                &client.id.as_str(),
                &client.guid.as_bytes().as_slice(),
                &client.name,
                &to_list(&client.redirect_uris),
                &to_list(&client.post_logout_uris),
                &client.pkce.code(),
                &client.consent.code(),
                &client.callback_id_token.code(),
                &client.status.code(),
                &client.created_at.0,
                &hash.as_slice(),
                &signed(client.revision),
                &client.products.bits(),
            ],
            self.act(context).client_added(client),
        )
        .await
    }

    async fn find_client(&self, id: &ClientId) -> Result<Option<Client>> {
        self.row(&format!("{CLIENT} WHERE id = $1"), &[&id.as_str()]).await?.as_ref().map(client).transpose()
    }

    async fn list_clients(&self, query: &ListQuery) -> Result<ListPage<Client>> {
        let rows = self.list(&format!("{CLIENT} WHERE {AFTER} {IN_ORDER}"), query).await?;
        Ok(query.page(rows.iter().map(client).collect::<Result<_>>()?))
    }

    async fn update_client(
        &self,
        id: &ClientId,
        update: &ClientUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Client>> {
        let (updated, row) = self
            .update_row(
                ("UPDATE clients SET name = coalesce($2, name), redirect_uris = coalesce($3, redirect_uris),
                     post_logout_uris = coalesce($4, post_logout_uris), pkce = coalesce($5, pkce),
                     consent = coalesce($6, consent), callback_id_token = coalesce($7, callback_id_token),
                     standing = coalesce($8, standing), products = coalesce($10, products), revision = revision + 1
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
                ]),
                (&format!("{CLIENT} WHERE id = $1"), id.as_str()),
                client,
                |before, after| self.act(context).client_changed(before, after),
            )
            .await?;
        Ok(UpdateOutcome::of(updated, row))
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
                 revision = revision + 1 WHERE id = $1",
            &[&id.as_str(), &hash.as_slice(), &secret.previous_valid_until.0],
            self.act(context).client_secret_rotated(id, secret.previous_valid_until),
        )
        .await
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
