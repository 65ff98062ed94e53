//! OAuth clients and subscriptions in PostgreSQL.

use async_trait::async_trait;
use domain::ids::SubscriptionId;
use domain::subscription::Products;
use domain::{ClientId, Secret, Ticks};
use tokio_postgres::Row;

use super::rows::guid;
use super::{PostgresStore, exists, fault};
use crate::applications::{CLIENT_SECRET, SUBSCRIPTION_KEY, from_list, to_list};
use crate::{
    Applications, Client, ClientSecret, Consent, KeySlot, Pkce, Result, Standing, StoreError, Subscription,
};

const CLIENT: &str = "SELECT id, guid, name, redirect_uris, post_logout_uris, pkce, consent, callback_id_token, \
                      standing, created_at FROM clients";
const ADD_KEY: &str = "INSERT INTO subscription_keys (hash, subscription_id, slot) VALUES ($1, $2, $3)";

fn client(row: &Row) -> Result<Client> {
    Ok(Client {
        id: ClientId::new(row.get::<_, Box<str>>(0)),
        guid: guid(row, 1)?,
        name: row.get(2),
        redirect_uris: from_list(row.get(3)),
        post_logout_uris: from_list(row.get(4)),
        pkce: Pkce::by_code(row.get(5)),
        consent: Consent::by_code(row.get(6)),
        callback_id_token: row.get::<_, i64>(7) != 0,
        standing: Standing::by_code(row.get(8)),
        created_at: Ticks(row.get(9)),
    })
}

fn subscription(row: &Row) -> Subscription {
    Subscription {
        id: SubscriptionId::new(row.get::<_, Box<str>>(0)),
        name: row.get(1),
        products: Products::from_bits(row.get(2)),
        standing: Standing::by_code(row.get(3)),
        created_at: Ticks(row.get(4)),
    }
}

#[async_trait]
impl Applications for PostgresStore {
    async fn add_client(&self, client: &Client, secret: &Secret) -> Result<()> {
        let hash = self.ports().vault.fingerprint(CLIENT_SECRET, secret);
        self.insert(
            format!("a client \"{}\"", client.id),
            "INSERT INTO clients (id, guid, name, redirect_uris, post_logout_uris, pkce, consent,
                 callback_id_token, standing, created_at, secret_hash)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            &[
                &client.id.as_str(),
                &client.guid.as_bytes().as_slice(),
                &client.name,
                &to_list(&client.redirect_uris),
                &to_list(&client.post_logout_uris),
                &client.pkce.code(),
                &client.consent.code(),
                &i64::from(client.callback_id_token),
                &client.standing.code(),
                &client.created_at.0,
                &hash.as_slice(),
            ],
        )
        .await
    }

    async fn find_client(&self, id: &ClientId) -> Result<Option<Client>> {
        self.row(&format!("{CLIENT} WHERE id = $1"), &[&id.as_str()]).await?.as_ref().map(client).transpose()
    }

    async fn clients(&self) -> Result<Vec<Client>> {
        self.rows(&format!("{CLIENT} ORDER BY created_at, id"), &[]).await?.iter().map(client).collect()
    }

    async fn update_client(&self, client: &Client) -> Result<bool> {
        self.change(
            "UPDATE clients SET name = $2, redirect_uris = $3, post_logout_uris = $4, pkce = $5, consent = $6,
                 callback_id_token = $7, standing = $8 WHERE id = $1",
            &[
                &client.id.as_str(),
                &client.name,
                &to_list(&client.redirect_uris),
                &to_list(&client.post_logout_uris),
                &client.pkce.code(),
                &client.consent.code(),
                &i64::from(client.callback_id_token),
                &client.standing.code(),
            ],
        )
        .await
    }

    async fn set_client_secret(&self, id: &ClientId, secret: &ClientSecret) -> Result<bool> {
        let hash = self.ports().vault.fingerprint(CLIENT_SECRET, &secret.secret);
        self.change(
            "UPDATE clients SET old_secret_hash = secret_hash, old_secret_until = $3, secret_hash = $2 WHERE id = $1",
            &[&id.as_str(), &hash.as_slice(), &secret.old_until.0],
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

    async fn add_subscription(&self, one: &Subscription, primary: &Secret, secondary: &Secret) -> Result<()> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(fault)?;
        transaction
            .execute(
                "INSERT INTO subscriptions (id, name, products, standing, created_at) VALUES ($1, $2, $3, $4, $5)",
                &[&one.id.as_str(), &one.name, &one.products.bits(), &one.standing.code(), &one.created_at.0],
            )
            .await
            .map_err(exists(format!("a subscription \"{}\"", one.id)))?;
        for (slot, key) in [(KeySlot::Primary, primary), (KeySlot::Secondary, secondary)] {
            let hash = self.ports().vault.fingerprint(SUBSCRIPTION_KEY, key);
            transaction
                .execute(ADD_KEY, &[&hash.as_slice(), &one.id.as_str(), &slot.code()])
                .await
                .map_err(exists("such a key".into()))?;
        }
        transaction.commit().await.map_err(fault)
    }

    async fn subscriptions(&self) -> Result<Vec<Subscription>> {
        let all =
            "SELECT id, name, products, standing, created_at FROM subscriptions ORDER BY created_at, id";
        Ok(self.rows(all, &[]).await?.iter().map(subscription).collect())
    }

    async fn set_subscription_standing(&self, id: &SubscriptionId, standing: Standing) -> Result<bool> {
        self.change("UPDATE subscriptions SET standing = $2 WHERE id = $1", &[&id.as_str(), &standing.code()])
            .await
    }

    async fn rotate_key(
        &self,
        id: &SubscriptionId,
        slot: KeySlot,
        key: &Secret,
        old_until: Ticks,
    ) -> Result<bool> {
        let hash = self.ports().vault.fingerprint(SUBSCRIPTION_KEY, key);
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(fault)?;
        let replaced = transaction
            .execute(
                "UPDATE subscription_keys SET valid_until = $3
                 WHERE subscription_id = $1 AND slot = $2 AND valid_until IS NULL",
                &[&id.as_str(), &slot.code(), &old_until.0],
            )
            .await
            .map_err(fault)?;
        if replaced == 0 {
            return Ok(false);
        }
        transaction
            .execute(ADD_KEY, &[&hash.as_slice(), &id.as_str(), &slot.code()])
            .await
            .map_err(exists("such a key".into()))?;
        transaction.commit().await.map_err(fault)?;
        Ok(true)
    }

    async fn find_subscription_by_key(&self, key: &Secret, now: Ticks) -> Result<Option<Subscription>> {
        let hash = self.ports().vault.fingerprint(SUBSCRIPTION_KEY, key);
        let row = self
            .row(
                "SELECT s.id, s.name, s.products, s.standing, s.created_at
                 FROM subscription_keys k JOIN subscriptions s ON s.id = k.subscription_id
                 WHERE k.hash = $1 AND (k.valid_until IS NULL OR k.valid_until > $2)",
                &[&hash.as_slice(), &now.0],
            )
            .await?;
        Ok(row.as_ref().map(subscription))
    }

    async fn dev_credentials(&self) -> Result<Option<String>> {
        let row = self.row("SELECT value FROM meta WHERE name = 'dev'", &[]).await?;
        row.map(|row| String::from_utf8(row.get(0)).map_err(StoreError::internal)).transpose()
    }

    async fn keep_dev_credentials(&self, json: &str) -> Result<()> {
        self.change(
            "INSERT INTO meta (name, value) VALUES ('dev', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            &[&json.as_bytes()],
        )
        .await?;
        Ok(())
    }
}
