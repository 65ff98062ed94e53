//! Why an action was refused, in Spanish. The rules that refuse it are shared with the operator's API, which says the reasons
//! in English.

use pages::{SHARED_REASONS, sentence, translate_reason};
use ui::Lang;

/// Each reason that only the portal gives, in English and Spanish; `{}` stands for what the reason names.
const REASONS: &[(&str, &str)] = &[
    ("{} is not an e-mail address", "{} no es una dirección de correo."),
    (
        "{} is already invited; ask the operator to add them to the team",
        "{} ya tiene una invitación. Pide al operador que la añada al equipo.",
    ),
    (
        "the invitation for {} was accepted; invite again instead",
        "La invitación para {} ya se aceptó. Si hace falta, invita de nuevo.",
    ),
    (
        "the invitation for {} was revoked; invite again instead",
        "La invitación para {} se anuló. Invita de nuevo.",
    ),
    (
        "team {} is disabled; ask the operator",
        "El equipo está desactivado. Escribe a la persona de contacto.",
    ),
    (
        "team {} has {} pending requests; wait for a decision, or withdraw one",
        "El equipo tiene {1} solicitudes pendientes. Espera una decisión o retira alguna.",
    ),
    ("the client has this redirect address already", "La aplicación ya tiene esta dirección de retorno."),
    ("the old one may stay valid for {} hours at most", "El anterior puede valer {} horas más como mucho."),
    (
        "this key was made before this version: regenerate it to see it",
        "Esta clave es anterior a esta función: regenérala para poder verla.",
    ),
    (
        "the redirect address {} must have at most {} characters",
        "La dirección de retorno tiene {1} caracteres como máximo.",
    ),
    (
        "the redirect address {} has a port that is not a number from 1 to 65535",
        "El puerto de la dirección de retorno {} no es un número de 1 a 65535.",
    ),
    (
        "the redirect address {} has a host in brackets that is not an IPv6 address",
        "El servidor de la dirección de retorno {} no es una dirección IPv6.",
    ),
    (
        "the redirect address {} has a host with {} in it",
        "El servidor de la dirección de retorno {} no puede contener {}.",
    ),
    (
        "the operator has switched sandboxes off (portal.sandbox)",
        "El operador ha desactivado los entornos de pruebas.",
    ),
    (
        "the sandbox is disabled or not complete; make it again, or ask the operator",
        "El entorno de pruebas está desactivado o incompleto. Créalo de nuevo o escribe a la persona de contacto.",
    ),
    (
        "the team has made {} events today, the most of one day; go on tomorrow",
        "El equipo ha generado hoy {} eventos, el máximo de un día. Sigue mañana.",
    ),
];

/// The reason as whole sentences; one that is not known here stays in English.
pub(crate) fn refusal(lang: Lang, why: &str) -> String {
    let spanish = match lang {
        Lang::Es => translate_reason(REASONS.iter().chain(SHARED_REASONS), why),
        Lang::En => None,
    };
    spanish.unwrap_or_else(|| sentence(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_said_in_spanish_with_what_they_name() {
        for (english, spanish) in [
            ("\"x\" is not an e-mail address", "\"x\" no es una dirección de correo."),
            (
                "team \"a\" has 20 members, as many as it may have",
                "El equipo tiene 20 miembros, los que puede tener como máximo.",
            ),
            ("a client needs one product at least", "Elige al menos un producto."),
        ] {
            assert_eq!(refusal(Lang::Es, english), spanish);
        }
        assert_eq!(refusal(Lang::En, "the moon was full"), "The moon was full.");
        assert_eq!(refusal(Lang::Es, "the moon was full"), "The moon was full.");
    }

    #[test]
    fn every_reason_against_a_redirect_address_is_known() {
        use domain::ClientKind;
        let long = format!("https://a.example/{}", "a".repeat(3000));
        for uri in [
            "ftp://a.example/",
            "a",
            "https://a.example/\"",
            "https://*.example/",
            "https://a.example/#x",
            "https://u@a.example/",
            "https://a.example:0/",
            "https://[x]/",
            "https://a!b/",
            "https:///x",
            "http://localhost/x",
            "http://a.example/",
            &long,
        ] {
            for kind in ClientKind::ALL {
                let why = domain::redirect_uri::check(uri, kind).unwrap_err();
                let english = format!("the redirect address {uri} {why}");
                let spanish = refusal(Lang::Es, &english);
                let is_known = ["dirección de retorno", "direcciones de retorno"]
                    .iter()
                    .any(|known| spanish.contains(known));
                assert!(is_known, "{english}: {spanish}");
            }
        }
    }

    #[test]
    fn places_are_the_same_in_both_languages() {
        for (english, spanish) in REASONS.iter().chain(SHARED_REASONS) {
            let places = english.matches("{}").count();
            assert!(spanish.matches("{}").count() <= places, "{english}");
            assert!(!spanish.contains("{1}") || places == 2, "{english}");
        }
    }
}
