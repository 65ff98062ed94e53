//! Why an action of the area was refused, in Spanish.

use crate::text::Refusal;

pub(crate) const REFUSALS: &[Refusal] = &[
    ("there is no team {}", "No existe el equipo {}."),
    ("there is no developer {}", "No hay ninguna cuenta de desarrollador {}. Invítala en Invitaciones."),
    ("there is no member {} of team {}", "{} no pertenece al equipo."),
    ("there is already a team {}", "Ya existe un equipo {}."),
    ("there is already a client {}", "Ya existe una aplicación {}."),
    ("there is already a token {}", "Ya existe un token {} sin revocar."),
    ("{} is a member of team {} already", "{} ya pertenece al equipo."),
    (
        "{} is the last owner of team {}; make another member an owner first",
        "{} es la última persona titular del equipo. Antes haz titular a otra.",
    ),
    (
        "team {} has {} members, as many as it may have",
        "El equipo tiene {1} miembros, los que puede tener como máximo.",
    ),
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
        "{} has {} characters at most, and no control characters",
        "El texto tiene {1} caracteres como máximo, y ninguno de control.",
    ),
    (
        "a name has 1 to 200 characters, none of them a control character",
        "El nombre tiene de 1 a 200 caracteres, ninguno de control.",
    ),
    (
        "{} has 1 to {} letters, digits, hyphens, dots or underscores, and begins with a letter or digit",
        "Un identificador tiene de 1 a {1} letras, cifras, guiones, puntos o guiones bajos, y empieza por letra o cifra.",
    ),
    ("a client needs one product at least", "Elige al menos un producto."),
    ("a subscription needs one product at least", "Elige al menos un producto."),
    ("a client has 1 to {} redirect addresses", "Una aplicación tiene de 1 a {} direcciones de retorno."),
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
    ("the redirect address {} must be an https address", "La dirección de retorno {} tiene que ser https."),
    (
        "the redirect address {} must be an https address, a loopback address, or have a private-use scheme with a dot in it, as in com.example.app:/callback",
        "La dirección de retorno {} tiene que ser https, local (127.0.0.1), o tener un esquema propio con un punto, como com.example.app:/callback.",
    ),
    (
        "the redirect address {} must use https; plain http is allowed only for 127.0.0.1, [::1] and localhost:<port>",
        "La dirección de retorno {} tiene que ser https. Solo 127.0.0.1, [::1] y localhost:<puerto> pueden ser http.",
    ),
    (
        "the redirect address {} is not for a resource server, which signs nobody in",
        "Un servidor de recursos no tiene direcciones de retorno: nadie inicia sesión en él.",
    ),
    (
        "a resource server has no redirect addresses: nobody signs in to it",
        "Un servidor de recursos no tiene direcciones de retorno: nadie inicia sesión en él.",
    ),
    (
        "a client of the kind {} has no secret and must use PKCE: give pkce as required, or leave it out",
        "Una aplicación pública no tiene secreto y tiene que usar PKCE.",
    ),
    (
        "client {} is of the kind {} and has no secret; it uses PKCE instead",
        "La aplicación es pública y no tiene secreto: usa PKCE en su lugar.",
    ),
    (
        "the redirect address {} must use https; plain http is allowed only for http://localhost:<port>/ (not 127.0.0.1)",
        "La dirección de retorno {} tiene que ser https. Solo http://localhost:<puerto>/ puede ser http, y no 127.0.0.1.",
    ),
    (
        "the redirect address {} must not contain a wildcard; register each address",
        "La dirección de retorno {} no puede llevar comodines: registra cada una.",
    ),
    (
        "the redirect address {} must not have a fragment",
        "La dirección de retorno {} no puede llevar fragmento (#).",
    ),
    (
        "the redirect address {} must not contain a user name or password",
        "La dirección de retorno {} no puede llevar usuario ni contraseña.",
    ),
    (
        "the redirect address {} must not contain {}; percent-encode it",
        "La dirección de retorno {} no puede contener {}: codifícalo con %.",
    ),
    ("the redirect address {} must name a host", "A la dirección de retorno {} le falta el servidor."),
    (
        "the redirect address {} must name a port, as in http://localhost:8765/callback",
        "A la dirección de retorno {} le falta el puerto, como en http://localhost:8765/callback.",
    ),
    (
        "the form names no action of this page",
        "El formulario no corresponde a ninguna acción de esta página. Recárgala y repite.",
    ),
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
            (
                "team \"sur\" has 100 members, as many as it may have",
                "El equipo tiene 100 miembros, los que puede tener como máximo.",
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
