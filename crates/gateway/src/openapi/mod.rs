//! The OpenAPI document of the read APIs, generated from the list of endpoints and the catalogue: a new resource is
//! documented without further code.

mod errors;
mod examples;
mod headers;
mod operations;
mod parameters;
mod records;
mod responses;
mod schema_types;
mod security;
mod tags;
#[cfg(test)]
mod tests;

use utoipa::openapi::server::{Server, ServerBuilder, ServerVariableBuilder};
use utoipa::openapi::{
    ComponentsBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, PathsBuilder,
};

use crate::endpoint::Endpoint;

/// The address in the document while the service's own is not configured.
const PLACEHOLDER_URL: &str = "https://api.example.com";

const DESCRIPTION: &str = "Read access to accounting, payroll and invoicing data.

Every request carries a subscription key (`Ocp-Apim-Subscription-Key`) and an access token \
(`Authorization: Bearer`). In the accounting family a user may have access to several companies: the list of \
companies gives their `correlationId`, and the header `context` selects the company of every other resource.

Lists are paged (`pageNumber`, `pageSize`); the body is an array, and the headers `X-Pagination` and `Link` \
describe the page. Every read has a weak `ETag`. `…/changes` is the change feed of a resource: read the list, \
store its `X-Sequence-Version`, and follow the feed from there without a gap.

All errors have the same body. Its `code` is for programs: [the list of error codes](/docs/errors) has the cause and the \
cure of each. Every response has an `X-Request-Id`: quote it when you contact support. \
Parameter names are case-insensitive, and a trailing slash in a path is ignored. HEAD works wherever GET does.

Each resource is a tag. `/openapi.json?tags=Customers,Invoicing` and `aldaba openapi --tag Customers` give a document with the \
operations of these tags alone.";

/// The document for a service at these addresses. An empty string means that the address is not configured.
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
        .tags(Some(tags::all()))
        .paths(paths)
        .components(Some(components.build()))
        .build()
}

fn server(base_url: &str) -> Server {
    if !base_url.is_empty() {
        return Server::new(base_url);
    }
    // The description is the server's: a validator that generators use takes none of a variable.
    let variable = ServerVariableBuilder::new().default_value(PLACEHOLDER_URL);
    ServerBuilder::new()
        .url("{base_url}")
        .description(Some("`base_url` is the base URL of the service."))
        .parameter("base_url", variable)
        .build()
}
