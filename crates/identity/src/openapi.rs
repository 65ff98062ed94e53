//! The identity provider's addresses for the OpenAPI document: enough to find one's way. How they are used
//! stands in the discovery document and in the specifications that it follows.

use serde_json::{Value, json};
use utoipa::openapi::path::{Operation, OperationBuilder, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{AdditionalProperties, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::server::Server;
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    ComponentsBuilder, ContentBuilder, HttpMethod, InfoBuilder, ObjectBuilder, OpenApi, OpenApiBuilder,
    PathsBuilder, Ref, Required,
};

const TAG: &str = "Identity provider";
const CLIENT: &str = "clientCredentials";
const BEARER: &str = "accessToken";

/// Whom an address asks to prove who they are.
#[derive(Clone, Copy)]
enum Proof {
    Nothing,
    /// The application, by its id and secret; in the body, or as Basic.
    Client,
    /// The bearer of an access token.
    Bearer,
}

/// One address.
struct Told {
    path: &'static str,
    method: HttpMethod,
    id: &'static str,
    summary: &'static str,
    about: &'static str,
    proof: Proof,
    /// Parameters of the query, or fields of the form; those that must be there are marked with a star.
    asked: &'static [(&'static str, &'static str)],
    answers: &'static [(&'static str, &'static str)],
}

/// What an application asks of a token that it holds, and what it may be answered.
const OF_A_TOKEN: &[(&str, &str)] = &[
    ("token*", "An access or refresh token."),
    ("token_type_hint", "Not needed."),
    ("client_id", "Unless it comes as Basic."),
    ("client_secret", "Unless it comes as Basic."),
];
const TO_AN_APPLICATION: &[(&str, &str)] = &[
    ("200", "Claims"),
    ("400", "OAuthError"),
    ("401", "OAuthError"),
    ("413", "OAuthError"),
    ("503", "OAuthError"),
];

static ALL: [Told; 8] = [
    Told {
        path: "/connect/authorize",
        method: HttpMethod::Get,
        id: "authorize",
        summary: "Send a user to sign in",
        about: "For browsers. Leads over pages where they are needed, and then to `redirect_uri` with `code`, `state`, \
                `iss`, and `id_token` where `openid` and a `nonce` were asked; or with `error`. A POST with the same \
                fields goes on as a GET.",
        proof: Proof::Nothing,
        asked: &[
            ("client_id*", "The application."),
            ("response_type*", "`code`."),
            ("redirect_uri*", "An address that is registered for the application, exactly."),
            ("scope*", "Scopes, separated by spaces or plus signs."),
            ("state", "Comes back as it was sent; compare it."),
            ("nonce", "Stands in the id_token."),
            ("code_challenge", "PKCE: the verifier's SHA-256."),
            ("code_challenge_method", "`S256`."),
            ("response_mode", "`query` or `form_post`."),
            ("prompt", "`none`, `login`, `consent`, `select_account`."),
            ("acr_values", "`tenant:<id>` preselects a tenant."),
        ],
        answers: &[
            ("200", "A page."),
            ("302", "On to a page, or back to the application."),
            ("400", "A page that says why the application cannot be answered."),
        ],
    },
    Told {
        path: "/connect/token",
        method: HttpMethod::Post,
        id: "token",
        summary: "Exchange a code, or renew tokens",
        about: "A code counts for five minutes, once. A refresh token counts once, too, and brings its successor.",
        proof: Proof::Client,
        asked: &[
            ("grant_type*", "`authorization_code` or `refresh_token`."),
            ("code", "The code from the callback."),
            ("redirect_uri", "The address that was used to get the code."),
            ("code_verifier", "PKCE: the verifier, where a challenge was sent."),
            ("refresh_token", "The refresh token."),
            ("scope", "With a refresh token: fewer scopes than before."),
            ("client_id", "The application, unless it comes as Basic."),
            ("client_secret", "Its secret, unless it comes as Basic."),
        ],
        answers: &[
            ("200", "Tokens"),
            ("400", "OAuthError"),
            ("401", "OAuthError"),
            ("413", "OAuthError"),
            ("503", "OAuthError"),
        ],
    },
    Told {
        path: "/connect/userinfo",
        method: HttpMethod::Get,
        id: "userinfo",
        summary: "Who the token stands for",
        about: "Needs the scope `openid`. Takes POST as well.",
        proof: Proof::Bearer,
        asked: &[],
        answers: &[("200", "Claims"), ("401", "OAuthError"), ("403", "OAuthError"), ("503", "OAuthError")],
    },
    Told {
        path: "/connect/revocation",
        method: HttpMethod::Post,
        id: "revoke",
        summary: "Give a token back",
        about: "Ends the whole grant. Another application's token is left alone, with the same answer.",
        proof: Proof::Client,
        asked: OF_A_TOKEN,
        answers: TO_AN_APPLICATION,
    },
    Told {
        path: "/connect/introspect",
        method: HttpMethod::Post,
        id: "introspect",
        summary: "Is a token good, and what for",
        about: "Tells of the application's own tokens; any other is not `active`.",
        proof: Proof::Client,
        asked: OF_A_TOKEN,
        answers: TO_AN_APPLICATION,
    },
    Told {
        path: "/connect/endsession",
        method: HttpMethod::Get,
        id: "endSession",
        summary: "Sign the user out",
        about: "For browsers. Without an id_token of the user who is signed in, the user is asked.",
        proof: Proof::Nothing,
        asked: &[
            ("id_token_hint", "An id_token of the user."),
            ("post_logout_redirect_uri", "An address that is registered for it, exactly."),
            ("state", "Comes back as it was sent."),
        ],
        answers: &[
            ("200", "A page."),
            ("302", "On to a page, or back to the application."),
            ("400", "A page that says why not."),
        ],
    },
    Told {
        path: "/.well-known/openid-configuration",
        method: HttpMethod::Get,
        id: "discovery",
        summary: "What the identity provider offers",
        about: "OpenID Connect's discovery document: libraries read everything else from here.",
        proof: Proof::Nothing,
        asked: &[],
        answers: &[("200", "Claims")],
    },
    Told {
        path: "/.well-known/jwks",
        method: HttpMethod::Get,
        id: "keys",
        summary: "The keys that tokens are signed with",
        about: "A JSON Web Key Set. Follow the `kid` of a token, and ask again where it is unknown.",
        proof: Proof::Nothing,
        asked: &[],
        answers: &[("200", "Claims")],
    },
];

/// Paths, schemas and a tag, to be merged into the public document; an empty address is not known yet.
pub fn openapi(auth_url: &str) -> OpenApi {
    let server = if auth_url.is_empty() { "https://api.example.com" } else { auth_url };
    let paths = ALL.iter().fold(PathsBuilder::new(), |paths, told| {
        let mut item = PathItem::new(told.method.clone(), operation(told));
        item.servers = Some(vec![Server::new(server)]);
        paths.path(format!("/auth/core{}", told.path), item)
    });
    let basic = HttpBuilder::new()
        .scheme(HttpAuthScheme::Basic)
        .description(Some("The application's id and secret; or both in the body."));
    let components = ComponentsBuilder::new()
        .security_scheme(CLIENT, SecurityScheme::Http(basic.build()))
        .schema("Tokens", tokens())
        .schema(
            "Claims",
            free("Members by their names, as the specifications have them.", &json!({"sub": "b1d0c2"})),
        )
        .schema("OAuthError", oauth_error());
    let about = "Sign-in with OAuth 2.0 and OpenID Connect.";
    OpenApiBuilder::new()
        .info(InfoBuilder::new().title(TAG).version(env!("CARGO_PKG_VERSION")))
        .tags(Some([TagBuilder::new().name(TAG).description(Some(about)).build()]))
        .paths(paths)
        .components(Some(components.build()))
        .build()
}

fn operation(told: &Told) -> Operation {
    let operation = OperationBuilder::new()
        .tag(TAG)
        .operation_id(Some(told.id))
        .summary(Some(told.summary))
        .description(Some(told.about));
    let none: [&str; 0] = [];
    let operation = operation.securities(Some(match told.proof {
        Proof::Nothing => vec![SecurityRequirement::default()],
        Proof::Client => vec![SecurityRequirement::new(CLIENT, none), SecurityRequirement::default()],
        Proof::Bearer => vec![SecurityRequirement::new(BEARER, ["openid"])],
    }));
    let operation = told
        .answers
        .iter()
        .fold(operation, |operation, (status, what)| operation.response(*status, answer(status, what)));
    match told.method {
        HttpMethod::Post => operation.request_body(Some(form(told).build())).build(),
        _ => told.asked.iter().fold(operation, |operation, asked| operation.parameter(query(*asked))).build(),
    }
}

fn query((name, about): (&str, &str)) -> ParameterBuilder {
    let is_required = if name.ends_with('*') { Required::True } else { Required::False };
    ParameterBuilder::new()
        .name(name.trim_end_matches('*'))
        .parameter_in(ParameterIn::Query)
        .required(is_required)
        .description(Some(about))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
}

fn form(told: &Told) -> RequestBodyBuilder {
    let fields =
        told.asked.iter().fold(ObjectBuilder::new().schema_type(Type::Object), |object, (name, about)| {
            let plain = name.trim_end_matches('*');
            let object = object
                .property(plain, ObjectBuilder::new().schema_type(Type::String).description(Some(*about)));
            if name.ends_with('*') { object.required(plain) } else { object }
        });
    let content = ContentBuilder::new().schema(Some(fields)).build();
    RequestBodyBuilder::new()
        .required(Some(Required::True))
        .content("application/x-www-form-urlencoded", content)
}

/// A schema's name stands for JSON of that form, a sentence for a page or for nothing at all.
fn answer(status: &str, what: &str) -> Response {
    if what.ends_with('.') {
        let response = ResponseBuilder::new().description(what);
        let page = ContentBuilder::new().schema(Some(ObjectBuilder::new().schema_type(Type::String))).build();
        return if status == "302" { response.build() } else { response.content("text/html", page).build() };
    }
    let about = if what == "OAuthError" { "Refused." } else { "Done." };
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(what))).build();
    ResponseBuilder::new().description(about).content("application/json", content).build()
}

fn free(about: &str, example: &Value) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some(about))
        .additional_properties(Some(AdditionalProperties::FreeForm(true)))
        .examples([example.clone()])
}

fn tokens() -> ObjectBuilder {
    let text = |about: &str| ObjectBuilder::new().schema_type(Type::String).description(Some(about));
    let seconds =
        ObjectBuilder::new().schema_type(Type::Integer).description(Some("How long it lives, in seconds."));
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .property("access_token", text("For the APIs.")).required("access_token")
        .property("token_type", text("`Bearer`.")).required("token_type")
        .property("expires_in", seconds).required("expires_in")
        .property("id_token", text("Who the user is; with the scope `openid`."))
        .property("refresh_token", text("For new tokens; with the scope `offline_access`."))
        .property("scope", text("What was granted, where it differs from what was asked."))
        .examples([json!({"access_token": "eyJ…", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "q5…"})])
}

fn oauth_error() -> ObjectBuilder {
    let text = |about: &str| ObjectBuilder::new().schema_type(Type::String).description(Some(about));
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .property("error", text("For programs."))
        .required("error")
        .property("error_description", text("For people."))
        .examples([json!({"error": "invalid_grant", "error_description": "the code has expired"})])
}
