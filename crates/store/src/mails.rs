//! The queue of outgoing mails. A mail carries a one-time link, so its content is sealed with the master key until it is
//! sent, and deleted then. A node leases a mail before it sends it, so that no other node sends it too.

use std::time::Duration;

use async_trait::async_trait;
use domain::{Guid, Random, Secret, Ticks};

use crate::{Result, StoreError, Vault};

/// An error of a mail server is stored up to this length.
const ERROR_CHARS_MAX: usize = 300;

/// A mail to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    pub id: Guid,
    /// What the mail is about, for the log: `invitation`, `password-reset` and so on.
    pub kind: String,
    /// The address.
    pub recipient: String,
    /// The language tag of the content.
    pub lang: String,
    pub content: MailContent,
    pub created_at: Ticks,
    /// The mail is not sent from here on, because its link is void or its news is old.
    pub expires_at: Ticks,
}

/// What the recipient reads. All of it is secret, because it may contain a one-time link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailContent {
    pub subject: Secret,
    pub text: Secret,
    pub html: Secret,
}

/// A mail that this caller alone may send until `leased_until`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeasedMail {
    pub mail: Mail,
    /// How many attempts have started, with this one.
    pub attempts: u32,
    pub leased_until: Ticks,
}

/// An attempt that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailFailure {
    /// Why, without anything of the content.
    pub error: String,
    /// When the mail is due again.
    pub next_at: Ticks,
}

/// The service itself queues and sends mails; these mutations have no audit entries. What causes a mail has one.
#[async_trait]
pub trait Mails: Send + Sync + 'static {
    /// Queues a mail; it is due at once. Methods that mail as part of a mutation queue in their own transaction instead.
    async fn queue_mail(&self, mail: &Mail) -> Result<()>;

    /// Leases up to `mails_max` mails that are due, those that have waited longest first. A mail whose lease has ended
    /// without a result, because its node failed, is due again.
    async fn due_mails(&self, now: Ticks, lease: Duration, mails_max: usize) -> Result<Vec<LeasedMail>>;

    /// The mail server has taken the mail, also if the lease has ended meanwhile: nobody sends it any more, and its content
    /// is deleted. False if it was marked as sent before, or is unknown.
    async fn mail_sent(&self, id: Guid, at: Ticks) -> Result<bool>;

    /// Ends the lease of a mail that could not be sent. False if the lease is another one by now, or the mail is sent.
    async fn mail_failed(&self, mail: &LeasedMail, failure: &MailFailure) -> Result<bool>;

    /// How many mails are neither sent nor expired.
    async fn waiting_mails(&self, now: Ticks) -> Result<u64>;
}

/// A mail as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SealedMail {
    pub(crate) id: Guid,
    pub(crate) kind: String,
    pub(crate) recipient: String,
    pub(crate) lang: String,
    pub(crate) sealed: Vec<u8>,
    pub(crate) created_at: Ticks,
    pub(crate) expires_at: Ticks,
}

impl SealedMail {
    pub(crate) fn of(mail: &Mail, vault: &Vault, random: &dyn Random) -> Result<Self> {
        if [&mail.kind, &mail.recipient, &mail.lang].iter().any(|text| text.contains('\0')) {
            return Err(StoreError::internal("a mail's kind, recipient or language contains a NUL"));
        }
        let MailContent { subject, text, html } = &mail.content;
        let parts = [subject, text, html].map(Secret::reveal);
        let plain = serde_json::to_string(&parts).map(Secret::new).map_err(StoreError::internal)?;
        Ok(Self {
            id: mail.id,
            kind: mail.kind.clone(),
            recipient: mail.recipient.clone(),
            lang: mail.lang.clone(),
            sealed: vault.seal(random, &sealing_purpose(mail.id, &mail.recipient), plain.reveal())?,
            created_at: mail.created_at,
            expires_at: mail.expires_at,
        })
    }

    pub(crate) fn open(self, vault: &Vault) -> Result<Mail> {
        let plain = vault.open(&sealing_purpose(self.id, &self.recipient), &self.sealed)?;
        let parts: [String; 3] = serde_json::from_str(plain.reveal())
            .map_err(|_| StoreError::internal("the content of a mail is damaged"))?;
        let [subject, text, html] = parts.map(Secret::new);
        Ok(Mail {
            id: self.id,
            kind: self.kind,
            recipient: self.recipient,
            lang: self.lang,
            content: MailContent { subject, text, html },
            created_at: self.created_at,
            expires_at: self.expires_at,
        })
    }
}

/// The sealing purpose of a mail's content. It names the recipient, so that whoever can write to the database cannot have
/// the mail sent to another address.
fn sealing_purpose(id: Guid, recipient: &str) -> String {
    format!("mail {id} {recipient}")
}

/// A row of the queue.
#[derive(Clone, Debug)]
pub(crate) struct MailRow {
    pub(crate) mail: SealedMail,
    pub(crate) attempts: u32,
}

impl MailRow {
    /// The leased mail with its content.
    pub(crate) fn open(self, leased_until: Ticks, vault: &Vault) -> Result<LeasedMail> {
        Ok(LeasedMail { mail: self.mail.open(vault)?, attempts: self.attempts, leased_until })
    }
}

/// The stored form of an error: one line, bounded.
pub(crate) fn stored_error(error: &str) -> String {
    error.chars().map(|c| if c.is_control() { ' ' } else { c }).take(ERROR_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_is_one_bounded_line() {
        assert_eq!(stored_error("550 no\r\n\0 such user"), "550 no    such user");
        assert_eq!(stored_error(&"ñ".repeat(1000)).chars().count(), ERROR_CHARS_MAX);
    }
}
