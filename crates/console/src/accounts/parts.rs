//! What the handlers of this area share: the state of a list in its URL, and errors of forms.

use operator::admin::{AdminError, Permission};
use pages::{Format, PageError, Params};
use store::{LIST_ROWS_MAX, ListCursor, ListQuery, SearchFilter, Status, StoreError};

use crate::context::Context;

/// How many rows a page shows.
pub(super) const ROWS: usize = 50;

/// The page of a list that the URL asks for. A download continues from there, with as many rows as a list has at most.
pub(super) fn list_query(context: &Context, parameter: &str) -> Result<ListQuery, PageError> {
    let after = context.query.get(parameter).map(str::parse::<ListCursor>).transpose();
    let rows_max = if context.format == Format::Csv { LIST_ROWS_MAX } else { ROWS };
    Ok(ListQuery { after: after.map_err(PageError::Refused)?, rows_max })
}

/// What is searched for.
pub(super) fn search_filter(context: &Context) -> SearchFilter {
    SearchFilter::new(context.query.get("q"), context.query.get("state").and_then(status_from_name))
}

fn status_from_name(name: &str) -> Option<Status> {
    [Status::Active, Status::Disabled, Status::Unconfirmed].into_iter().find(|status| status.as_str() == name)
}

pub(super) fn next_text(next: Option<&ListCursor>) -> Option<String> {
    next.map(ToString::to_string)
}

/// Checks the permission before anything in the form is read.
pub(super) fn require(context: &Context, permission: Permission) -> Result<(), PageError> {
    context.authority().require(permission)?;
    Ok(())
}

/// What a form names and does not exist is a mistake in the form, not a page that is missing.
pub(super) fn form_error(error: AdminError) -> PageError {
    match error {
        AdminError::NotFound(_) => PageError::Refused(error.to_string()),
        AdminError::Store(error @ StoreError::UnknownTenant(_)) => PageError::Refused(error.to_string()),
        error => error.into(),
    }
}

/// Ids, separated by white space or commas.
pub(super) fn ids<'a>(form: &'a Params, field: &str) -> impl Iterator<Item = &'a str> {
    let text = form.get(field).unwrap_or_default();
    text.split(|c: char| c.is_whitespace() || c == ',').filter(|id| !id.is_empty())
}
