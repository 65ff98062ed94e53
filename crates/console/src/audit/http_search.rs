//! The search over everything.

use std::collections::BTreeMap;

use operator::admin::{AdminError, SearchHit, SearchResults};
use pages::{PageContext, PageError, Response};

use super::view_search::SearchView;
use crate::actors;
use crate::context::Context;

pub(crate) async fn search(context: &Context) -> Result<Response, PageError> {
    let text = context.query.get("q").map(str::trim).unwrap_or_default();
    let nothing = || SearchResults { query: text.to_owned(), hits: Vec::new() };
    if text.is_empty() {
        return Ok(context.show(&SearchView {
            results: nothing(),
            names: BTreeMap::new(),
            is_too_long: false,
        }));
    }
    let (results, is_too_long) = match context.admin().search(text).await {
        Ok(results) => (results, false),
        Err(AdminError::Invalid(_)) => (nothing(), true),
        Err(error) => return Err(error.into()),
    };
    let named = |one: &SearchHit| {
        let tenant = one.tenant.as_ref().map(|id| format!("tenant:{id}"));
        [tenant, one.client.as_ref().map(|id| format!("client:{id}"))]
    };
    let names = actors::names(context, results.hits.iter().flat_map(named).flatten().collect()).await?;
    Ok(context.show(&SearchView { results, names, is_too_long }))
}
