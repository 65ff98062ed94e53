//! The mails of the accounts, as text and as plain HTML: no images, no scripts, nothing that is loaded, nothing that
//! tells whether the mail was opened. Pure functions: values in, text out.

mod en;
mod es;
mod notices;
#[cfg(test)]
mod tests;

use std::time::Duration;

use domain::Ticks;
use maud::{DOCTYPE, Markup, html};

pub use notices::MailNotice;

use crate::format::{plain_name, plain_timestamp};
use crate::{Lang, duration, safe_href};

/// News is worth sending for this long.
const NOTICE_LIFE: Duration = Duration::from_secs(72 * 60 * 60);

/// What a mail says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailTemplate<'a> {
    /// The link opens the page that sets the password.
    Invitation {
        invitee: Invitee,
        link: MailLink<'a>,
    },
    /// The link opens the page that sets a new password.
    PasswordReset {
        link: MailLink<'a>,
    },
    PasswordChanged,
    SecondFactorChanged,
    /// A recovery code took the place of the second factor; so many are left.
    RecoveryCodeUsed {
        left: u64,
    },
    /// News for a team. The link opens the page that lists it.
    Notices {
        team: &'a str,
        notices: &'a [MailNotice<'a>],
        url: &'a str,
    },
    /// A sign-in from a browser that the account has not used before.
    NewSignIn {
        at: Ticks,
        browser: &'a str,
        address: &'a str,
    },
}

/// What an invitation invites to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invitee {
    User,
    Developer,
    Operator,
}

/// A one-time link and how long it works.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MailLink<'a> {
    pub url: &'a str,
    pub valid: Duration,
}

impl std::fmt::Debug for MailLink<'_> {
    /// Without the link, which is a secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MailLink").field("valid", &self.valid).finish_non_exhaustive()
    }
}

/// To whom and for whom a mail is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailContext<'a> {
    pub lang: Lang,
    /// The service's name.
    pub service: &'a str,
    /// The recipient's name; empty if it is unknown.
    pub name: &'a str,
    /// Whom the recipient can ask: an address, a telephone number; empty if there is none.
    pub contact: &'a str,
}

/// A finished mail. Each part may contain a one-time link.
#[derive(Clone, PartialEq, Eq)]
pub struct RenderedMail {
    pub subject: String,
    pub text: String,
    pub html: String,
}

impl std::fmt::Debug for RenderedMail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RenderedMail(***)")
    }
}

impl MailTemplate<'_> {
    /// The name of the template, for the log.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Invitation { .. } => "invitation",
            Self::PasswordReset { .. } => "password-reset",
            Self::PasswordChanged => "password-changed",
            Self::SecondFactorChanged => "second-factor-changed",
            Self::RecoveryCodeUsed { .. } => "recovery-code-used",
            Self::Notices { .. } => "notices",
            Self::NewSignIn { .. } => "new-sign-in",
        }
    }

    /// After this time the mail is not worth sending: its link is void or its news is old.
    pub const fn life(&self) -> Duration {
        match self {
            Self::Invitation { link, .. } | Self::PasswordReset { link } => link.valid,
            Self::PasswordChanged
            | Self::SecondFactorChanged
            | Self::RecoveryCodeUsed { .. }
            | Self::Notices { .. }
            | Self::NewSignIn { .. } => NOTICE_LIFE,
        }
    }

    pub fn render(&self, context: &MailContext<'_>) -> RenderedMail {
        let names = Names {
            service: plain_name(context.service),
            name: person_name(context.name),
            contact: plain_name(context.contact),
        };
        let draft = match context.lang {
            Lang::Es => es::draft(self, &names),
            Lang::En => en::draft(self, &names),
        };
        let html = page(context.lang, &draft).into_string();
        RenderedMail { text: text(&draft), html, subject: draft.subject }
    }
}

/// The names of a mail, bounded and without control characters and direction marks.
struct Names {
    service: String,
    name: String,
    contact: String,
}

/// A mail as its parts; both forms are made of it.
struct Draft<'a> {
    subject: String,
    parts: Vec<Part<'a>>,
}

enum Part<'a> {
    Paragraph(String),
    Link { label: &'static str, url: &'a str },
}

fn paragraph<'a>(text: impl Into<String>) -> Part<'a> {
    Part::Paragraph(text.into())
}

fn link<'a>(label: &'static str, link: &MailLink<'a>) -> Part<'a> {
    Part::Link { label, url: safe_href(link.url) }
}

/// How long the link works.
fn validity(lang: Lang, link: &MailLink<'_>) -> String {
    duration(lang, link.valid.as_secs())
}

/// Where and when a sign-in happened.
fn sign_in_facts(lang: Lang, at: Ticks, browser: &str, address: &str) -> [String; 3] {
    let browser = Some(person_name(browser)).filter(|name| !name.is_empty());
    [plain_timestamp(lang, at), browser.unwrap_or_else(|| "?".into()), plain_name(address)]
}

/// A name that somebody chose, or nothing if mail programs could make a link of it: it would be a stranger's link in a
/// mail of the service.
fn person_name(name: &str) -> String {
    let name = plain_name(name);
    let is_joined = |pair: &[char]| pair[0] == '.' && pair[1].is_alphanumeric();
    let chars: Vec<char> = name.chars().collect();
    if name.contains(['/', '@', ':']) || chars.windows(2).any(is_joined) { String::new() } else { name }
}

fn text(draft: &Draft<'_>) -> String {
    let parts = draft.parts.iter().map(|part| match part {
        Part::Paragraph(text) => text.clone(),
        Part::Link { label, url } => format!("{label}:\n{url}"),
    });
    parts.collect::<Vec<_>>().join("\n\n") + "\n"
}

fn page(lang: Lang, draft: &Draft<'_>) -> Markup {
    html! {
        (DOCTYPE)
        html lang=(lang.tag()) {
            head {
                meta charset="utf-8";
                title { (draft.subject) }
            }
            body {
                @for part in &draft.parts {
                    @match part {
                        Part::Paragraph(text) => p { (text) },
                        Part::Link { label, url } => p { a href=(url) { (label) } },
                    }
                }
            }
        }
    }
}
