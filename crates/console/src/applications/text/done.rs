//! What the pages of the area say after an action.

use crate::text::Done;

pub(crate) const DONE: &[Done] = &[
    (
        "request_approved",
        "La solicitud está aprobada y lo que se pedía ya existe.",
        "The request has been approved, and what was asked for exists now.",
    ),
    (
        "request_refused",
        "La solicitud está rechazada. El equipo ve el motivo.",
        "The request has been refused. The team sees the reason.",
    ),
    ("team_made", "El equipo está creado.", "The team has been created."),
    ("team_renamed", "El nombre del equipo se ha cambiado.", "The team has been renamed."),
    ("team_disabled", "El equipo está desactivado.", "The team has been disabled."),
    ("team_enabled", "El equipo está activado.", "The team has been enabled."),
    ("team_member_added", "La persona pertenece ahora al equipo.", "The person belongs to the team now."),
    (
        "team_member_removed",
        "La persona ya no pertenece al equipo.",
        "The person no longer belongs to the team.",
    ),
    ("team_role_changed", "El rol se ha cambiado.", "The role has been changed."),
    ("team_sandbox_closed", "El entorno de pruebas está cerrado.", "The sandbox has been closed."),
    ("team_sandbox_opened", "El entorno de pruebas está abierto.", "The sandbox has been opened."),
    (
        "client_added",
        "La aplicación está registrada. No tiene secreto.",
        "The application is registered. It has no secret.",
    ),
    (
        "client_changed",
        "Los cambios de la aplicación se han guardado y valen ya.",
        "The changes to the application are saved and apply now.",
    ),
    ("client_disabled", "La aplicación está desactivada.", "The application has been disabled."),
    ("client_enabled", "La aplicación está activada.", "The application has been enabled."),
    (
        "subscription_changed",
        "Los cambios de la suscripción se han guardado y valen ya.",
        "The changes to the subscription are saved and apply now.",
    ),
    ("subscription_suspended", "La suscripción está suspendida.", "The subscription has been suspended."),
    ("subscription_resumed", "La suscripción está activa de nuevo.", "The subscription is active again."),
    ("subscription_cancelled", "La suscripción está cancelada.", "The subscription has been cancelled."),
    ("token_revoked", "El token está revocado.", "The token has been revoked."),
];
