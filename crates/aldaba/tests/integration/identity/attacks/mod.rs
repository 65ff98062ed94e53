//! Attacks on the identity provider. Every test ends with a check that the server is still healthy.

mod authorization_codes;
mod content_injection;
mod cross_site;
mod forged_tokens;
mod invalid_encodings;
mod malformed_requests;
mod password_guessing;
mod redirects;
mod refresh_tokens;
mod request_floods;
mod sessions;
mod tenant_selection;
mod tickets;

use crate::harness::{SignInFixture, TestApp, attack_server};

/// A fixture on the attacked server with this many tenants and a client with these flags.
fn attack_fixture(tenant_selection: usize, client: &[&str]) -> SignInFixture<'static> {
    SignInFixture::on(attack_server(), tenant_selection, client)
}

/// The client's credentials as form fields.
fn credentials(app: &TestApp) -> [(&str, &str); 2] {
    [("client_id", app.id.as_str()), ("client_secret", app.secret.as_str())]
}
