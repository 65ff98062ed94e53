//! What the console, the API and the command line show of the running service itself: its configuration, its backups, and
//! what the doctor finds. Values and pure decisions; the program supplies the facts (`ports.rs`).

pub mod backups;
pub mod configuration;
pub mod doctor;
