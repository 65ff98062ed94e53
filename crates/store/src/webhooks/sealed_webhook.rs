//! Stored webhooks: their secrets are sealed for their row.

use domain::webhook::Family;
use domain::{Random, Resource, Ticks, WebhookId};

use super::{PreviousSecret, Webhook};
use crate::{Result, Vault};

const WEBHOOK_SECRET: &str = "webhook secret";

fn purpose(webhook: WebhookId) -> String {
    format!("{WEBHOOK_SECRET} {webhook}")
}

/// A webhook without its secrets, and the sealed secrets.
#[derive(Debug)]
pub(crate) struct SealedWebhook {
    pub(crate) tenant_no: i64,
    pub(crate) webhook: Webhook,
    pub(crate) secret: Vec<u8>,
    pub(crate) previous_secret: Option<(Vec<u8>, Ticks)>,
}

impl SealedWebhook {
    pub(crate) fn open(self, vault: &Vault) -> Result<Webhook> {
        let purpose = purpose(self.webhook.id);
        let old = self.previous_secret.map(|(sealed, until)| {
            let secret = vault.open(&purpose, &sealed)?;
            Ok(PreviousSecret { secret, until })
        });
        Ok(Webhook {
            secret: vault.open(&purpose, &self.secret)?,
            previous_secret: old.transpose()?,
            ..self.webhook
        })
    }
}

/// The columns of a webhook that are sealed or hashed.
#[derive(Debug)]
pub(crate) struct SealedSecrets {
    pub(crate) secret: Vec<u8>,
    pub(crate) previous_secret: Option<Vec<u8>>,
    pub(crate) fingerprint: [u8; 32],
    pub(crate) original_fingerprint: [u8; 32],
}

impl SealedSecrets {
    pub(crate) fn of(webhook: &Webhook, vault: &Vault, random: &dyn Random) -> Result<Self> {
        let purpose = purpose(webhook.id);
        let seal = |plain: &domain::Secret| vault.seal(random, &purpose, plain.reveal());
        Ok(Self {
            secret: seal(&webhook.secret)?,
            previous_secret: webhook.previous_secret.as_ref().map(|old| seal(&old.secret)).transpose()?,
            fingerprint: webhook.fingerprint(vault),
            original_fingerprint: webhook.original_fingerprint(vault),
        })
    }
}

/// The codes of a family's resources as a SQL list.
pub(crate) fn family_codes(family: Family) -> String {
    let codes = Resource::all().filter(|one| Family::of(*one) == family).map(|one| one.code().to_string());
    codes.collect::<Vec<_>>().join(", ")
}
