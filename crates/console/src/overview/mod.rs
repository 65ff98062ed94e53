//! The overview: whether the service works; signing keys; the first steps after an installation.

mod format;
mod http;
mod parts;
mod problems;
mod setup;
mod signing_keys;
mod text;
mod traffic;
mod view;

use operator::admin::Permission;
use pages::Route;

use crate::actions::Action;
use crate::context::Context;
use crate::routes::{page, page_with_actions};
use crate::text::{Done, Refusal};

/// What the forms of this area do.
pub(crate) const ACTIONS: &[Action] = &[
    Action::dangerous("signing-keys", "rotate", Permission::Keys),
    Action::dangerous("signing-keys", "replace", Permission::Keys),
];

/// What the pages of this area say after an action.
pub(crate) const DONE: &[Done] = &[
    (
        "signing_key_added",
        "La clave siguiente está publicada y firmará dentro de 24 horas. Los tokens actuales siguen siendo válidos.",
        "The next key is published and will sign in 24 hours. Existing tokens remain valid.",
    ),
    (
        "signing_keys_replaced",
        "La clave nueva firma desde ahora. En 5 segundos se rechazan todos los tokens de las claves anteriores.",
        "The new key signs from now on. Within 5 seconds, all tokens of older keys are refused.",
    ),
];

/// Why actions of this area are refused.
pub(crate) const REFUSALS: &[Refusal] = &[
    (
        "the next signing key exists already and signs from {}; wait until then, or let a new key sign at once",
        "Ya hay una clave siguiente, que firma desde {}. Espera hasta entonces o sustituye todas las claves ahora.",
    ),
    (
        "type the first 8 characters of the key that signs now",
        "Escribe los 8 primeros caracteres de la clave que firma ahora.",
    ),
];

pub(crate) fn routes() -> Vec<Route<Context>> {
    vec![
        page!("", http::overview),
        page!("setup", http::setup),
        page_with_actions!("signing-keys", http::signing_keys, http::rotate),
    ]
}
