//! Every mail in both languages: what it says, its link, and that names are only names.

use std::time::Duration;

use domain::{NoticeKind, Ticks};

use super::{Invitee, MailContext, MailLink, MailNotice, MailTemplate, RenderedMail};
use crate::Lang;

const URL: &str = "https://id.example.com/invitation?a=1&token=abc";
const CONTEXT: MailContext<'static> =
    MailContext { lang: Lang::Es, service: "Contaplus", name: "María", contact: "soporte@example.com" };

const NOTICES: [MailNotice<'static>; 2] = [
    MailNotice {
        kind: NoticeKind::WebhookFailing,
        name: "Ventas",
        reason: "",
        since: Ticks(639_000_000_000_000_000),
        at: Ticks(639_000_036_000_000_000),
    },
    MailNotice {
        kind: NoticeKind::RequestRefused,
        name: "https://evil.example",
        reason: "sin contrato",
        since: Ticks(639_000_036_000_000_000),
        at: Ticks(639_000_036_000_000_000),
    },
];

fn templates() -> Vec<MailTemplate<'static>> {
    let link = MailLink { url: URL, valid: Duration::from_secs(72 * 60 * 60) };
    let at = Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap();
    vec![
        MailTemplate::Invitation { invitee: Invitee::User, link },
        MailTemplate::Invitation { invitee: Invitee::Developer, link },
        MailTemplate::Invitation { invitee: Invitee::Operator, link },
        MailTemplate::PasswordReset { link },
        MailTemplate::PasswordChanged,
        MailTemplate::SecondFactorChanged,
        MailTemplate::RecoveryCodeUsed { left: 9 },
        MailTemplate::Notices { team: "Panel", notices: &NOTICES, url: URL },
        MailTemplate::NewSignIn { at, browser: "Firefox, Linux", address: "192.0.2.7" },
    ]
}

fn has_link(template: &MailTemplate<'_>) -> bool {
    matches!(
        template,
        MailTemplate::Invitation { .. } | MailTemplate::PasswordReset { .. } | MailTemplate::Notices { .. }
    )
}

/// All mails, with spaces for no-break spaces.
fn all(context: MailContext<'_>) -> Vec<(MailTemplate<'static>, RenderedMail)> {
    let plain = |text: String| text.replace('\u{a0}', " ");
    let render = |template: MailTemplate<'static>, lang| {
        let RenderedMail { subject, text, html } = template.render(&MailContext { lang, ..context });
        (template, RenderedMail { subject: plain(subject), text: plain(text), html: plain(html) })
    };
    Lang::ALL
        .into_iter()
        .flat_map(|lang| templates().into_iter().map(move |template| render(template, lang)))
        .collect()
}

#[test]
fn link_appears_once_in_the_text_and_once_as_href() {
    let escaped = URL.replace('&', "&amp;");
    for (template, mail) in all(CONTEXT) {
        let links = usize::from(has_link(&template));
        assert_eq!(mail.text.matches("://").count(), links, "{}", mail.text);
        assert_eq!(mail.text.lines().filter(|line| *line == URL).count(), links, "on a line of its own");
        assert_eq!(mail.html.matches("://").count(), links, "{}", mail.html);
        assert_eq!(mail.html.matches(&format!("<a href=\"{escaped}\">")).count(), links, "{}", mail.html);
        if links > 0 && template.kind() != "notices" {
            assert!(mail.text.contains("72 horas") || mail.text.contains("72 hours"), "{}", mail.text);
        }
        assert!(!mail.subject.contains("://"), "{}", mail.subject);
    }
}

#[test]
fn both_forms_say_the_same() {
    for (_, mail) in all(CONTEXT) {
        let paragraphs = mail.html.split("<p>").skip(1).map(|part| part.split("</p>").next().unwrap());
        let texts: Vec<_> = paragraphs.filter(|text| !text.starts_with("<a ")).collect();
        assert!(texts.len() >= 4, "{}", mail.html);
        for text in texts {
            assert!(mail.text.contains(text), "{text} is missing in {}", mail.text);
        }
        for name in ["Contaplus", "María", "soporte@example.com"] {
            assert!(mail.text.contains(name), "{name} is missing in {}", mail.text);
        }
        assert!(mail.subject.contains("Contaplus"), "{}", mail.subject);
    }
}

#[test]
fn subjects_differ_and_are_translated() {
    let subjects: std::collections::BTreeSet<_> =
        all(CONTEXT).into_iter().map(|(_, mail)| mail.subject).collect();
    assert_eq!(subjects.len(), templates().len() * Lang::ALL.len());
}

#[test]
fn spanish_invitation_reads_as_written() {
    let (_, mail) = &all(CONTEXT)[0];
    assert_eq!(mail.subject, "Tu cuenta de Contaplus");
    assert_eq!(
        mail.text,
        format!(
            "Hola, María:\n\nTe han invitado a Contaplus. Acepta la invitación para elegir tu contraseña y empezar a \
             usar la cuenta.\n\nAceptar la invitación:\n{URL}\n\nEl enlace funciona una sola vez y durante 72 horas. Si \
             caduca, pide otro a quien te ha invitado.\n\nSi no esperabas esta invitación, no hagas nada: sin el enlace \
             no se crea ninguna cuenta.\n\nEste mensaje se ha enviado automáticamente desde Contaplus. Contacto: \
             soporte@example.com\n"
        )
    );
    assert!(mail.html.starts_with("<!DOCTYPE html><html lang=\"es\"><head><meta charset=\"utf-8\">"));
}

