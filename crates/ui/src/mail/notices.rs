//! The mail with the notices of a team.

use domain::{NoticeKind, Ticks};

use super::{Names, Part, paragraph, person_name};
use crate::format::{plain_name, plain_timestamp};
use crate::{Lang, notice_title, safe_href};

/// A mail lists this many notices, and says how many more there are.
const LISTED_MAX: usize = 20;

/// One notice in a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailNotice<'a> {
    pub kind: NoticeKind,
    /// What it is about; somebody chose this name.
    pub name: &'a str,
    /// Why a request was refused.
    pub reason: &'a str,
    /// When it began, or when it ends.
    pub since: Ticks,
    pub at: Ticks,
}

/// A subject and the parts between the greeting and the footer.
pub(super) fn body<'a>(
    lang: Lang,
    team: &str,
    notices: &[MailNotice<'_>],
    url: &'a str,
    names: &Names,
) -> (String, Vec<Part<'a>>) {
    let (service, team) = (&names.service, person_name(team));
    let subject = match notices {
        [one] => format!("{service}: {}", lower(notice_title(lang, one.kind))),
        many => match lang {
            Lang::Es => format!("{service}: {} avisos para tu equipo", many.len()),
            Lang::En => format!("{service}: {} notices for your team", many.len()),
        },
    };
    let first = match (lang, team.is_empty()) {
        (Lang::Es, true) => "Hay novedades en tu equipo.".to_owned(),
        (Lang::En, true) => "There is news for your team.".to_owned(),
        (Lang::Es, false) => format!("Hay novedades en el equipo «{team}»."),
        (Lang::En, false) => format!("There is news for the team “{team}”."),
    };
    let mut parts = vec![paragraph(first)];
    parts.extend(notices.iter().take(LISTED_MAX).map(|one| paragraph(line(lang, one))));
    if let Some(more) = notices.len().checked_sub(LISTED_MAX).filter(|more| *more > 0) {
        parts.push(paragraph(match lang {
            Lang::Es => format!("Y {more} más."),
            Lang::En => format!("And {more} more."),
        }));
    }
    let (label, choice) = match lang {
        Lang::Es => ("Ver los avisos", "En esa página puedes elegir qué avisos recibes por correo."),
        Lang::En => ("See the notices", "On that page you can choose which notices you get by mail."),
    };
    parts.push(Part::Link { label, url: safe_href(url) });
    parts.push(paragraph(choice));
    (subject, parts)
}

fn line(lang: Lang, one: &MailNotice<'_>) -> String {
    let (title, name) = (notice_title(lang, one.kind), person_name(one.name));
    let named = match (lang, name.is_empty()) {
        (_, true) => String::new(),
        (Lang::Es, false) => format!(": «{name}»"),
        (Lang::En, false) => format!(": “{name}”"),
    };
    let time = |at| plain_timestamp(lang, at);
    let when = match (lang, one.kind) {
        (Lang::Es, NoticeKind::WebhookFailing) => format!("desde el {}", time(one.since)),
        (Lang::En, NoticeKind::WebhookFailing) => format!("since {}", time(one.since)),
        (Lang::Es, NoticeKind::KeyEnds | NoticeKind::ClientSecretEnds) => {
            format!("caduca el {}", time(one.since))
        }
        (Lang::En, NoticeKind::KeyEnds | NoticeKind::ClientSecretEnds) => {
            format!("expires {}", time(one.since))
        }
        _ => time(one.at),
    };
    let reason = plain_name(one.reason);
    let reason = match (lang, reason.is_empty()) {
        (_, true) => String::new(),
        (Lang::Es, false) => format!(" Motivo: {reason}"),
        (Lang::En, false) => format!(" Reason: {reason}"),
    };
    format!("{title}{named} ({when}).{reason}")
}

/// With a small first letter.
fn lower(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}
