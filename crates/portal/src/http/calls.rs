//! The last calls with the team's keys.

use domain::Ticks;
use pages::{Format, PageContext, PageError, Response};
use store::{CallQuery, ListQuery, Subscription};

use crate::context::Context;
use crate::views::calls::{CallRow, CallsPage};

const ROWS: usize = 50;
const CSV_ROWS: usize = 1000;

pub(crate) async fn list(context: &Context) -> Result<Response, PageError> {
    let team = context.team.id.as_str();
    let own = context.developer().subscriptions(team, &ListQuery::default()).await?.rows;
    let query = &context.query;
    // Of the team's own subscriptions only: another id finds nothing.
    let is_wanted =
        |one: &&Subscription| query.get("subscription").is_none_or(|wanted| wanted == one.id.to_string());
    let calls = CallQuery {
        subscriptions: own.iter().filter(is_wanted).map(|one| one.id.clone()).collect(),
        before: query.get("before").and_then(|text| text.parse().ok()),
        status_class: query.get("result").and_then(status_class),
        only_refused: query.get("result") == Some("refused"),
        route: query.get("route").map(str::to_owned),
        request_id: query.get("request_id").map(|id| id.trim().to_owned()),
        since: query.get("since").and_then(Ticks::parse_iso),
        rows_max: if context.format == Format::Csv { CSV_ROWS } else { ROWS },
        ..CallQuery::default()
    };
    let page = if calls.subscriptions.is_empty() {
        store::CallPage::default()
    } else {
        context.portal.ports.store.list_calls(&calls).await?
    };
    let name_of = |id: &domain::ids::SubscriptionId| {
        own.iter().find(|one| one.id == *id).map(|one| one.name.clone()).unwrap_or_default()
    };
    let clients = context.developer().clients(team, &ListQuery::default()).await?.rows;
    let rows = page.calls.into_iter().map(|one| CallRow::new(one, name_of, &clients)).collect();
    let subscriptions = own.iter().map(|one| (one.id.to_string(), one.name.clone())).collect();
    Ok(context.show(&CallsPage { calls: rows, next: page.next, subscriptions }))
}

fn status_class(text: &str) -> Option<u8> {
    text.strip_suffix("xx").and_then(|class| class.parse().ok()).filter(|class| (2..=5).contains(class))
}
