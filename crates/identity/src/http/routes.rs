//! The one list of the identity provider's routes. The router serves it and the OpenAPI document describes it:
//! a handler cannot be added without saying how it is documented, or why it is not.

use std::sync::Arc;

use axum::handler::Handler;
use axum::routing::MethodRouter;
use utoipa::openapi::HttpMethod;

use super::{
    account, authorize, cors, discovery, forgot, introspection, invitation, login, logout, own_factors,
    passkey_sign_in, permissions, reset, revocation, second_factor, tenant, token, userinfo,
};
use crate::openapi::OperationDoc;
use crate::site::Site;

/// How the OpenAPI document treats a handler.
#[derive(Clone, Copy)]
pub(crate) enum Documentation {
    Operation(&'static OperationDoc),
    /// Another operation of the document describes it.
    Alias,
    /// An HTML page of the provider's own; applications never request it.
    Page,
    /// A stylesheet or icon of the pages.
    Asset,
    /// A CORS preflight request.
    Preflight,
}

use Documentation::{Alias, Asset, Operation, Page, Preflight};

/// One path below `/auth/core` with its methods.
pub(crate) struct Route {
    pub(crate) path: &'static str,
    pub(super) handlers: MethodRouter<Arc<Site>>,
    pub(crate) documentation: Vec<(HttpMethod, Documentation)>,
}

impl Route {
    fn new(path: &'static str) -> Self {
        Self { path, handlers: MethodRouter::new(), documentation: Vec::new() }
    }

    fn get<T: 'static>(self, handler: impl Handler<T, Arc<Site>>, documentation: Documentation) -> Self {
        let handlers = self.handlers.get(handler);
        Self { handlers, ..self }.documented(HttpMethod::Get, documentation)
    }

    fn post<T: 'static>(self, handler: impl Handler<T, Arc<Site>>, documentation: Documentation) -> Self {
        let handlers = self.handlers.post(handler);
        Self { handlers, ..self }.documented(HttpMethod::Post, documentation)
    }

    fn options<T: 'static>(self, handler: impl Handler<T, Arc<Site>>, documentation: Documentation) -> Self {
        let handlers = self.handlers.options(handler);
        Self { handlers, ..self }.documented(HttpMethod::Options, documentation)
    }

    fn documented(mut self, method: HttpMethod, documentation: Documentation) -> Self {
        self.documentation.push((method, documentation));
        self
    }
}

/// The paths below `/auth/core` that take a POST, for the test that all of them are audited.
pub fn post_routes() -> Vec<&'static str> {
    let takes_post =
        |route: &Route| route.documentation.iter().any(|(method, _)| *method == HttpMethod::Post);
    routes().iter().filter(|route| takes_post(route)).map(|route| route.path).collect()
}

/// Every route below `/auth/core`.
pub(crate) fn routes() -> Vec<Route> {
    provider_routes().into_iter().chain(account_routes()).collect()
}

/// The routes of OpenID Connect and the pages that only users have.
pub(super) fn provider_routes() -> Vec<Route> {
    vec![
        Route::new("/.well-known/openid-configuration")
            .get(discovery::configuration, Operation(&discovery::CONFIGURATION_DOC))
            .options(discovery::preflight, Preflight),
        Route::new("/.well-known/jwks")
            .get(discovery::jwks, Operation(&discovery::JWKS_DOC))
            .options(discovery::preflight, Preflight),
        Route::new("/.well-known/openid-configuration/jwks")
            .get(discovery::jwks, Alias)
            .options(discovery::preflight, Preflight),
        Route::new("/connect/authorize")
            .get(authorize::get, Operation(&authorize::DOC))
            .post(authorize::post, Alias),
        Route::new("/connect/token")
            .post(token::post, Operation(&token::DOC))
            .options(cors::preflight, Preflight),
        Route::new("/connect/userinfo")
            .get(userinfo::get, Operation(&userinfo::DOC))
            .post(userinfo::post, Alias)
            .options(cors::preflight, Preflight),
        Route::new("/connect/revocation")
            .post(revocation::post, Operation(&revocation::DOC))
            .options(cors::preflight, Preflight),
        Route::new("/connect/introspect").post(introspection::post, Operation(&introspection::DOC)),
        Route::new("/connect/endsession")
            .get(logout::end_session_get, Operation(&logout::END_SESSION_DOC))
            .post(logout::end_session_post, Alias),
        Route::new("/tenant").get(tenant::get, Page).post(tenant::post, Page),
        Route::new("/permissions").get(permissions::get, Page).post(permissions::post, Page),
    ]
}

/// The pages of accounts, which every realm has below its own path.
pub(super) fn account_routes() -> Vec<Route> {
    vec![
        Route::new("/login").get(login::get, Page).post(login::post, Page),
        Route::new("/login/passkey").post(passkey_sign_in::post, Page),
        Route::new("/second-factor").get(second_factor::get, Page).post(second_factor::post, Page),
        Route::new("/account/second-factors").get(own_factors::get, Page).post(own_factors::post, Page),
        Route::new("/account/second-factors/totp")
            .get(own_factors::get_totp, Page)
            .post(own_factors::post_totp, Page),
        Route::new("/account/second-factors/passkey")
            .get(own_factors::get_passkey, Page)
            .post(own_factors::post_passkey, Page),
        Route::new("/logout").get(logout::get, Page).post(logout::post, Page),
        Route::new("/invitation").get(invitation::get, Page).post(invitation::post, Page),
        Route::new("/forgot").get(forgot::get, Page).post(forgot::post, Page),
        Route::new("/register").get(forgot::get_registration, Page).post(forgot::post_registration, Page),
        Route::new("/reset").get(reset::get, Page).post(reset::post, Page),
        Route::new("/account").get(account::get, Page).post(account::post, Page),
        Route::new("/look/{asset}").get(discovery::asset, Asset),
    ]
}
