//! What a page says after an action has succeeded. An action redirects to `?done=<code>`.

use ui::Lang;

/// Each code, in Spanish and English. Areas add theirs here.
const DONE: &[(&str, &str, &str)] = &[
    ("saved", "Los cambios se han guardado.", "Your changes have been saved."),
    ("invited", "Se ha creado la invitación.", "The invitation has been created."),
    ("invitation_revoked", "La invitación se ha anulado.", "The invitation has been revoked."),
    ("invitation_resent", "La invitación se ha enviado de nuevo.", "The invitation has been sent again."),
    ("notices_read", "Los avisos están marcados como leídos.", "The notices are marked as read."),
    ("role_changed", "El rol se ha cambiado.", "The role has been changed."),
    ("member_removed", "La persona ya no pertenece al equipo.", "The person no longer belongs to the team."),
    ("asked", "La solicitud se ha enviado.", "The request has been sent."),
    (
        "approved",
        "La solicitud se ha aprobado: ya puedes usarla en el entorno de pruebas.",
        "The request has been approved: you can use it in the sandbox now.",
    ),
    (
        "test_sent",
        "El evento de prueba está en camino: míralo en tu receptor.",
        "The test event is on its way: look at your receiver.",
    ),
    (
        "replay_started",
        "El reenvío está en marcha: aparecerá aquí como un intento más.",
        "It is being sent again: it will appear here as one more attempt.",
    ),
    ("withdrawn", "La solicitud se ha retirado.", "The request has been withdrawn."),
    (
        "webhook_url_changed",
        "La URL se ha cambiado. Tu servidor recibe ahora un Acknowledge y tiene que contestar con un 200.",
        "The URL has been changed. Your server now receives an Acknowledge and has to answer with 200.",
    ),
    ("webhook_paused", "El webhook está pausado.", "The webhook is paused."),
    ("webhook_enabled", "El webhook está activado.", "The webhook is enabled."),
    (
        "webhook_test_sent",
        "El evento de prueba está en camino: mira el resultado en «Pruebas y reenvíos».",
        "The test event is on its way: see its result under \"Tests and replays\".",
    ),
    (
        "webhook_replay_started",
        "El reenvío está en marcha: mira su progreso en «Pruebas y reenvíos».",
        "The replay is running: see its progress under \"Tests and replays\".",
    ),
    (
        "sandbox_made",
        "El entorno de pruebas está listo, con sus datos de ejemplo.",
        "The sandbox is ready, with its sample data.",
    ),
    (
        "sandbox_reset",
        "El entorno se ha restablecido: tiene otra organización y otra contraseña.",
        "The sandbox was reset: it has another tenant and another password.",
    ),
    (
        "receiver_mode",
        "El receptor contesta ahora de otra manera.",
        "The receiver answers in another way now.",
    ),
    ("webhook_deleted", "El webhook se ha eliminado.", "The webhook has been deleted."),
];

pub(crate) fn done(lang: Lang, code: &str) -> Option<&'static str> {
    let (_, es, en) = DONE.iter().find(|(known, ..)| *known == code)?;
    Some(match lang {
        Lang::Es => es,
        Lang::En => en,
    })
}
