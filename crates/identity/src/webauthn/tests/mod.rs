//! Each rule of the two ceremonies with a response that keeps it and one that breaks only it, made by an authenticator of
//! the tests; the test vectors of the W3C; and ceremonies that were recorded in a browser.

mod assertion;
mod attempts;
mod authenticator;
mod chromium;
mod keys;
mod options;
mod registration;
mod w3c_vectors;

use super::{AssertionChallenge, RegistrationChallenge, RelyingParty, UserHandle};
use testkit::SeededRandom;

const HOST: &str = "id.example";
const ORIGIN: &str = "https://id.example";

fn relying_party() -> RelyingParty {
    RelyingParty::at("https://id.example/auth/core", "Aldaba").unwrap()
}

fn registration_challenge() -> RegistrationChallenge {
    RegistrationChallenge::new(&SeededRandom::new(1))
}

fn assertion_challenge() -> AssertionChallenge {
    AssertionChallenge::new(&SeededRandom::new(2))
}

fn user_handle() -> UserHandle {
    UserHandle::new(b"account of Ana").unwrap()
}
