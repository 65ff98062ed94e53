//! The identity provider, over the real program: the contract's rows and the answers to its silences.

mod attacks;
mod audit;
mod authorize;
mod callback;
mod clients;
mod code_exchange;
mod conformance;
mod consent;
mod disabled_accounts;
mod discovery;
mod keys;
mod logout;
mod pages;
mod passwords;
mod permissions;
mod refresh;
mod revocation;
mod sessions;
mod tenants;
mod tokens;
mod userinfo;
