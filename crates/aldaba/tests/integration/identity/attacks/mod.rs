//! What an attacker tries, and what comes of it: nothing. Every attack ends with a look at the server, which
//! must be as well as before.

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

/// An office on the server that is attacked, with so many tenants and an application with these flags.
fn fixture(tenant_selection: usize, client: &[&str]) -> SignInFixture<'static> {
    SignInFixture::on(attack_server(), tenant_selection, client)
}

/// The credentials of an application, as fields of a form.
fn credentials(app: &TestApp) -> [(&str, &str); 2] {
    [("client_id", app.id.as_str()), ("client_secret", app.secret.as_str())]
}