#[test]
fn english_sign_in_notice_reads_as_written() {
    let (_, mail) = all(MailContext { contact: "", name: "", ..CONTEXT }).pop().unwrap();
    assert_eq!(mail.subject, "New sign-in to Contaplus");
    assert_eq!(
        mail.text,
        "Hello,\n\nSomeone signed in to your Contaplus account from a browser that we had not seen before.\n\nWhen: 15 \
         Nov 2026, 08:30 UTC. Browser: Firefox, Linux. IP address: 192.0.2.7.\n\nIf it was you, you need not do \
         anything.\n\nIf it was not you, change your password as soon as you can and tell the person who manages your \
         account.\n\nThis message was sent automatically by Contaplus.\n"
    );
}

#[test]
fn recovery_notice_says_how_many_codes_are_left() {
    for (left, spanish, english) in [
        (9, "Te quedan 9.", "You have 9 left."),
        (1, "Te queda uno.", "You have one left."),
        (0, "No te queda ninguno.", "You have none left."),
    ] {
        for (lang, expected) in [(Lang::Es, spanish), (Lang::En, english)] {
            let template = MailTemplate::RecoveryCodeUsed { left };
            let mail = template.render(&MailContext { lang, ..CONTEXT });
            assert!(mail.text.contains(expected), "{expected} is missing in {}", mail.text);
        }
    }
}

#[test]
fn notices_are_listed_without_strangers_links() {
    let template = MailTemplate::Notices { team: "Panel", notices: &NOTICES, url: URL };
    let mail = template.render(&MailContext { lang: Lang::En, ..CONTEXT });
    assert_eq!(mail.subject, "Contaplus: 2 notices for your team");
    let text = mail.text.replace('\u{a0}', " ");
    assert!(
        text.contains("\n\nA webhook has been failing for more than an hour: “Ventas” (since "),
        "{text}"
    );
    assert!(text.contains("\n\nA request was refused ("), "{text}");
    assert!(text.contains("). Reason: sin contrato\n\nSee the notices:\n"), "{text}");
    assert!(!text.contains("evil"), "{text}");
    let one = MailTemplate::Notices { team: "", notices: &NOTICES[..1], url: URL };
    let mail = one.render(&MailContext { lang: Lang::Es, ..CONTEXT });
    assert_eq!(mail.subject, "Contaplus: un webhook lleva más de una hora fallando");
    let many = [NOTICES[0]; 25];
    let mail = MailTemplate::Notices { team: "Panel", notices: &many, url: URL }.render(&CONTEXT);
    assert_eq!(mail.text.matches("Ventas").count(), 20);
    assert!(mail.text.contains("Y 5 más."), "{}", mail.text);
}

#[test]
fn names_cannot_add_markup_lines_or_headers() {
    let hostile = "<a href=\"https://evil.example\">x</a>\r\nBcc: all@example.com\u{202e}\0\n\nhttps";
    let context = MailContext { lang: Lang::En, service: hostile, name: hostile, contact: hostile };
    let expected_lines: Vec<usize> = all(CONTEXT).iter().map(|(_, mail)| mail.text.lines().count()).collect();
    for ((template, mail), lines) in all(context).into_iter().zip(expected_lines) {
        assert!(!mail.subject.contains(char::is_control), "{:?}", mail.subject);
        assert_eq!(mail.text.lines().count(), lines, "{}", mail.text);
        assert_eq!(mail.html.matches("<a ").count(), usize::from(has_link(&template)), "{}", mail.html);
        assert!(!mail.html.contains('\u{202e}') && !mail.text.contains('\u{202e}'));
    }
    let long = "ñ".repeat(10_000);
    for (_, mail) in all(MailContext { name: &long, service: &long, contact: &long, ..CONTEXT }) {
        assert!(mail.subject.chars().count() < 300 && mail.text.chars().count() < 2000);
    }
}

#[test]
fn names_cannot_become_links() {
    for name in
        ["https://evil.example", "Go to evil.example", "www.evil.example", "mailto:a", "a@evil.example"]
    {
        let at = Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap();
        let template = MailTemplate::NewSignIn { at, browser: name, address: "192.0.2.7" };
        let mail = template.render(&MailContext { name, ..CONTEXT });
        assert!(!mail.text.contains("evil") && !mail.text.contains("mailto"), "{}", mail.text);
        assert!(mail.text.starts_with("Hola:"), "{}", mail.text);
    }
    let mail =
        MailTemplate::PasswordChanged.render(&MailContext { name: "Mª. José O'Neil-Ruiz", ..CONTEXT });
    assert!(mail.text.starts_with("Hola, Mª. José O'Neil-Ruiz:"), "{}", mail.text);
}

#[test]
fn html_is_plain() {
    for (_, mail) in all(CONTEXT) {
        for active in ["<img", "<script", "<style", "<table", "<link", "style=", "src=", "url("] {
            assert!(!mail.html.contains(active), "{active} in {}", mail.html);
        }
    }
}

#[test]
fn link_of_another_scheme_is_not_followed() {
    let link = MailLink { url: "javascript:alert(1)", valid: Duration::from_secs(60) };
    let mail = MailTemplate::PasswordReset { link }.render(&CONTEXT);
    assert!(!mail.html.contains("javascript") && !mail.text.contains("javascript"));
}

#[test]
fn debug_output_hides_the_link() {
    // The link of notices leads to a page behind the sign-in: it is no secret.
    let is_secret = |template: &MailTemplate<'_>| !matches!(template, MailTemplate::Notices { .. });
    for (template, mail) in all(CONTEXT).into_iter().filter(|(template, _)| is_secret(template)) {
        assert!(!format!("{template:?} {mail:?}").contains("token"));
    }
}
