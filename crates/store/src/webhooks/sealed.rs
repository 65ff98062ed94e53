//! A webhook as the databases keep it: its secrets sealed for its row alone.

use domain::webhook::Family;
use domain::{Random, Resource, Ticks, WebhookId};

use super::{PreviousSecret, Webhook};
use crate::{Result, Vault};

const WEBHOOK_SECRET: &str = "webhook secret";

fn purpose(webhook: WebhookId) -> String {
    format!("{WEBHOOK_SECRET} {webhook}")
}

/// A webhook without its secrets, and these beside it.
#[derive(Debug)]
pub(crate) struct Sealed {
    pub(crate) tenant_no: i64,
    pub(crate) webhook: Webhook,
    pub(crate) secret: Vec<u8>,
    pub(crate) previous_secret: Option<(Vec<u8>, Ticks)>,
}

impl Sealed {
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

/// What of a webhook is kept in another form than it has.
#[derive(Debug)]
pub(crate) struct Secrets {
    pub(crate) secret: Vec<u8>,
    pub(crate) previous_secret: Option<Vec<u8>>,
    pub(crate) fingerprint: [u8; 32],
}

impl Secrets {
    pub(crate) fn of(webhook: &Webhook, vault: &Vault, random: &dyn Random) -> Result<Self> {
        let purpose = purpose(webhook.id);
        let seal = |plain: &domain::Secret| vault.seal(random, &purpose, plain.reveal());
        Ok(Self {
            secret: seal(&webhook.secret)?,
            previous_secret: webhook.previous_secret.as_ref().map(|old| seal(&old.secret)).transpose()?,
            fingerprint: webhook.fingerprint(vault),
        })
    }
}

/// The codes of a family's resources, as SQL lists them.
pub(crate) fn family_codes(family: Family) -> String {
    let codes = Resource::all().filter(|one| Family::of(*one) == family).map(|one| one.code().to_string());
    codes.collect::<Vec<_>>().join(", ")
}
