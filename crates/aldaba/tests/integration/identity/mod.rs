//! The identity provider of a running server: the contract's requirements and the decisions about what it leaves open.

mod attacks;
mod audit;
mod audited_routes;
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
mod realm_pages;
mod realm_passkeys;
mod realms;
mod refresh;
mod revocation;
mod second_factor;
mod sessions;
mod tenants;
mod tokens;
mod userinfo;
