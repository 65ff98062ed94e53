//! The reference page.

use domain::subscription::Product;
use domain::{Area, Scope};
use pages::{PageContext, PageError, Params, Response};
use store::{KeySlot, ListQuery, Status, Subscription};

use crate::context::Context;
use crate::views::reference::{Api, ReferencePage, SandboxSubscription};

pub(crate) async fn get(context: &Context) -> Result<Response, PageError> {
    Ok(context.show(&page(context, None).await?))
}

async fn page(context: &Context, key: Option<String>) -> Result<ReferencePage, PageError> {
    let settings = &context.portal.settings;
    let all = context.developer().subscriptions(context.team.id.as_str(), &ListQuery::default()).await?;
    let is_usable =
        |one: &&Subscription| one.is_sandbox && one.cancelled_at.is_none() && one.status == Status::Active;
    let offered = all.rows.iter().filter(is_usable);
    let offered = offered.map(|one| SandboxSubscription { id: one.id.to_string(), name: one.name.clone() });
    Ok(ReferencePage {
        sandbox_subscriptions: offered.collect(),
        key,
        apis: Product::ALL.into_iter().flat_map(|product| apis(&settings.base_url, product)).collect(),
        docs_url: settings.docs_url.clone(),
        openapi_url: format!("{}/openapi.json", settings.base_url),
        asyncapi_url: format!("{}/asyncapi.json", settings.base_url),
        discovery_url: format!("{}/.well-known/openid-configuration", settings.issuer),
    })
}

/// Shows the key of a sandbox subscription, ready for the page that tries calls.
pub(crate) async fn post(context: &Context, form: &Params) -> Result<Response, PageError> {
    if form.get("do") != Some("prefill") {
        return Err(PageError::no_action());
    }
    context.require_fresh()?;
    let id = form.get("subscription").unwrap_or_default();
    let page_before = page(context, None).await?;
    // Only a sandbox subscription of this team.
    if !page_before.sandbox_subscriptions.iter().any(|one| one.id == id) {
        return Err(PageError::NotFound);
    }
    let key = context.developer().reveal_key(id, KeySlot::Primary).await?;
    Ok(context.show(&ReferencePage { key: Some(key.reveal().to_owned()), ..page_before }))
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
