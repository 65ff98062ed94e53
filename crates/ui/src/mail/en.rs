//! The mails in English.

use super::{Draft, Invitee, MailLink, MailTemplate, Names, Part, link, paragraph, sign_in_facts, validity};
use crate::Lang;

/// A subject and what is between the greeting and the footer.
type Body<'a> = (String, Vec<Part<'a>>);

pub(super) fn draft<'a>(template: &MailTemplate<'a>, names: &Names) -> Draft<'a> {
    let service = &names.service;
    let (subject, body) = match template {
        MailTemplate::Invitation { invitee, link } => invitation(*invitee, link, service),
        MailTemplate::PasswordReset { link } => password_reset(link, service),
        MailTemplate::PasswordChanged => {
            let what = format!(
                "The password of your {service} account has changed, and all other sessions have ended."
            );
            let subject = format!("Your {service} password has changed");
            (subject, vec![paragraph(what), unexpected(&names.contact)])
        }
        MailTemplate::SecondFactorChanged => {
            let what = format!(
                "The second factor of your {service} account has changed: a passkey or an authenticator app was \
                 added, removed or reset."
            );
            let subject = format!("Your {service} second factor has changed");
            (subject, vec![paragraph(what), unexpected(&names.contact)])
        }
        MailTemplate::RecoveryCodeUsed { left } => recovery_code_used(*left, names),
        MailTemplate::Notices { team, notices, url } => {
            super::notices::body(Lang::En, team, notices, url, names)
        }
        MailTemplate::NewSignIn { at, browser, address } => {
            new_sign_in(&sign_in_facts(Lang::En, *at, browser, address), names)
        }
    };
    let mut parts = vec![paragraph(greeting(&names.name))];
    parts.extend(body);
    parts.push(paragraph(footer(names)));
    Draft { subject, parts }
}

fn invitation<'a>(invitee: Invitee, to: &MailLink<'a>, service: &str) -> Body<'a> {
    let (subject, why) = invited_to(invitee, service);
    let valid = validity(Lang::En, to);
    let once = format!(
        "The link works once, for {valid}. If it has expired, ask the person who invited you for a new one."
    );
    let ignore = "If you did not expect this invitation, you need not do anything: no account is created \
                  without the link.";
    let accept = link("Accept the invitation", to);
    (subject, vec![paragraph(why), accept, paragraph(once), paragraph(ignore)])
}

fn password_reset<'a>(to: &MailLink<'a>, service: &str) -> Body<'a> {
    let why = format!(
        "Someone, probably you, has asked for a new password for your {service} account. Choose it here:"
    );
    let valid = validity(Lang::En, to);
    let once = format!(
        "The link works once, for {valid}. If your account has a second factor, you still need it after you \
         have changed the password."
    );
    let ignore = "If you did not ask for this, you need not do anything: your password has not changed.";
    let parts = vec![paragraph(why), link("Choose a new password", to), paragraph(once), paragraph(ignore)];
    (format!("New password for {service}"), parts)
}

fn recovery_code_used<'a>(left: u64, names: &Names) -> Body<'a> {
    let service = &names.service;
    let what = format!(
        "A recovery code was used in place of the second factor of your {service} account. That code does not work \
         any more."
    );
    let left = match left {
        0 => "You have none left. Create new codes on the page of your account.".to_owned(),
        1 => "You have one left. You can create new codes on the page of your account.".to_owned(),
        left => format!("You have {left} left. You can create new codes on the page of your account."),
    };
    let subject = format!("A recovery code of {service} was used");
    (subject, vec![paragraph(what), paragraph(left), unexpected(&names.contact)])
}

fn new_sign_in<'a>([at, browser, address]: &[String; 3], names: &Names) -> Body<'a> {
    let service = &names.service;
    let what =
        format!("Someone signed in to your {service} account from a browser that we had not seen before.");
    let facts = format!("When: {at}. Browser: {browser}. IP address: {address}.");
    let fine = "If it was you, you need not do anything.";
    let subject = format!("New sign-in to {service}");
    let parts = vec![paragraph(what), paragraph(facts), paragraph(fine), unexpected(&names.contact)];
    (subject, parts)
}

fn greeting(name: &str) -> String {
    if name.is_empty() { "Hello,".into() } else { format!("Hello {name},") }
}

/// The subject and why the mail comes.
fn invited_to(invitee: Invitee, service: &str) -> (String, String) {
    match invitee {
        Invitee::User => (
            format!("Your {service} account"),
            format!(
                "You have been invited to {service}. Accept the invitation to choose your password and start using \
                 the account."
            ),
        ),
        Invitee::Developer => (
            format!("Invitation to the {service} developer portal"),
            format!(
                "You have been invited to the developer portal of {service}, where you can try the APIs and ask for \
                 access for your applications. Accept the invitation to create your account."
            ),
        ),
        Invitee::Operator => (
            format!("Invitation to the {service} console"),
            format!(
                "You have been invited to administer {service}. Accept the invitation to create your account for the \
                 console."
            ),
        ),
    }
}

fn unexpected<'a>(contact: &str) -> Part<'a> {
    let whom = if contact.is_empty() { "the person who manages your account" } else { contact };
    let verb = if contact.is_empty() { "tell" } else { "contact" };
    paragraph(format!("If it was not you, change your password as soon as you can and {verb} {whom}."))
}

fn footer(names: &Names) -> String {
    let Names { service, contact, .. } = names;
    let sent = format!("This message was sent automatically by {service}.");
    if contact.is_empty() { sent } else { format!("{sent} Contact: {contact}") }
}
