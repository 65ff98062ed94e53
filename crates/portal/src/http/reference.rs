//! The reference page.

use domain::subscription::Product;
use domain::{Area, Scope};

use crate::context::Context;
use crate::error::PortalError;
use crate::pages::reference::{Api, ReferencePage};
use crate::response::Response;

#[allow(clippy::unused_async, reason = "every page is asynchronous")]
pub(crate) async fn get(context: &Context) -> Result<Response, PortalError> {
    let settings = &context.portal.settings;
    Ok(context.show(&ReferencePage {
        apis: Product::ALL.into_iter().flat_map(|product| apis(&settings.base_url, product)).collect(),
        docs_url: settings.has_docs.then(|| format!("{}/docs/", settings.base_url)),
        openapi_url: format!("{}/openapi.json", settings.base_url),
        asyncapi_url: format!("{}/asyncapi.json", settings.base_url),
        discovery_url: format!("{}/.well-known/openid-configuration", settings.issuer),
    }))
}

/// The APIs of a product: one per area of the catalogue.
fn apis(base_url: &str, product: Product) -> impl Iterator<Item = Api> {
    let areas = Area::ALL.into_iter().filter(move |area| area.product() == product);
    areas.map(move |area| Api {
        product,
        area: area.as_str(),
        url: format!("{base_url}{}", area.prefix()),
        scope: area.scope().map(Scope::name),
        // Payroll has no webhooks.
        webhook_scope: (area != Area::Payroll).then(|| Scope::Webhooks.name()),
    })
}
