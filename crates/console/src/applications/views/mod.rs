//! What the pages of the area show.

pub(super) mod client;
pub(super) mod client_forms;
pub(super) mod clients;
pub(super) mod parts;
pub(super) mod request;
pub(super) mod requests;
pub(super) mod secrets;
pub(super) mod subscription;
pub(super) mod subscriptions;
pub(super) mod team;
pub(super) mod team_sections;
pub(super) mod teams;
pub(super) mod tokens;
