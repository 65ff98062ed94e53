//! Turns a queued mail into an Internet message: headers, and text and HTML as alternatives.

use std::time::{Duration, SystemTime};

use lettre::Address;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message, MultiPart};
use store::Mail;

/// Whom mails come from.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    pub(super) from: Mailbox,
    pub(super) reply_to: Option<Mailbox>,
}

/// The message; an error says what is wrong with the mail. Every attempt has the same Message-ID, so that a mail server
/// recognises a mail that it has taken already.
pub(super) fn message(sender: &Sender, mail: &Mail) -> Result<Message, String> {
    let to = mail
        .recipient
        .parse::<Address>()
        .map_err(|error| format!("the recipient's address is invalid: {error}"))?;
    let (content, domain) = (&mail.content, sender.from.email.domain());
    let mut builder = Message::builder()
        .from(sender.from.clone())
        .to(Mailbox::new(None, to))
        .subject(content.subject.reveal())
        .message_id(Some(format!("<{}@{domain}>", mail.id)))
        .date(date(mail))
        .raw_header(header("Auto-Submitted", "auto-generated"))
        .raw_header(header("Content-Language", &mail.lang));
    if let Some(reply_to) = &sender.reply_to {
        builder = builder.reply_to(reply_to.clone());
    }
    let parts =
        MultiPart::alternative_plain_html(content.text.reveal().to_owned(), content.html.reveal().to_owned());
    builder.multipart(parts).map_err(|error| format!("the mail cannot be composed: {error}"))
}

fn header(name: &'static str, value: &str) -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str(name), value.to_owned())
}

/// When the mail was written, not when it is sent.
fn date(mail: &Mail) -> SystemTime {
    let seconds = u64::try_from(mail.created_at.unix_seconds()).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

#[cfg(test)]
mod tests {
    use domain::{Guid, Secret, Ticks};
    use store::MailContent;

    use super::*;

    fn mail(recipient: &str, subject: &str) -> Mail {
        let now = Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap();
        Mail {
            id: Guid::from_bytes([7; 16]),
            kind: "invitation".into(),
            recipient: recipient.into(),
            lang: "es".into(),
            content: MailContent {
                subject: Secret::new(subject),
                text: Secret::new("Hola, María"),
                html: Secret::new("<p>Hola, María</p>"),
            },
            created_at: now,
            expires_at: now,
        }
    }

    fn sender() -> Sender {
        let from = "Aldaba <no-reply@example.com>".parse().unwrap();
        Sender { from, reply_to: Some("help@example.com".parse().unwrap()) }
    }

    #[test]
    fn message_has_its_headers_and_both_forms() {
        let message = message(&sender(), &mail("maria@example.com", "Hola")).unwrap();
        let text = String::from_utf8(message.formatted()).unwrap();
        for line in [
            "From: Aldaba <no-reply@example.com>",
            "Reply-To: help@example.com",
            "To: maria@example.com",
            "Subject: Hola",
            "Message-ID: <07070707-0707-0707-0707-070707070707@example.com>",
            "Date: Sun, 15 Nov 2026 08:30:00 +0000",
            "Auto-Submitted: auto-generated",
            "Content-Language: es",
        ] {
            assert!(text.lines().any(|one| one == line), "{line:?} is missing in {text}");
        }
        for part in ["multipart/alternative", "text/plain; charset=utf-8", "text/html; charset=utf-8"] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
        assert!(text.is_ascii(), "every server takes it");
    }

    #[test]
    fn subject_cannot_add_a_header() {
        let message = message(&sender(), &mail("maria@example.com", "Hola\r\nBcc: all@example.com")).unwrap();
        let text = String::from_utf8(message.formatted()).unwrap();
        assert!(!text.lines().any(|line| line.starts_with("Bcc:")), "{text}");
        assert_eq!(message.envelope().to().len(), 1);
    }

    #[test]
    fn invalid_recipient_is_an_error() {
        for recipient in ["", "maria", "a@b\r\nRCPT TO:<c@d>", "a@example.com, b@example.com"] {
            assert!(message(&sender(), &mail(recipient, "Hola")).is_err(), "{recipient:?}");
        }
    }
}
