//! What the pages of this area show.

pub(super) mod backups;
pub(super) mod configuration;
pub(super) mod doctor;
