//! The search over everything.

use operator::admin::{AdminError, SearchResults};
use pages::{PageContext, PageError, Response};

use super::view_search::SearchView;
use crate::context::Context;

pub(crate) async fn search(context: &Context) -> Result<Response, PageError> {
    let text = context.query.get("q").map(str::trim).unwrap_or_default();
    let nothing = || SearchResults { query: text.to_owned(), hits: Vec::new() };
    if text.is_empty() {
        return Ok(context.show(&SearchView { results: nothing(), is_too_long: false }));
    }
    let (results, is_too_long) = match context.admin().search(text).await {
        Ok(results) => (results, false),
        Err(AdminError::Invalid(_)) => (nothing(), true),
        Err(error) => return Err(error.into()),
    };
    Ok(context.show(&SearchView { results, is_too_long }))
}
