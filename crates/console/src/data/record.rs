//! The handlers of one record: its body and history, two versions compared, who was notified, edits by hand.

use operator::admin::{
    AdminError, CollectionName, EditAction, NewRecordEdit, NotifiedQuery, Permission, RECORD_ROWS_MAX,
    RecordHistoryJson, RecordName,
};
use pages::{Format, PageContext, PageError, Params, Response};

use super::browse::owners;
use super::views::diff::DiffPage;
use super::views::notified::NotifiedPage;
use super::views::record::RecordPage;
use crate::context::Context;

/// How many changes a page shows.
const CHANGES: usize = 20;
/// How many changes one CSV file holds.
const CSV_CHANGES: usize = 1_000;

fn name(context: &Context) -> Result<RecordName, PageError> {
    let part = |name| context.segment(name);
    let company = context.query.get("company");
    let of = CollectionName::parse(part("tenant"), part("area"), part("resource"), company)?;
    Ok(of.record(part("record")))
}

/// A number of the log in the query.
fn sequence(context: &Context, parameter: &str) -> Result<Option<u64>, PageError> {
    let wrong = |_| PageError::Refused(format!("{parameter} is not the number of a change"));
    context.query.get(parameter).map(|text| text.parse().map_err(wrong)).transpose()
}

pub(crate) async fn one(context: &Context) -> Result<Response, PageError> {
    let (name, admin) = (name(context)?, context.admin());
    let record = admin.record(&name).await?;
    let before = sequence(context, "before")?;
    let history = if context.format == Format::Csv {
        whole_history(context, &name, before).await?
    } else {
        admin.record_history(&name, before, CHANGES).await?
    };
    let owners = owners(context, &name.collection).await?;
    Ok(context.show(&RecordPage { name, owners, record, history }))
}

/// As many changes as a file holds.
async fn whole_history(
    context: &Context,
    name: &RecordName,
    before: Option<u64>,
) -> Result<RecordHistoryJson, PageError> {
    let admin = context.admin();
    let mut history = admin.record_history(name, before, RECORD_ROWS_MAX).await?;
    while history.changes.len() < CSV_CHANGES
        && let Some(next) = history.next.as_ref().and_then(|next| next.parse().ok())
    {
        let more = admin.record_history(name, Some(next), RECORD_ROWS_MAX).await?;
        history.changes.extend(more.changes);
        history.next = more.next;
    }
    Ok(history)
}

pub(crate) async fn diff(context: &Context) -> Result<Response, PageError> {
    let name = name(context)?;
    let versions = (sequence(context, "from")?, sequence(context, "to")?);
    let (Some(from), Some(to)) = versions else {
        return Err(PageError::Refused("name two versions: from and to".into()));
    };
    let diff = context.admin().record_diff(&name, from, to).await?;
    let owners = owners(context, &name.collection).await?;
    Ok(context.show(&DiffPage { name, owners, diff }))
}

pub(crate) async fn notified(context: &Context) -> Result<Response, PageError> {
    let name = name(context)?;
    let after = context.query.get("after").map(str::parse).transpose().map_err(PageError::Refused)?;
    let query = NotifiedQuery { change: sequence(context, "change")?, after, rows_max: None };
    let page = context.console.ports.webhook_admin.notified(&name, &query).await?;
    let owners = owners(context, &name.collection).await?;
    Ok(context.show(&NotifiedPage { name, owners, change: query.change, page }))
}

pub(crate) async fn post(context: &Context, form: &Params) -> Result<Response, PageError> {
    context.authority().require(Permission::Changes)?;
    context.require_fresh()?;
    let name = name(context)?;
    let action = EditAction::parse(form.get("do").unwrap_or_default(), form.get("data"));
    let action = action.ok_or_else(PageError::no_action)?;
    if action == EditAction::Delete && form.get("confirm") != Some(name.id.as_str()) {
        return Err(PageError::Refused(format!("type the id of the record, {}, to delete it", name.id)));
    }
    let expected = form.get("sequence").map(str::parse).transpose();
    let expected =
        expected.map_err(|_| PageError::Refused("sequence is not the number of a change".into()))?;
    let edit = NewRecordEdit {
        action,
        reason: form.get("reason").unwrap_or_default().to_owned(),
        expected_sequence: expected,
    };
    let edited = context.admin().edit_record(&name, &edit).await.map_err(|error| match error {
        // The form names it, so that it is a mistake in the form and no missing page.
        AdminError::NotFound(_) => PageError::Refused(error.to_string()),
        error => error.into(),
    })?;
    let code = match (&edited.sequence_version, &edit.action) {
        (None, _) => "record_unchanged",
        (_, EditAction::Upsert(_)) => "record_saved",
        (_, EditAction::Disable) => "record_disabled",
        (_, EditAction::Enable) => "record_enabled",
        (_, EditAction::Delete) => "record_deleted",
    };
    Ok(context.done(&context.here(&["before", "lang"], []), code, &edited))
}
