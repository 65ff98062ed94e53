//! The notes of audit entries in Spanish. The store keeps them in English, as the API shows them.

use ui::Lang;

/// Notes in English and Spanish; `{}` stands for what the note names. What a note repeats of its entry is left out.
const NOTES: &[(&str, &str)] = &[
    ("new session after the addition of a second factor", "sesión nueva tras añadir un segundo factor"),
    ("new session after a change of the password", "sesión nueva tras cambiar la contraseña"),
    ("first session of an invited account", "primera sesión de una cuenta invitada"),
    ("unknown account", "cuenta desconocida"),
    ("wrong second factor", "segundo factor equivocado"),
    (
        "the passkey's sign count is stale: it may have been copied",
        "el contador de la llave de acceso no avanza: puede que la hayan copiado",
    ),
    ("the challenge was used before", "el desafío ya se había usado"),
    ("the passkey has been removed", "la llave de acceso ya no está registrada"),
    ("withdrawn by the user", "lo retiró la persona"),
    ("withdrawn by an operator", "lo retiró un operador"),
    ("withdrawn for the whole tenant by {}", "retirado para toda la organización por {}"),
    ("revoked by the client", "lo revocó la aplicación"),
    ("the membership was removed", "se quitó a la persona de la organización"),
    ("an authorization code was used twice", "un código de autorización se usó dos veces"),
    ("a refresh token was used twice", "un token de refresco se usó dos veces"),
    ("authorization code", "código de autorización"),
    ("refresh token", "token de refresco"),
    ("the same answer again", "la misma respuesta otra vez"),
    ("replaced by a new invitation", "sustituida por otra invitación"),
    ("subscribed", "suscrito"),
    ("subscribed again", "suscrito otra vez"),
    ("unsubscribed", "suscripción cancelada"),
    ("enabled", "activado"),
    ("disabled", "pausado"),
    ("deleted", "eliminado"),
    ("sent to another URL", "enviado a otra URL"),
    ("new secret", "secreto nuevo"),
    ("test event requested", "evento de prueba pedido"),
    ("replay of events {} to {} requested", "reenvío de los eventos {} a {} pedido"),
    ("its owner has access again", "la aplicación vuelve a tener acceso"),
    ("events after {} up to {} are no longer kept", "ya no se conservan los eventos del {} al {}"),
    ("developer {}", "desarrollador {}"),
    ("team {}", "equipo {}"),
];

/// The note in the language of the page. The id of a webhook is left out: the entry has it.
pub(crate) fn note_text(lang: Lang, note: &str) -> String {
    let id = |note: &str| note.strip_prefix("webhook ")?.split_once(": ").map(|(_, what)| what.to_owned());
    let note = id(note).unwrap_or_else(|| note.to_owned());
    match lang {
        Lang::Es => pages::translate_reason(NOTES, &note).unwrap_or(note),
        Lang::En => note,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_follow_the_language_of_the_page() {
        let both = |note| (note_text(Lang::Es, note), note_text(Lang::En, note));
        assert_eq!(both("unknown account"), ("cuenta desconocida".into(), "unknown account".into()));
        assert_eq!(both("webhook 0a1b: deleted"), ("eliminado".into(), "deleted".into()));
        let replay = "webhook 0a1b: replay of events 3 to 9 requested";
        assert_eq!(both(replay).0, "reenvío de los eventos 3 a 9 pedido");
        assert_eq!(both("por error").0, "por error");
    }
}
