//! The audit: what was done, by whom, to what.

use std::collections::BTreeSet;

use domain::Ticks;
use operator::admin::AdminError;
use operator::audit::{self, AuditPage, AuditRecordView, AuditRequest};
use pages::{Format, PageContext, PageError, Params, Response};

use super::view_audit::AuditView;
use crate::actors;
use crate::context::Context;

const ROWS: usize = 50;
/// How many entries one CSV file holds.
const CSV_ROWS: usize = 10_000;
/// Pages that are read until a file is full: each looks at a bounded number of entries.
const CSV_READS_MAX: usize = 30;

pub(crate) async fn list(context: &Context) -> Result<Response, PageError> {
    let rows_max = if context.format == Format::Csv { CSV_ROWS } else { ROWS };
    let nothing = || AuditPage { records: Vec::new(), next: None };
    let found = match request(&context.query, rows_max) {
        Some(request) if context.format == Format::Csv => {
            audit::long_page(&*context.admin().store, request, CSV_READS_MAX).await
        }
        Some(request) => audit::page(&*context.admin().store, &request).await,
        None => Err(AdminError::Invalid(String::new())),
    };
    let (page, is_refused) = match found {
        Ok(page) => (page, false),
        // Nobody and nothing of that name: there are no entries.
        Err(AdminError::NotFound(_)) => (nothing(), false),
        Err(AdminError::Invalid(_)) => (nothing(), true),
        Err(error) => return Err(error.into()),
    };
    let names = actors::names(context, named(&page.records)).await?;
    Ok(context.show(&AuditView { records: page.records, next: page.next, names, is_refused }))
}

/// What the entries of a page name by its id. A CSV file has ids alone.
fn named(records: &[AuditRecordView]) -> BTreeSet<String> {
    let of = |one: &AuditRecordView| {
        let tenant = one.tenant.as_ref().map(|id| format!("tenant:{id}"));
        let client = one.client.as_ref().map(|id| format!("client:{id}"));
        [tenant, client, one.object.clone()]
    };
    records.iter().take(ROWS).flat_map(of).flatten().collect()
}

/// The filters of the page; none if one of them cannot be read.
fn request(query: &Params, rows_max: usize) -> Option<AuditRequest> {
    let text = |name| query.get(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let time = |name| text(name).map(|text| Ticks::parse_iso(&text));
    let request = AuditRequest {
        kind: text("kind"),
        actor: text("actor"),
        tenant: text("tenant"),
        request_id: text("request"),
        since: time("since").map_or(Some(None), |time| time.map(Some))?,
        until: time("until").map_or(Some(None), |time| time.map(Some))?,
        before: text("before"),
        rows_max: Some(rows_max),
        ..AuditRequest::default()
    };
    Some(match text("target") {
        Some(target) => request.of_target(&target),
        None => request,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> Option<AuditRequest> {
        request(&Params::parse(query.as_bytes()), 7)
    }

    #[test]
    fn filters_are_read_from_the_query() {
        let found =
            read("kind=granted&actor=cli%3Aana&tenant=+t+&request=r&since=2026-11-15T08:30&until=&before=x")
                .unwrap();
        assert_eq!(found.kind.as_deref(), Some("granted"));
        assert_eq!((found.actor.as_deref(), found.tenant.as_deref()), (Some("cli:ana"), Some("t")));
        assert_eq!((found.request_id.as_deref(), found.before.as_deref()), (Some("r"), Some("x")));
        assert_eq!((found.since, found.until), (Ticks::parse_iso("2026-11-15T08:30:00Z"), None));
        assert_eq!(found.rows_max, Some(7));
        assert!(read("since=yesterday").is_none() && read("until=x").is_none());
    }

    #[test]
    fn target_names_a_person_an_application_or_an_object() {
        let user = read("target=user:ana@example.com").unwrap();
        assert_eq!((user.user.as_deref(), user.object), (Some("ana@example.com"), None));
        assert_eq!(read("target=client:app").unwrap().client.as_deref(), Some("app"));
        assert_eq!(read("target=webhook:1").unwrap().object.as_deref(), Some("webhook:1"));
    }
}
