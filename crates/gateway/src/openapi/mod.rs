//! The OpenAPI document of the read APIs, made from the one list of their addresses and from the catalogue:
//! a new resource documents itself.

mod errors;
mod examples;
mod headers;
mod operations;
mod parameters;
mod records;
mod responses;
mod schema_types;
mod security;
#[cfg(test)]
mod tests;

use domain::Area;
use utoipa::openapi::server::{Server, ServerBuilder, ServerVariableBuilder};
use utoipa::openapi::tag::{Tag, TagBuilder};
use utoipa::openapi::{
    ComponentsBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, PathsBuilder,
};

use crate::endpoint::Endpoint;

/// Stands in the document where nobody has said yet where the service will be.
const PLACEHOLDER_URL: &str = "https://api.example.com";

const DESCRIPTION: &str = "Reads over accounting, payroll and invoicing data.

Every call carries a subscription key (`Ocp-Apim-Subscription-Key`) and an access token \
(`Authorization: Bearer`). The accounting family serves several companies per user: the list of companies \
tells their `correlationId`, and every other resource is read in the `context` of one of them.

Lists come in pages (`pageNumber`, `pageSize`) as bare arrays; `X-Pagination` and `Link` tell where a page \
lies. Every read has a weak `ETag`. `…/changes` is the log of a resource: read the list, keep its \
`X-Sequence-Version`, and follow the feed from there without a gap.

Every error has the same body, and every answer an `X-Request-Id`: say it when you ask for help. Parameter \
names are taken in any case, and a slash at the end of an address is fine.";

/// The document for a service at these addresses; an empty one stands for an address that is not known yet.
pub fn openapi(base_url: &str, auth_url: &str) -> OpenApi {
    let auth_url = if auth_url.is_empty() { PLACEHOLDER_URL } else { auth_url };
    let info = InfoBuilder::new()
        .title("Aldaba")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(DESCRIPTION))
        .license(Some(LicenseBuilder::new().name("Apache-2.0").identifier(Some("Apache-2.0")).build()));
    let paths = Endpoint::all().fold(PathsBuilder::new(), |paths, endpoint| {
        paths.path(operations::path(endpoint), operations::item(endpoint))
    });
    let components = ComponentsBuilder::new();
    let components = security::schemes(components, auth_url);
    let components = records::schemas(components);
    let components = errors::schemas(components);
    let components = headers::all(components);
    let components = parameters::shared(components);
    let components = responses::shared(components);
    OpenApiBuilder::new()
        .info(info)
        .servers(Some([server(base_url)]))
        .tags(Some(Area::ALL.map(tag)))
        .paths(paths)
        .components(Some(components.build()))
        .build()
}

fn server(base_url: &str) -> Server {
    if !base_url.is_empty() {
        return Server::new(base_url);
    }
    let variable = ServerVariableBuilder::new()
        .default_value(PLACEHOLDER_URL)
        .description(Some("The address under which the service is reached."));
    ServerBuilder::new().url("{base_url}").parameter("base_url", variable).build()
}

/// What the area is called in the document.
fn area_name(area: Area) -> &'static str {
    match area {
        Area::Accounting => "Accounting",
        Area::Core => "Accounting core",
        Area::Import => "Accounting import",
        Area::Payroll => "Payroll",
        Area::Invoicing => "Invoicing",
    }
}

fn tag(area: Area) -> Tag {
    let description = match area {
        Area::Accounting => "Companies and what belongs to them: accounts, customers, invoices, journals.",
        Area::Core => "Persons, legal entities and activities.",
        Area::Import => "Files that were handed in.",
        Area::Payroll => "Payroll companies, with a filter and an order.",
        Area::Invoicing => "Changes of the invoicing entities.",
    };
    TagBuilder::new().name(area_name(area)).description(Some(description)).build()
}
