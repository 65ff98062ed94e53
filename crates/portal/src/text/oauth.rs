//! What the parameters of a sign-in and its errors mean, for developers.

use ui::Lang;

pub(crate) use super::oauth_claims::{access_claim, claim_position, id_claim};

/// A name with its meaning in Spanish and English.
pub(super) type Meaning = (&'static str, &'static str, &'static str);

pub(super) fn find(lang: Lang, meanings: &[Meaning], name: &str) -> &'static str {
    let found = meanings.iter().find(|(known, ..)| *known == name);
    found.map_or("", |(_, es, en)| match lang {
        Lang::Es => es,
        Lang::En => en,
    })
}

const REQUEST: &[Meaning] = &[
    ("client_id", "Tu aplicación", "Your application"),
    (
        "response_type",
        "Siempre code: el navegador trae un código, nunca un token",
        "Always code: the browser brings a code, never a token",
    ),
    (
        "redirect_uri",
        "Adónde vuelve el navegador. Esta es la dirección del portal, solo para usuarios del entorno de pruebas; tu aplicación envía una de las suyas, idéntica a la registrada",
        "Where the browser comes back. This is the portal's own address, for sandbox users alone; your application sends one of its own, exactly as registered",
    ),
    (
        "scope",
        "Lo que pide la aplicación, separado por espacios",
        "What the application asks for, separated by spaces",
    ),
    (
        "state",
        "Un valor nuevo en cada intento. Vuelve igual; si no coincide, descarta la respuesta",
        "A new value for every attempt. It comes back unchanged; if it differs, discard the response",
    ),
    (
        "nonce",
        "Otro valor nuevo, que vuelve dentro del id_token: demuestra que el id_token es de este intento",
        "Another new value, which comes back inside the id_token: it proves that the id_token belongs to this attempt",
    ),
    (
        "code_challenge",
        "PKCE: el hash de un secreto de este intento, el code_verifier del paso 3",
        "PKCE: the hash of a secret of this attempt, the code_verifier of step 3",
    ),
    ("code_challenge_method", "Cómo se calcula el hash: SHA-256", "How the hash is computed: SHA-256"),
    (
        "login_hint",
        "El correo con el que se rellena la página de inicio de sesión",
        "The email address that the sign-in page is filled in with",
    ),
    (
        "prompt",
        "Qué páginas se muestran: login pide siempre la contraseña; consent, también el permiso; none, ninguna",
        "Which pages are shown: login always asks for the password; consent, for the permission too; none, nothing",
    ),
];

const CALLBACK: &[Meaning] = &[
    (
        "code",
        "El código: caduca a los pocos minutos y sirve una vez, en el paso 3",
        "The code: it expires after a few minutes and works once, in step 3",
    ),
    (
        "state",
        "El de la petición: así sabes que la respuesta es de este intento",
        "The one from the request: so you know that the response belongs to this attempt",
    ),
    (
        "iss",
        "Quién contesta. Compáralo con tu emisor, para no confundir a dos proveedores",
        "Who answers. Compare it with your issuer, so as not to mix up two providers",
    ),
    (
        "id_token",
        "Quién ha iniciado sesión; esta aplicación lo recibe ya en la vuelta",
        "Who signed in; this application gets it with the callback already",
    ),
    ("error", "Por qué no hay código", "Why there is no code"),
    (
        "error_description",
        "El motivo, para quien desarrolla. No se lo muestres a la persona",
        "The reason, for developers. Do not show it to the person",
    ),
];

const TOKEN_REQUEST: &[Meaning] = &[
    ("grant_type", "Se cambia un código por tokens", "A code is exchanged for tokens"),
    ("code", "El que trajo el navegador", "The one that the browser brought"),
    ("redirect_uri", "La misma dirección que en el paso 1", "The same address as in step 1"),
    (
        "code_verifier",
        "El secreto cuyo hash era code_challenge: quien robe el código no lo tiene",
        "The secret whose hash was code_challenge: whoever steals the code does not have it",
    ),
];

