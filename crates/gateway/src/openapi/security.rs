//! The security schemes: a subscription key, and an access token that a sign-in gives or that the client already has.

use domain::{Area, Scope};
use utoipa::openapi::ComponentsBuilder;
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, AuthorizationCode, Flow, HttpAuthScheme, HttpBuilder, OAuth2, Scopes,
    SecurityRequirement, SecurityScheme,
};

use crate::gate::Requirements;

const KEY: &str = "subscriptionKey";
const SIGN_IN: &str = "signIn";
const TOKEN: &str = "accessToken";

pub(super) fn schemes(components: ComponentsBuilder, auth_url: &str) -> ComponentsBuilder {
    let issuer = format!("{auth_url}/auth/core");
    let scopes = Scopes::from_iter(Scope::ALL.map(|scope| (scope.name(), description(scope))));
    let token = format!("{issuer}/connect/token");
    let flow = AuthorizationCode::with_refresh_url(
        format!("{issuer}/connect/authorize"),
        token.clone(),
        scopes,
        token,
    );
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .bearer_format("JWT")
        .description(Some("An access token that the client already has."));
    components
        .security_scheme(
            KEY,
            SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::with_description(
                "Ocp-Apim-Subscription-Key",
                "The primary or the secondary key of the subscription. A client that cannot send headers may send the query \
                 parameter `subscription-key` instead.",
            ))),
        )
        .security_scheme(
            SIGN_IN,
            SecurityScheme::OAuth2(OAuth2::with_description(
                [Flow::AuthorizationCode(flow)],
                "A user signs in and chooses a tenant; the application exchanges the code for tokens.",
            )),
        )
        .security_scheme(TOKEN, SecurityScheme::Http(bearer.build()))
}

/// The combinations of schemes that an area accepts.
pub(super) fn requirements(area: Area) -> Vec<SecurityRequirement> {
    let scope = Requirements::of_area(area).scope.name();
    let none: [&str; 0] = [];
    let with = |token| SecurityRequirement::new(KEY, none).add(token, [scope]);
    vec![with(SIGN_IN), with(TOKEN)]
}

fn description(scope: Scope) -> &'static str {
    match scope {
        Scope::OpenId => "Sign in with OpenID Connect; returns an id_token.",
        Scope::Profile => "The user's name and language.",
        Scope::Email => "The user's e-mail address.",
        Scope::OfflineAccess => "A refresh token.",
        Scope::IdInfo => "The user's name, language and e-mail address.",
        Scope::Core => "Persons, legal entities and activities.",
        Scope::Accounting => "Companies, their accounting records, and imported files.",
        Scope::Management => "Management; no endpoint needs it yet.",
        Scope::Payroll => "Payroll companies.",
        Scope::Webhooks => "Webhooks, and the feed of invoicing.",
    }
}
