//! The pages of the console that are measured: every route, and the views of a page that ask the store for something else.

use super::data::Dataset;
use super::people::{CHANGES_OF_RECORD, OPERATOR, USER};
use super::routes::{Page, Site, fill};
use super::team::{FEW_RECORDS, small_tenant};
use crate::Fallible;
use crate::rows::{COMPANY, account_id};

/// Routes that need a query, and the further views of others.
const VIEWS: &[(&str, &[&str])] = &[
    ("", &["", "span=hour", "span=week", "area=accounting"]),
    (
        "audit",
        &[
            "",
            "kind=refreshed",
            "kind=client_added",
            "actor=unknown@example.com",
            "tenant={tenant}",
            "target={client}",
            "request=unknown",
        ],
    ),
    ("reads", &["", "tenant={tenant}", "tenant={tenant}&client={client}", "tenant={tenant}&company=unknown"]),
    (
        "search",
        &[
            "",
            "q=user-4",
            "q=user-42@example.com",
            "q={record}",
            "q={webhook}",
            "q=00000000-0000-4000-8000-000000000000",
        ],
    ),
    ("tenants", &["", "q=bodegas", "q=unknown", "state=disabled"]),
    ("tenants/{tenant}/data", &["", "company={company}"]),
    (
        "tenants/{tenant}/data/{resource}",
        &["{of_company}", "{of_company}&offset=500000", "{of_company}&record={record}x"],
    ),
    ("tenants/{tenant}/records/{area}/{resource}/{record}", &["company={company}"]),
    (
        "tenants/{tenant}/records/{area}/{resource}/{record}/diff",
        &["company={company}&from={first}&to={last}"],
    ),
    ("tenants/{tenant}/records/{area}/{resource}/{record}/notified", &["company={company}"]),
    ("users", &["", "q=user-4", "q=unknown", "state=disabled"]),
    ("users/{user}", &["", "table=authorizations"]),
    ("invitations", &["", "state=any", "state=revoked", "q=invited-4"]),
    ("requests", &["", "state=refused"]),
    ("clients", &["", "q=panel", "team={team}"]),
    ("subscriptions", &["", "q=unknown"]),
    (
        "webhooks",
        &[
            "",
            "state=failing",
            "state=suspended",
            "state=disabled_by_service",
            "host=receiver-99.example",
            "host=unknown",
            "tenant={tenant}",
            "client={client}",
            "team={team}",
            "resource=customers",
        ],
    ),
    ("webhooks/bulk", &["action=pause&team={team}"]),
    ("webhooks/{webhook}", &["", "span=week"]),
    (
        "webhooks/{webhook}/deliveries",
        &["", "status=waiting", "status=failed", "record=unknown", "before={steady_cursor}"],
    ),
];

/// Pages of records, users and webhooks with more behind them than the usual one.
const FURTHER: [&str; 6] = [
    "tenants/{small_tenant}/records/accounting/accounts/{account}?company={company}",
    "tenants/{small_tenant}/records/accounting/accounts/{account}/diff?company={company}&from={first}&to={last}",
    "users/maria",
    "operators/{operator}",
    "webhooks/{down}",
    "webhooks/{down}/deliveries?status=failed",
];

/// The value of each name in braces that only the console has.
fn fill_console(path: &str, data: &Dataset) -> String {
    let number = |number: u64| number.to_string();
    let sequence = data.record_sequence;
    let is_small = path.contains("{small_tenant}");
    let (first, last) =
        if is_small { (FEW_RECORDS + 2, FEW_RECORDS + 1 + CHANGES_OF_RECORD) } else { (sequence, sequence) };
    let values: [(&str, String); 15] = [
        ("{of_company}", "area=accounting&company={company}".into()),
        ("{tenant}", data.tenant.clone()),
        ("{small_tenant}", small_tenant(0).to_string()),
        ("{company}", COMPANY.into()),
        ("{area}", "accounting".into()),
        ("{resource}", "customers".into()),
        ("{account}", account_id(1).to_string()),
        ("{first}", number(first)),
        ("{last}", number(last)),
        ("{user}", USER.into()),
        ("{developer}", "developer-0".into()),
        ("{operator}", OPERATOR.into()),
        ("{request}", "request-0".into()),
        ("{backup}", "none".into()),
        ("{token}", "none".into()),
    ];
    values.iter().fold(path.to_owned(), |path, (name, value)| path.replace(name, value))
}

/// What a page must show.
fn shown(path: &str, data: &Dataset) -> Vec<String> {
    match path {
        "webhooks" => vec![data.busy_url.replace("https://", "").replace("/hook", "")],
        "webhooks/{webhook}" => vec![data.busy.to_string()],
        "users" | "users/{user}" => vec![USER.into()],
        "operators" | "operators/{operator}" => vec![OPERATOR.into()],
        "teams" | "teams/{team}" => vec![data.team_name.clone()],
        "clients" | "clients/{client}" | "audit" => vec![data.client.clone()],
        "tenants/{tenant}/records/{area}/{resource}/{record}?company={company}" => vec![data.record.clone()],
        "reads?tenant={tenant}" => vec!["company-".into()],
        _ => Vec::new(),
    }
}

fn views() -> Vec<String> {
    let mut all = Vec::new();
    for (route, _) in console::console_routes() {
        let queries = VIEWS.iter().find(|(path, _)| *path == route).map_or(&[""][..], |(_, queries)| queries);
        let view = |query: &&str| if query.is_empty() { route.into() } else { format!("{route}?{query}") };
        all.extend(queries.iter().map(view));
    }
    all.extend(FURTHER.map(str::to_owned));
    all
}

/// Fails where a page has a name in braces that has no value here.
pub(super) fn pages(data: &Dataset) -> Fallible<Vec<Page>> {
    let page = |view: String| {
        let path = fill(&fill_console(&view, data), data, "");
        if path.contains('{') {
            return Err(
                format!("{view}: give its names in braces a value in bench/src/pages/console.rs").into()
            );
        }
        Ok(Page {
            name: format!("/console/{view}"),
            path: format!("/console/{path}"),
            shows: shown(&view, data),
            site: Site::Console,
        })
    };
    views().into_iter().map(page).collect()
}
