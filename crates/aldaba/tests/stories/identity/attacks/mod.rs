//! What an attacker tries, and what comes of it: nothing. Every attack ends with a look at the server, which
//! must be as well as before.

mod codes;
mod content;
mod cross_site;
mod floods;
mod forged;
mod guessing;
mod redirects;
mod refreshing;
mod sessions;
mod shapes;
mod strange_bytes;
mod tenants;
mod tickets;

use crate::harness::{App, Office, target};

/// An office on the server that is attacked, with so many tenants and an application with these flags.
fn office(tenants: usize, client: &[&str]) -> Office<'static> {
    Office::on(target(), tenants, client)
}

/// The credentials of an application, as fields of a form.
fn credentials(app: &App) -> [(&str, &str); 2] {
    [("client_id", app.id.as_str()), ("client_secret", app.secret.as_str())]
}
