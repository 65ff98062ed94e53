//! What the pages of this area show.

pub(super) mod account;
pub(super) mod forms;
pub(super) mod invitations;
pub(super) mod people;
pub(super) mod person;
pub(super) mod tenant;
pub(super) mod tenants;
pub(super) mod user;
