//! The identity provider, over the real program: the contract's rows and the answers to its silences.

mod authorize;
mod callback;
mod clients;
mod consent;
mod disabled;
mod exchange;
mod refresh;
mod revocation;
mod sessions;
mod tenants;
mod tokens;
mod userinfo;
