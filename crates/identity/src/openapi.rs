//! The identity provider's part of the OpenAPI document, built from the route list (`http::routes`). It is an
//! overview: the discovery document and the OAuth 2.0 and OpenID Connect specifications define the details.

use serde_json::json;
use utoipa::openapi::path::{Operation, OperationBuilder, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{AdditionalProperties, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::server::Server;
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    ComponentsBuilder, ContentBuilder, HttpMethod, InfoBuilder, ObjectBuilder, OpenApi, OpenApiBuilder,
    PathsBuilder, Ref, Required,
};

use crate::http::{Documentation, routes};

const TAG: &str = "IdentityProvider";
const CLIENT_CREDENTIALS: &str = "clientCredentials";
const ACCESS_TOKEN: &str = "accessToken";

/// The credentials that an operation requires.
#[derive(Clone, Copy)]
pub(crate) enum Authentication {
    None,
    /// Client id and secret, in the body or as HTTP Basic.
    Client,
    /// An access token with the scope `openid`.
    AccessToken,
}

/// A query parameter (GET) or form field (POST).
pub(crate) struct ParameterDoc {
    name: &'static str,
    description: &'static str,
    is_required: bool,
}

pub(crate) const fn required(name: &'static str, description: &'static str) -> ParameterDoc {
    ParameterDoc { name, description, is_required: true }
}

pub(crate) const fn optional(name: &'static str, description: &'static str) -> ParameterDoc {
    ParameterDoc { name, description, is_required: false }
}

/// A response by its status code.
pub(crate) enum ResponseDoc {
    /// JSON of a schema of the components.
    Json(&'static str, &'static str),
    /// An HTML page.
    Page(&'static str, &'static str),
    Redirect(&'static str),
}

/// What the document says about one operation.
pub(crate) struct OperationDoc {
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) description: &'static str,
    pub(crate) authentication: Authentication,
    pub(crate) parameters: &'static [ParameterDoc],
    pub(crate) responses: &'static [ResponseDoc],
}

pub(crate) const CLIENT_ID: ParameterDoc =
    optional("client_id", "The client id, unless HTTP Basic carries it.");
pub(crate) const CLIENT_SECRET: ParameterDoc =
    optional("client_secret", "The client secret, unless HTTP Basic carries it. A public client has none.");

/// The form of the revocation and introspection endpoints.
pub(crate) const TOKEN_PARAMETERS: &[ParameterDoc] = &[
    required("token", "An access token or a refresh token."),
    optional("token_type_hint", "Accepted and ignored: the provider recognises both types."),
    CLIENT_ID,
    CLIENT_SECRET,
];

/// The responses of an endpoint that authenticates the client.
pub(crate) const fn client_responses(schema: &'static str) -> [ResponseDoc; 5] {
    [
        ResponseDoc::Json("200", schema),
        ResponseDoc::Json("400", "OAuthError"),
        ResponseDoc::Json("401", "OAuthError"),
        ResponseDoc::Json("413", "OAuthError"),
        ResponseDoc::Json("503", "OAuthError"),
    ]
}

/// Paths, schemas and a tag, to be merged into the public document. `auth_url` may be empty: the document then
/// names an example host.
pub fn openapi(auth_url: &str) -> OpenApi {
    let server = if auth_url.is_empty() { "https://api.example.com" } else { auth_url };
    let mut paths = PathsBuilder::new();
    for route in routes() {
        for (method, documentation) in route.documentation {
            let Documentation::Operation(doc) = documentation else { continue };
            let operation = operation(&method, doc);
            let mut item = PathItem::new(method, operation);
            item.servers = Some(vec![Server::new(server)]);
            paths = paths.path(format!("/auth/core{}", route.path), item);
        }
    }
    let basic = HttpBuilder::new()
        .scheme(HttpAuthScheme::Basic)
        .description(Some("Client id and secret. Both may be sent in the body instead."));
    let components = ComponentsBuilder::new()
        .security_scheme(CLIENT_CREDENTIALS, SecurityScheme::Http(basic.build()))
        .schema("Tokens", token_response())
        .schema("Claims", claims())
        .schema("OAuthError", oauth_error());
    let about = "Sign-in with OAuth 2.0 and OpenID Connect.";
    OpenApiBuilder::new()
        .info(InfoBuilder::new().title("Identity provider").version(env!("CARGO_PKG_VERSION")))
        .tags(Some([TagBuilder::new().name(TAG).description(Some(about)).build()]))
        .paths(paths)
        .components(Some(components.build()))
        .build()
}

fn operation(method: &HttpMethod, doc: &OperationDoc) -> Operation {
    let operation = OperationBuilder::new()
        .tag(TAG)
        .operation_id(Some(doc.id))
        .summary(Some(doc.summary))
        .description(Some(doc.description));
    let no_scopes: [&str; 0] = [];
    let operation = operation.securities(Some(match doc.authentication {
        Authentication::None => vec![SecurityRequirement::default()],
        Authentication::Client => {
            vec![SecurityRequirement::new(CLIENT_CREDENTIALS, no_scopes), SecurityRequirement::default()]
        }
        Authentication::AccessToken => vec![SecurityRequirement::new(ACCESS_TOKEN, ["openid"])],
    }));
    let operation = doc
        .responses
        .iter()
        .map(response)
        .fold(operation, |operation, (status, response)| operation.response(status, response));
    match method {
        HttpMethod::Post => operation.request_body(Some(form(doc.parameters))).build(),
        _ => doc.parameters.iter().fold(operation, |operation, doc| operation.parameter(query(doc))).build(),
    }
}

fn query(doc: &ParameterDoc) -> ParameterBuilder {
    ParameterBuilder::new()
        .name(doc.name)
        .parameter_in(ParameterIn::Query)
        .required(if doc.is_required { Required::True } else { Required::False })
        .description(Some(doc.description))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
}

fn form(parameters: &[ParameterDoc]) -> RequestBody {
    let object = ObjectBuilder::new().schema_type(Type::Object);
    let fields = parameters.iter().fold(object, |object, doc| {
        let object = object.property(doc.name, text(doc.description));
        if doc.is_required { object.required(doc.name) } else { object }
    });
    let content = ContentBuilder::new().schema(Some(fields)).build();
    RequestBodyBuilder::new()
        .required(Some(Required::True))
        .content("application/x-www-form-urlencoded", content)
        .build()
}

fn response(doc: &ResponseDoc) -> (&'static str, Response) {
    match *doc {
        ResponseDoc::Json(status, schema) => {
            let description =
                if schema == "OAuthError" { "The request was refused." } else { "The request succeeded." };
            let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).build();
            let response = ResponseBuilder::new().description(description);
            (status, response.content("application/json", content).build())
        }
        ResponseDoc::Page(status, description) => {
            let html = ObjectBuilder::new().schema_type(Type::String);
            let content = ContentBuilder::new().schema(Some(html)).build();
            let response = ResponseBuilder::new().description(description);
            (status, response.content("text/html", content).build())
        }
        ResponseDoc::Redirect(description) => {
            ("302", ResponseBuilder::new().description(description).build())
        }
    }
}

