//! What the lists of the area have in common: the filter and the page that the URL names, and the names of teams.

use std::collections::{BTreeMap, BTreeSet};

use domain::TeamId;
use futures_util::future::try_join_all;
use operator::admin::AdminError;
use pages::{Format, PageError};
use store::{LIST_ROWS_MAX, ListCursor, ListFilter, ListPage, ListQuery, ListedState};

use crate::applications::views::parts::TeamRef;
use crate::context::Context;

/// Rows of a page.
const ROWS: usize = 50;
/// The pages of the store that one CSV file holds.
const CSV_PAGES: usize = 5;
/// Longer texts are cut: no name begins with them.
const TEXT_CHARS_MAX: usize = 200;

/// The filter that the URL names: `q`, `state` and `team`. `suspended` is what subscriptions call it.
pub(super) fn filter(context: &Context) -> ListFilter {
    let state = match context.query.get("state") {
        Some("suspended") => Some(ListedState::Disabled),
        Some(name) => ListedState::from_name(name),
        None => None,
    };
    let text =
        context.query.get("q").map(|text| text.trim().chars().take(TEXT_CHARS_MAX).collect::<String>());
    ListFilter { team: team(context), state, text: text.filter(|text| !text.is_empty()) }
}

pub(super) fn team(context: &Context) -> Option<TeamId> {
    context.query.get("team").map(|team| TeamId::new(team.trim()))
}

/// The rows of the page that the URL names, and the cursor of the next one; for a CSV file the rows of several pages.
pub(super) async fn read<T, F>(
    context: &Context,
    list: impl Fn(ListQuery) -> F,
) -> Result<(Vec<T>, Option<String>), PageError>
where
    F: Future<Output = Result<ListPage<T>, AdminError>>,
{
    let after: Option<ListCursor> =
        context.query.get("after").map(str::parse).transpose().map_err(PageError::Refused)?;
    let (pages, rows_max) =
        if context.format == Format::Csv { (CSV_PAGES, LIST_ROWS_MAX) } else { (1, ROWS) };
    let (mut query, mut rows) = (ListQuery { after, rows_max }, Vec::new());
    for _ in 0..pages {
        let page = list(query.clone()).await?;
        rows.extend(page.rows);
        query.after = page.next;
        if query.after.is_none() {
            break;
        }
    }
    Ok((rows, query.after.map(|next| next.to_string())))
}

/// The names of teams by id. A CSV file has their ids alone.
pub(super) async fn team_names<'a>(
    context: &Context,
    teams: impl Iterator<Item = &'a TeamId>,
) -> Result<BTreeMap<String, String>, PageError> {
    if context.format == Format::Csv {
        return Ok(BTreeMap::new());
    }
    let ids: BTreeSet<&TeamId> = teams.collect();
    let store = &context.console.ports.store;
    let found = try_join_all(ids.into_iter().map(|id| store.find_team(id))).await?;
    Ok(found.into_iter().flatten().map(|team| (team.id.to_string(), team.name)).collect())
}

pub(super) fn team_ref(id: &TeamId, names: &BTreeMap<String, String>) -> TeamRef {
    TeamRef { id: id.to_string(), name: names.get(id.as_str()).cloned() }
}
