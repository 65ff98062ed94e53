//! Composes the mails of the accounts for the store's queue.

use domain::{Guid, Secret, Ticks};
use store::{Mail, MailContent};
use ui::Lang;
use ui::mail::{MailContext, MailTemplate, RenderedMail};

/// What every mail says about the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailIdentity {
    /// The service's name.
    pub service: String,
    /// Whom a recipient can ask; may be empty.
    pub contact: String,
}

/// Who gets a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailRecipient<'a> {
    pub address: &'a str,
    /// Empty if it is unknown.
    pub name: &'a str,
    pub lang: Lang,
}

impl MailIdentity {
    /// A mail that is due now and expires with its link. The store queues it: alone with `Mails::queue_mail`, or within the
    /// transaction of the mutation that causes it.
    pub fn compose(
        &self,
        id: Guid,
        now: Ticks,
        recipient: &MailRecipient<'_>,
        template: &MailTemplate<'_>,
    ) -> Mail {
        let MailRecipient { address, name, lang } = *recipient;
        let context = MailContext { lang, service: &self.service, name, contact: &self.contact };
        let RenderedMail { subject, text, html } = template.render(&context);
        let [subject, text, html] = [subject, text, html].map(Secret::new);
        Mail {
            id,
            kind: template.kind().to_owned(),
            recipient: address.to_owned(),
            lang: lang.tag().to_owned(),
            content: MailContent { subject, text, html },
            created_at: now,
            expires_at: now + template.life(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ui::mail::{Invitee, MailLink};

    use super::*;

    #[test]
    fn mail_expires_with_its_link_and_hides_it() {
        let identity = MailIdentity { service: "Contaplus".into(), contact: String::new() };
        let (id, now) = (Guid::from_bytes([7; 16]), Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap());
        let link = MailLink { url: "https://id.example.com/i/one-time", valid: Duration::from_secs(3600) };
        let recipient = MailRecipient { address: "maria@example.com", name: "María", lang: Lang::En };
        let mail =
            identity.compose(id, now, &recipient, &MailTemplate::Invitation { invitee: Invitee::User, link });
        assert_eq!((mail.kind.as_str(), mail.lang.as_str()), ("invitation", "en"));
        assert_eq!(mail.expires_at, now + Duration::from_secs(3600));
        assert!(mail.content.text.reveal().contains("/i/one-time"));
        assert!(!format!("{mail:?}").contains("one-time"));
    }
}