const TOKEN_RESPONSE: &[Meaning] = &[
    (
        "access_token",
        "Da acceso a las API: va en Authorization: Bearer",
        "Gives access to the APIs: it goes into Authorization: Bearer",
    ),
    ("token_type", "Cómo se envía", "How it is sent"),
    ("expires_in", "Segundos que vale el access_token", "Seconds for which the access_token is valid"),
    (
        "id_token",
        "Quién ha iniciado sesión. Es para tu aplicación, no para las API",
        "Who signed in. It is for your application, not for the APIs",
    ),
    (
        "refresh_token",
        "Consigue otro access_token sin la persona. Guárdalo cifrado y solo en tu servidor",
        "Gets another access_token without the person. Store it encrypted, on your server alone",
    ),
    (
        "scope",
        "Lo concedido, cuando no es lo que se pidió",
        "What was granted, where it is not what was asked for",
    ),
];

const SCOPES: &[Meaning] = &[
    ("openid", "Un id_token: quién ha iniciado sesión", "An id_token: who signed in"),
    ("profile", "Nombre e idioma de la persona", "Name and language of the person"),
    ("email", "Su correo electrónico", "Their email address"),
    (
        "offline_access",
        "Un refresh_token, para seguir sin la persona",
        "A refresh_token, to go on without the person",
    ),
    ("IDInfo", "Nombre y correo electrónico", "Name and email address"),
    (
        "SVC.ES.NEWPOL.COR.API",
        "Datos generales de personas y empresas",
        "Core data about people and companies",
    ),
    ("SVC.ES.NEWPOL.ACC.API", "Contabilidad", "Accounting"),
    ("SVC.ES.NEWPOL.MNG.API", "Datos de gestión", "Management data"),
    ("SVC.ES.EquipoContex", "Empresas de nóminas", "Payroll companies"),
    ("SVC.ES.Webhooks", "Webhooks y canal de cambios", "Webhooks and the feed of changes"),
];

pub(crate) fn request_parameter(lang: Lang, name: &str) -> &'static str {
    find(lang, REQUEST, name)
}

pub(crate) fn callback_parameter(lang: Lang, name: &str) -> &'static str {
    find(lang, CALLBACK, name)
}

pub(crate) fn token_request_field(lang: Lang, name: &str) -> &'static str {
    find(lang, TOKEN_REQUEST, name)
}

pub(crate) fn token_response_field(lang: Lang, name: &str) -> &'static str {
    find(lang, TOKEN_RESPONSE, name)
}

/// Where a field of the token response stands in a table.
pub(crate) fn token_response_position(name: &str) -> usize {
    TOKEN_RESPONSE.iter().position(|(known, ..)| *known == name).unwrap_or(TOKEN_RESPONSE.len())
}

pub(crate) fn scope(lang: Lang, name: &str) -> &'static str {
    find(lang, SCOPES, name)
}

/// Why each error comes.
const ERRORS: &[Meaning] = &[
    (
        "access_denied",
        "La persona no dio su permiso, o quien inició sesión no es el usuario de tu entorno de pruebas.",
        "The person did not consent, or whoever signed in is not the user of your sandbox.",
    ),
    (
        "invalid_scope",
        "La petición no tiene ningún scope, o tiene uno que los productos de la aplicación no incluyen.",
        "The request has no scope, or one that the application's products do not include.",
    ),
    (
        "login_required",
        "Con prompt=none no se muestra ninguna página, y no había ninguna sesión iniciada.",
        "With prompt=none no page is shown, and nobody was signed in.",
    ),
    (
        "consent_required",
        "Con prompt=none no se muestra ninguna página, y la persona todavía no ha dado su permiso.",
        "With prompt=none no page is shown, and the person has not consented yet.",
    ),
    (
        "interaction_required",
        "Con prompt=none no se muestra ninguna página, y la persona tenía algo que elegir.",
        "With prompt=none no page is shown, and the person had something to choose.",
    ),
    (
        "unmet_authentication_requirements",
        "La petición exige un segundo factor y la persona no tiene ninguno.",
        "The request demands a second factor, and the person has none.",
    ),
    (
        "invalid_state",
        "El state de la vuelta no es el de la petición: la respuesta es de otro intento.",
        "The state of the callback is not the one of the request: the response belongs to another attempt.",
    ),
    (
        "invalid_iss",
        "La respuesta es de otro emisor, o no nombra ninguno.",
        "The response comes from another issuer, or does not name one.",
    ),
    (
        "invalid_grant",
        "El código ya no vale: ha caducado, se usó antes, o no es de esta petición.",
        "The code is no longer valid: it has expired, was used before, or does not belong to this request.",
    ),
    (
        "invalid_request",
        "A la petición le falta un parámetro, o tiene uno que no es válido.",
        "The request lacks a parameter, or has one that is not valid.",
    ),
    (
        "temporarily_unavailable",
        "El servicio está ocupado en este momento.",
        "The service is busy at the moment.",
    ),
];