fn text(description: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).description(Some(description))
}

fn claims() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some(
            "A JSON object whose members the OAuth 2.0 and OpenID Connect specifications define.",
        ))
        .additional_properties(Some(AdditionalProperties::FreeForm(true)))
        .examples([json!({"sub": "b1d0c2"})])
}

fn token_response() -> ObjectBuilder {
    let seconds = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .description(Some("Lifetime of the access token in seconds."));
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .property("access_token", text("The access token for the APIs."))
        .required("access_token")
        .property("token_type", text("`Bearer`."))
        .required("token_type")
        .property("expires_in", seconds)
        .required("expires_in")
        .property("id_token", text("Identifies the user. Present with the scope `openid`."))
        .property("refresh_token", text("Gets new tokens. Present with the scope `offline_access`."))
        .property("scope", text("The granted scopes, if they differ from the requested ones."))
        .examples([json!({
            "access_token": "eyJ…", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "q5…"
        })])
}

fn oauth_error() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .property("error", text("The error code, for programs."))
        .required("error")
        .property("error_description", text("The explanation, for developers."))
        .examples([
            json!({"error": "invalid_grant", "error_description": "The authorization code has expired."}),
        ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_documented_operation_is_in_the_document_under_its_own_id() {
        let documented: Vec<String> = routes()
            .iter()
            .flat_map(|route| route.documentation.iter().map(move |doc| (route.path, doc)))
            .filter(|(_, (_, documentation))| matches!(documentation, Documentation::Operation(_)))
            .map(|(path, _)| format!("/auth/core{path}"))
            .collect();
        let document = openapi("");
        let mut paths: Vec<&String> = document.paths.paths.keys().collect();
        let mut expected: Vec<&String> = documented.iter().collect();
        paths.sort();
        expected.sort();
        assert_eq!(paths, expected);
    }

    #[test]
    fn every_discovered_endpoint_is_documented() {
        let document = openapi("");
        for path in ["authorize", "token", "userinfo", "revocation", "introspect", "endsession"] {
            assert!(document.paths.paths.contains_key(&format!("/auth/core/connect/{path}")), "{path}");
        }
    }
}
