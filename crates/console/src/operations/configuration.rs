//! The configuration's page.

use operator::operations::configuration::ConfigurationKey;
use pages::{PageContext, PageError, Response};

use super::views::configuration::ConfigurationPage;
use crate::context::Context;

pub(crate) async fn configuration(context: &Context) -> Result<Response, PageError> {
    let operations = context.operations();
    let (is_changed, wanted) = (context.query.is_set("changed"), context.query.get("q").map(str::trim));
    let is_wanted = |key: &&ConfigurationKey| {
        (!is_changed || key.is_changed) && wanted.is_none_or(|text| key.contains(text))
    };
    let keys = operations.configuration.iter().filter(is_wanted).cloned().collect();
    Ok(context.show(&ConfigurationPage { keys }))
}
