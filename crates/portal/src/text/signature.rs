//! Words of the signature debugger.

use pages::texts;
use ui::Lang;

texts! {
    SignatureText {
        title: "Depurador de firmas", "Signature debugger";
        lead: "Pega lo que recibió tu receptor. Nada de lo que pegues se guarda. Es la misma comprobación que hace «aldaba verify».", "Paste what your receiver got. Nothing that you paste is stored. It is the same check as “aldaba verify”.";
        body: "Cuerpo, byte por byte como llegó", "Body, byte for byte as it arrived";
        secret: "Secreto del webhook", "Secret of the webhook";
        signature: "Firma", "Signature";
        signature_hint: "Cabecera svc-webhook-signature, ms-signature o webhook-signature", "Header svc-webhook-signature, ms-signature or webhook-signature";
        standard: "Solo para webhook-signature (Standard Webhooks)", "Only for webhook-signature (Standard Webhooks)";
        id: "webhook-id", "webhook-id";
        timestamp: "webhook-timestamp", "webhook-timestamp";
        check: "Comprobar", "Check";
        matches: "La firma es correcta", "The signature matches";
        matches_text: "El cuerpo y el secreto son los que se firmaron.", "The body and the secret are those that were signed.";
        differs: "La firma no coincide", "The signature does not match";
        needs_standard: "v1,… es una firma de Standard Webhooks: añade webhook-id y webhook-timestamp.", "v1,… is a signature of Standard Webhooks: add webhook-id and webhook-timestamp.";
    }
}

/// A reason in Spanish, by its code; English comes with the reason itself.
const REASONS_ES: &[(&str, &str)] = &[
    ("missing_header", "Falta una cabecera: pasa las cabeceras de la petición sin cambios."),
    ("no_signature", "La firma no son 32 bytes en hexadecimal ni en base64."),
    ("missing_prefix", "Falta el prefijo: sha256= (o v1, en Standard Webhooks)."),
    ("lower_case_hex", "Los dígitos son correctos pero están en minúsculas: compara en mayúsculas."),
    ("base64_instead_of_hex", "Está en base64: escribe los bytes como dígitos hexadecimales en mayúsculas."),
    ("hex_instead_of_base64", "Está en hexadecimal: Standard Webhooks usa base64."),
    (
        "reserialised_body",
        "El cuerpo se ha interpretado y vuelto a escribir: verifica los bytes recibidos, antes de interpretarlos.",
    ),
    ("trailing_newline_added", "Se han añadido espacios o un salto de línea al final del cuerpo."),
    ("trailing_newline_removed", "Se ha quitado el salto de línea del final del cuerpo."),
    ("byte_order_mark_added", "Se ha añadido una marca de orden de bytes al principio del cuerpo."),
    ("byte_order_mark_removed", "Se ha quitado la marca de orden de bytes del principio del cuerpo."),
    (
        "wrong_encoding",
        "El cuerpo se ha convertido a otra codificación: verifica los bytes recibidos, que son UTF-8.",
    ),
    ("secret_with_spaces", "El secreto lleva espacios o comillas alrededor: quítalos."),
    (
        "secret_form",
        "En la firma del contrato la clave es el texto del secreto; en Standard Webhooks, lo que sigue a whsec_ es la clave en base64.",
    ),
    ("wrong_secret", "El secreto no es el correcto, o el cuerpo ha cambiado."),
    ("no_timestamp", "webhook-timestamp no es un número de segundos."),
    (
        "stale_timestamp",
        "Se firmó hace demasiado tiempo: es una entrega antigua, o el reloj de esa máquina va adelantado.",
    ),
    ("future_timestamp", "Se firmó en el futuro: el reloj de esa máquina va atrasado."),
];

pub(crate) fn reason(lang: Lang, code: &str, english: &str) -> String {
    let spanish = REASONS_ES.iter().find(|(known, _)| *known == code).map(|(_, text)| *text);
    match (lang, spanish) {
        (Lang::Es, Some(text)) => text.to_owned(),
        _ => pages::sentence(english),
    }
}
