//! The notices of the team, and which of them the developer gets as mail.

use domain::{Guid, NoticeKind, Ticks, parse_digits};
use pages::{Format, PageContext, PageError, Params, Response};
use store::{NOTICES_MAX, NoticeCursor, NoticeQuery};

use crate::context::Context;
use crate::views::notices::{NoticeRow, NoticesPage};

const ROWS: usize = 50;

pub(crate) async fn get(context: &Context) -> Result<Response, PageError> {
    let (developer, team) = (context.developer(), context.team.id.as_str());
    let query = NoticeQuery {
        before: context.query.get("before").and_then(read_cursor),
        rows_max: if context.format == Format::Csv { NOTICES_MAX } else { ROWS },
    };
    let page = developer.notices(team, &query).await?;
    let settings = developer.notice_preferences(team).await?;
    Ok(context.show(&NoticesPage {
        unread: developer.unread_notices(team).await?,
        read_up_to: page.rows.first().map(|newest| newest.at.0.to_string()),
        notices: page.rows.into_iter().map(|one| NoticeRow::new(one, settings.read_at)).collect(),
        next: page.next.map(|cursor| format!("{}.{}", cursor.at.0, cursor.id)),
        mailed: settings.mailed.iter().map(NoticeKind::as_str).collect(),
        is_first: query.before.is_none(),
    }))
}

fn read_cursor(text: &str) -> Option<NoticeCursor> {
    let (at, id) = text.split_once('.')?;
    Some(NoticeCursor { at: Ticks(parse_digits(at)?), id: Guid::parse(id)? })
}

pub(crate) async fn post(context: &Context, form: &Params) -> Result<Response, PageError> {
    let (developer, team) = (context.developer(), context.team.id.as_str());
    let here = context.team_path("notices");
    match form.get("do") {
        Some("read") => {
            let up_to = form.get("upTo").and_then(parse_digits).map(Ticks);
            let up_to = up_to.ok_or_else(|| PageError::Refused("the form names no time".into()))?;
            developer.mark_notices_read(team, up_to).await?;
            let unread = developer.unread_notices(team).await?;
            Ok(context.done(&here, "notices_read", &serde_json::json!({ "unread": unread })))
        }
        Some("preferences") => {
            let unknown = |name: &str| PageError::Refused(format!("there is no kind of notice \"{name}\""));
            let kind = |name| NoticeKind::parse(name).ok_or_else(|| unknown(name));
            let kinds = form.all("kind").map(kind).collect::<Result<Vec<_>, _>>()?;
            developer.set_notice_preferences(team, kinds.iter().copied().collect()).await?;
            let names: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
            Ok(context.done(&here, "saved", &serde_json::json!({ "mailed": names })))
        }
        _ => Err(PageError::no_action()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_a_cursor_has_no_sign() {
        let id = Guid::from_bytes([7; 16]);
        assert_eq!(read_cursor(&format!("5.{id}")), Some(NoticeCursor { at: Ticks(5), id }));
        for wrong in ["", "+5", "-5", "-0"] {
            assert_eq!(read_cursor(&format!("{wrong}.{id}")), None, "{wrong}");
        }
    }
}
