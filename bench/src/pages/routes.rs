//! The pages of the portal that are measured: every route, and the views of a page that ask the store for something else.

use domain::delivery::DeliveryCursor;

use super::data::Dataset;
use crate::Fallible;

/// The page that the others are compared with: open to all, and without data.
pub(super) const BARE: &str = "/";

/// A page, and texts that it must show: a page without its data would be fast.
pub(super) struct Page {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) shows: Vec<String>,
    pub(super) site: Site,
}

/// Whose page it is, and so which listener and which session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Site {
    Portal,
    Console,
}

/// Other views of a route, as queries.
const VIEWS: &[(&str, &[&str])] = &[
    ("calls", &["request_id=unknown", "result=refused", "route=unknown"]),
    (
        "webhooks",
        &[
            "failing=1",
            "state=disabled_by_service",
            "state=suspended",
            "url=unknown",
            "after={webhooks_cursor}",
        ],
    ),
    ("webhooks/{webhook}", &["span=week"]),
    (
        "webhooks/{webhook}/deliveries",
        &[
            "status=waiting",
            "status=failed",
            "record=unknown",
            "record={record}",
            "before={steady_cursor}",
            "before={bulk_cursor}",
            "record=unknown&before={bulk_cursor}",
            "status=failed&before={bulk_cursor}",
        ],
    ),
    ("events", &["q=unknown"]),
];

/// Pages of a webhook whose receiver has been down for long.
const OF_THE_DOWN_WEBHOOK: [&str; 3] =
    ["webhooks/{down}", "webhooks/{down}/deliveries", "webhooks/{down}/deliveries?status=failed"];

/// What the names in braces stand for.
pub(super) fn fill(path: &str, data: &Dataset, webhooks_cursor: &str) -> String {
    let cursor = |(at, sequence)| DeliveryCursor { at, sequence }.to_string();
    let values: [(&str, &str); 12] = [
        ("{subscription}", &data.subscription),
        ("{client}", &data.client),
        ("{webhook}", &data.busy.to_string()),
        ("{down}", &data.down.to_string()),
        ("{sequence}", &data.failed_sequence.to_string()),
        ("{event}", &data.event),
        ("{number}", &data.received.to_string()),
        ("{record}", &data.record),
        ("{webhooks_cursor}", webhooks_cursor),
        ("{steady_cursor}", &cursor(data.steady)),
        ("{bulk_cursor}", &cursor(data.bulk)),
        ("{team}", &data.team),
    ];
    values.iter().fold(path.to_owned(), |path, (name, value)| path.replace(name, value))
}

/// What a page must show.
fn shown(path: &str, data: &Dataset) -> Vec<String> {
    let busy = data.busy.to_string();
    match path {
        "" | "team" | "notices" => vec![data.team_name.clone()],
        "webhooks" => vec![busy, data.down.to_string()],
        "subscriptions" | "subscriptions/{subscription}" => vec![data.subscription.clone()],
        "applications" | "applications/{client}" => vec![data.client.clone()],
        "calls" => vec![data.route.to_owned()],
        "webhooks/{webhook}" => vec![busy, data.busy_url.clone()],
        "webhooks/{webhook}/deliveries" => vec![format!("{busy}/deliveries/"), data.event.clone()],
        "webhooks/{webhook}/deliveries?before={steady_cursor}" => {
            vec![format!("{busy}/deliveries/{}", data.steady.1 - 1)]
        }
        "webhooks/{webhook}/deliveries?before={bulk_cursor}" => {
            vec![format!("{busy}/deliveries/{}", data.bulk.1 - 1)]
        }
        "webhooks/{webhook}/deliveries?record={record}" => vec![data.record.clone()],
        "webhooks/{webhook}/deliveries/{sequence}" => vec![data.event.clone(), "503".into()],
        "webhooks/{down}/deliveries" => vec![format!("{}/deliveries/", data.down)],
        _ => Vec::new(),
    }
}

/// Fails where a route has a name in braces that has no value here.
pub(super) fn check() -> Fallible<()> {
    let known = ["{subscription}", "{client}", "{webhook}", "{sequence}", "{event}", "{number}"];
    for (path, _) in portal::team_routes() {
        let rest = known.iter().fold(path.to_owned(), |path, name| path.replace(name, ""));
        if rest.contains('{') {
            return Err(
                format!("{path}: give its names in braces a value in bench/src/pages/routes.rs").into()
            );
        }
    }
    Ok(())
}

pub(super) fn pages(data: &Dataset, webhooks_cursor: &str) -> Vec<Page> {
    let bare =
        |path: &str| Page { name: path.into(), path: path.into(), shows: Vec::new(), site: Site::Portal };
    let mut pages = vec![bare("/livez"), bare(BARE), bare("/portal/account")];
    let mut add = |path: &str| {
        pages.push(Page {
            name: format!("…/{path}"),
            path: data.team_path(&fill(path, data, webhooks_cursor)),
            shows: shown(path, data),
            site: Site::Portal,
        });
    };
    for (path, _) in portal::team_routes() {
        add(path);
        let views = VIEWS.iter().filter(|(route, _)| *route == path).flat_map(|(_, queries)| *queries);
        for query in views {
            add(&format!("{path}?{query}"));
        }
    }
    OF_THE_DOWN_WEBHOOK.into_iter().for_each(&mut add);
    pages
}
