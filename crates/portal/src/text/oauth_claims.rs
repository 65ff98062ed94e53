//! What the claims of access tokens and id_tokens mean.

use ui::Lang;

use super::oauth::{Meaning, find};

/// The same in both kinds of tokens.
const BOTH: &[Meaning] = &[
    ("iss", "Quién lo ha emitido: compáralo con tu emisor", "Who issued it: compare it with your issuer"),
    ("exp", "Hasta cuándo vale", "Until when it is valid"),
    ("iat", "Cuándo se emitió", "When it was issued"),
    ("auth_time", "Cuándo demostró la persona quién es", "When the person proved who they are"),
    (
        "sub",
        "La persona. No cambia aunque cambie su correo: guarda esto y no el correo",
        "The person. It stays when their address changes: store this, not the address",
    ),
    (
        "amr",
        "Cómo lo demostró: password, con su contraseña; 2fa, también con un segundo factor",
        "How they proved it: password, with a password; 2fa, with a second factor too",
    ),
    ("given_name", "Cómo se llama la persona", "What the person is called"),
    ("email", "Su correo electrónico", "Their email address"),
];

const ACCESS: &[Meaning] = &[
    ("$id", "Parte del formato; siempre 1", "Part of the format; always 1"),
    ("aud", "Para quién es: las API", "Whom it is for: the APIs"),
    ("nbf", "Desde cuándo vale", "From when on it is valid"),
    (
        "jti",
        "El identificador del token. Empieza por el de la autorización: si se retira, el token deja de valer",
        "The token's identifier. It begins with the authorization's: when that is withdrawn, the token stops working",
    ),
    ("client_id", "Tu aplicación", "Your application"),
    ("scope", "A qué da acceso", "What it gives access to"),
    ("idp", "Quién comprobó la identidad: este servicio", "Who checked the identity: this service"),
    ("usr", "La persona, con el mismo valor que sub", "The person, with the same value as sub"),
    ("owapp", "Tu aplicación, con su identificador interno", "Your application, by its internal identifier"),
    (
        "mem",
        "La pertenencia de la persona a la organización",
        "The membership of the person in the organisation",
    ),
    ("oun", "La organización (tenant), como GUID", "The organisation (tenant), as a GUID"),
    (
        "svc.es.clientid",
        "La organización (tenant) a cuyos datos da acceso",
        "The organisation (tenant) whose data it gives access to",
    ),
    ("svc.es.idcda", "El código corto de la organización", "The short code of the organisation"),
    ("lang", "Su idioma", "Their language"),
    (
        "svc.es.modules",
        "Los módulos de contabilidad que usa la persona, separados por punto y coma",
        "The accounting modules that the person uses, separated by semicolons",
    ),
    ("svc.es.keyusercorrelationid", "La persona, en contabilidad", "The person, in accounting"),
    ("svc.es.equipouserid", "La persona, en nóminas", "The person, in payroll"),
    ("svc.es.secondclientid", "La organización, en nóminas", "The organisation, in payroll"),
];

const ID: &[Meaning] = &[
    (
        "aud",
        "Para quién es: tu aplicación. Si es otra, recházalo",
        "Whom it is for: your application. Reject it if it is another one",
    ),
    (
        "nonce",
        "El de la petición: demuestra que el id_token es de este intento",
        "The one from the request: it proves that the id_token belongs to this attempt",
    ),
    (
        "acr",
        "El nivel de la comprobación: 2fa, con segundo factor",
        "The level of the check: 2fa, with a second factor",
    ),
    (
        "sid",
        "La sesión de la persona, solo para tu aplicación: si termina, el logout_token lleva el mismo",
        "The person's session, for your application alone: when it ends, the logout_token has the same",
    ),
    (
        "at_hash",
        "El hash del access_token: los dos van juntos",
        "The hash of the access_token: the two belong together",
    ),
    ("c_hash", "El hash del código: los dos van juntos", "The hash of the code: the two belong together"),
    ("name", "Su nombre completo", "Their full name"),
    ("family_name", "Sus apellidos", "Their family name"),
    (
        "preferred_username",
        "El nombre con el que inicia sesión: su correo electrónico",
        "The name that they sign in with: their email address",
    ),
    ("email_verified", "Que el correo es suyo: siempre true", "That the address is theirs: always true"),
    ("updated_at", "Cuándo cambió su nombre o su idioma", "When their name or language last changed"),
    (
        "tenant_id",
        "La organización (tenant) que ha elegido; aquí, tu entorno de pruebas",
        "The organisation (tenant) that they chose; here, your sandbox",
    ),
    ("tenant_name", "El nombre de la organización", "The name of the organisation"),
    ("locale", "Su idioma", "Their language"),
];

/// The claims in the order in which they are read; others follow.
const ORDER: [&str; 38] = [
    "iss",
    "aud",
    "client_id",
    "sub",
    "scope",
    "nonce",
    "svc.es.clientid",
    "tenant_id",
    "tenant_name",
    "exp",
    "iat",
    "nbf",
    "auth_time",
    "amr",
    "acr",
    "sid",
    "at_hash",
    "c_hash",
    "given_name",
    "family_name",
    "name",
    "preferred_username",
    "email",
    "email_verified",
    "lang",
    "locale",
    "updated_at",
    "jti",
    "idp",
    "usr",
    "mem",
    "oun",
    "owapp",
    "svc.es.idcda",
    "svc.es.modules",
    "svc.es.keyusercorrelationid",
    "svc.es.equipouserid",
    "svc.es.secondclientid",
];

/// Where a claim stands in a table.
pub(crate) fn claim_position(name: &str) -> usize {
    ORDER.iter().position(|known| *known == name).unwrap_or(ORDER.len())
}

fn meaning(lang: Lang, own: &[Meaning], name: &str) -> &'static str {
    match find(lang, own, name) {
        "" => find(lang, BOTH, name),
        text => text,
    }
}

pub(crate) fn access_claim(lang: Lang, name: &str) -> &'static str {
    meaning(lang, ACCESS, name)
}

pub(crate) fn id_claim(lang: Lang, name: &str) -> &'static str {
    meaning(lang, ID, name)
}
