//! Why an action of the area was refused, in Spanish.

use crate::text::Refusal;

pub(crate) const REFUSALS: &[Refusal] = &[
    ("there is no team {}", "No existe el equipo {}."),
    ("there is no developer {}", "No hay ninguna cuenta de desarrollador {}. Invítala en Invitaciones."),
    ("there is no member {} of team {}", "{} no pertenece al equipo."),
    ("there is already a team {}", "Ya existe un equipo {}."),
    ("there is already a client {}", "Ya existe una aplicación {}."),
    ("there is already a token {}", "Ya existe un token {} sin revocar."),
    (
        "{} has another revision: it was changed since you read it; read it again and repeat",
        "Alguien lo ha cambiado mientras tanto. Recarga la página y repite.",
    ),
    ("request {} is pending already; nothing changed", "La solicitud ya estaba pendiente."),
    ("request {} is approved already; nothing changed", "La solicitud ya estaba aprobada."),
    ("request {} is refused already; nothing changed", "La solicitud ya estaba rechazada."),
    ("request {} is withdrawn already; nothing changed", "El equipo ya había retirado la solicitud."),
    (
        "request {} cannot be approved: the team is disabled; enable it first",
        "El equipo está desactivado. Actívalo antes.",
    ),
    ("request {} cannot be approved: {}", "La solicitud no se puede aprobar: {1}."),
    (
        "a refusal needs a reason, which the team sees",
        "Para rechazar hace falta un motivo, que el equipo verá.",
    ),
    (
        "{} has 1 to {} letters, digits, hyphens, dots or underscores, and begins with a letter or digit",
        "Un identificador tiene de 1 a {1} letras, cifras, guiones, puntos o guiones bajos, y empieza por letra o cifra.",
    ),
    ("a subscription needs one product at least", "Elige al menos un producto."),
    (
        "a client has at most {} addresses after sign-out",
        "Una aplicación tiene como máximo {} direcciones después de cerrar sesión.",
    ),
    ("a quota is 1 to {} calls a day, not {}", "La cuota es de 1 a {} llamadas al día."),
    ("the quota is a whole number of calls a day", "La cuota es un número entero de llamadas al día."),
    (
        "{} is cancelled permanently; create a new one instead",
        "La suscripción está cancelada para siempre. Crea otra.",
    ),
    ("type {} to confirm", "Escribe {} para confirmar."),
];

#[cfg(test)]
mod tests {
    use pages::translate_reason;

    use super::*;

    #[test]
    fn reasons_are_said_in_spanish_with_what_they_name() {
        for (english, spanish) in [
            ("there is no team \"sur\"", "No existe el equipo \"sur\"."),
            ("there is already a client \"panel\"", "Ya existe una aplicación \"panel\"."),
            ("request \"a\" is approved already; nothing changed", "La solicitud ya estaba aprobada."),
            (
                "request \"a\" cannot be approved: the team is disabled; enable it first",
                "El equipo está desactivado. Actívalo antes.",
            ),
            ("type nightly to confirm", "Escribe nightly para confirmar."),
        ] {
            assert_eq!(translate_reason(REFUSALS, english).as_deref(), Some(spanish));
        }
    }

    #[test]
    fn places_are_the_same_in_both_languages() {
        for (english, spanish) in REFUSALS {
            let places = english.matches("{}").count();
            assert!(spanish.matches("{}").count() <= places, "{english}");
            assert!(!spanish.contains("{1}") || places == 2, "{english}");
        }
    }
}
