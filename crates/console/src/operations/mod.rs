//! The service itself: doctor, configuration, backups.

mod backups;
mod configuration;
mod doctor;
mod text;
mod views;

use operator::admin::Permission;
use pages::Route;

use crate::actions::Action;
use crate::context::Context;
use crate::routes::{page, page_with_actions};
use crate::text::{Done, Refusal};

/// What the forms of this area do.
pub(crate) const ACTIONS: &[Action] = &[
    Action::dangerous("backups", "start", Permission::Backups),
    Action::dangerous("backups", "download", Permission::Backups),
];

/// What the pages of this area say after an action.
pub(crate) const DONE: &[Done] = &[(
    "backup_started",
    "La copia de seguridad ha empezado. Aquí verás cómo avanza.",
    "The backup has started. Follow its progress here.",
)];

/// Reasons of refusals of this area, in Spanish.
pub(crate) const REFUSALS: &[Refusal] = &[
    (
        "a backup is being made already; wait until it is complete",
        "Ya se está haciendo una copia de seguridad. Espera a que termine.",
    ),
    (
        "no backup directory is configured; set backup.directory",
        "No hay ningún directorio de copias configurado. Pon backup.directory en aldaba.toml y reinicia.",
    ),
    ("the backup directory {} cannot be used: {}", "No se puede usar el directorio de copias {}: {}."),
    (
        "too many backups are being downloaded; wait until one is complete",
        "Se están descargando demasiadas copias. Espera a que termine una.",
    ),
];

pub(crate) fn routes() -> Vec<Route<Context>> {
    vec![
        page!("doctor", doctor::doctor),
        page!("configuration", configuration::configuration),
        page_with_actions!("backups", backups::list, backups::post),
    ]
}