/// What to do about each error: here, and in the developer's own application.
const ADVICE: &[Meaning] = &[
    (
        "access_denied",
        "Empieza de nuevo, inicia sesión con el correo y la contraseña que muestra esta página y autoriza la aplicación. En la tuya, trátalo como un «no»: ofrece repetir, pero no repitas automáticamente.",
        "Start over, sign in with the address and password that this page shows, and authorize the application. In yours, treat it as a \"no\": offer to try again, but do not retry automatically.",
    ),
    (
        "invalid_scope",
        "Empieza de nuevo con los scopes que vienen marcados. Si te falta un producto, pide una aplicación que lo tenga.",
        "Start over with the scopes that are selected at first. If you lack a product, ask for an application that has it.",
    ),
    (
        "login_required",
        "Empieza de nuevo con la página de inicio de sesión. Tu aplicación debe repetir la petición sin prompt=none.",
        "Start over with the sign-in page. Your application has to repeat the request without prompt=none.",
    ),
    (
        "consent_required",
        "Empieza de nuevo con la página de permiso. Tu aplicación debe repetir la petición sin prompt=none.",
        "Start over with the consent page. Your application has to repeat the request without prompt=none.",
    ),
    (
        "interaction_required",
        "Empieza de nuevo sin prompt=none; tu aplicación debe hacer lo mismo.",
        "Start over without prompt=none; your application has to do the same.",
    ),
    (
        "unmet_authentication_requirements",
        "Quita acr_values=2fa de la petición, o pide a la persona que añada un segundo factor.",
        "Take acr_values=2fa out of the request, or ask the person to add a second factor.",
    ),
    (
        "invalid_state",
        "Empieza de nuevo, con una sola pestaña. Tu aplicación debe descartar la respuesta: puede ser un ataque.",
        "Start over, with one tab. Your application has to discard the response: it may be an attack.",
    ),
    (
        "invalid_iss",
        "Empieza de nuevo. Tu aplicación debe descartar la respuesta: puede ser un ataque.",
        "Start over. Your application has to discard the response: it may be an attack.",
    ),
    (
        "invalid_grant",
        "Empieza de nuevo. Tu aplicación debe cambiar el código en cuanto llega, una sola vez, y con el mismo redirect_uri y el mismo code_verifier.",
        "Start over. Your application has to exchange the code as soon as it arrives, once, and with the same redirect_uri and code_verifier.",
    ),
    (
        "invalid_request",
        "Lee la descripción, que nombra el parámetro, y empieza de nuevo.",
        "Read the description, which names the parameter, and start over.",
    ),
    (
        "temporarily_unavailable",
        "Espera unos segundos y empieza de nuevo; tu aplicación debe hacer lo mismo.",
        "Wait a few seconds and start over; your application has to do the same.",
    ),
];

/// Why an error comes, and what to do about it.
pub(crate) fn error(lang: Lang, code: &str) -> (&'static str, &'static str) {
    let (cause, advice) = (find(lang, ERRORS, code), find(lang, ADVICE, code));
    match (lang, cause) {
        (Lang::Es, "") => (
            "El servicio ha rechazado este paso.",
            "Lee la descripción y empieza de nuevo. Si se repite, escribe a la persona de contacto.",
        ),
        (Lang::En, "") => (
            "The service has refused this step.",
            "Read the description and start over. If it happens again, write to the contact.",
        ),
        _ => (cause, advice),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_has_a_cause_and_advice_in_both_languages() {
        let names = |meanings: &[Meaning]| meanings.iter().map(|(name, ..)| *name).collect::<Vec<_>>();
        assert_eq!(names(ERRORS), names(ADVICE));
        for lang in [Lang::Es, Lang::En] {
            for code in names(ERRORS).into_iter().chain(["something_new"]) {
                let (cause, advice) = error(lang, code);
                assert!(cause.ends_with('.') && advice.ends_with('.'), "{code}");
            }
        }
    }

    #[test]
    fn every_scope_has_a_meaning() {
        for one in domain::Scope::ALL {
            assert!(!scope(Lang::Es, one.name()).is_empty(), "{one:?}");
        }
    }
}
