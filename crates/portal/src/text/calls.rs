//! Words of the requests' page, and the reason of every refusal with what to do.

use domain::Refusal;
use pages::texts;
use ui::Lang;

texts! {
    CallText {
        title: "Llamadas", "Calls";
        lead: "Las últimas llamadas del equipo: al menos 1000 por suscripción, durante 7 días. De cada rechazo, el motivo exacto y qué hacer.", "The team's last calls: at least 1,000 per subscription, for 7 days. For every refusal, the exact reason and what to do.";
        none: "Todavía no hay llamadas", "No calls yet";
        none_text: "Aquí aparece cada llamada que lleve una clave del equipo, pocos segundos después. Prueba con la primera:", "Every call that carries one of the team's keys appears here a few seconds later. Try the first one:";
        none_found: "Ninguna llamada cumple el filtro", "No call matches the filter";
        none_found_text: "Quita alguna condición. Las llamadas de más de 7 días ya no se guardan.", "Remove a condition. Calls older than 7 days are no longer kept.";
        switched_off: "El registro de llamadas está desactivado", "The log of calls is switched off";
        switched_off_text: "Las llamadas nuevas no aparecen aquí. El consumo de cada suscripción se sigue contando.", "New calls do not appear here. The usage of each subscription is still counted.";
        route: "Ruta", "Route";
        status: "Estado", "Status";
        latency: "Duración", "Duration";
        request_id: "Número de petición", "Request id";
        client: "Aplicación", "Application";
        key: "Clave", "Key";
        tenant: "Organización", "Tenant";
        subscription: "Suscripción", "Subscription";
        result: "Resultado", "Result";
        any: "Cualquiera", "Any";
        only_refused: "Solo rechazadas", "Only refused";
        succeeded: "Correctas (2xx)", "Succeeded (2xx)";
        caller_errors: "Errores de quien llama (4xx)", "Caller errors (4xx)";
        service_errors: "Errores del servicio (5xx)", "Service errors (5xx)";
    }
}

/// What a refusal means, and what to do, in Spanish and English.
const REFUSALS: &[(Refusal, &str, &str)] = &[
    (
        Refusal::SubscriptionSuspended,
        "La suscripción está suspendida. Escribe a la persona de contacto.",
        "The subscription is suspended. Write to the contact.",
    ),
    (
        Refusal::KeyNotForProduct,
        "La clave es de otro producto. Usa la de una suscripción de este producto, o pide una.",
        "The key is for another product. Use one of a subscription to this product, or ask for one.",
    ),
    (
        Refusal::TokenMissing,
        "Falta el token. Envía Authorization: Bearer con el access_token.",
        "The token is missing. Send Authorization: Bearer with the access_token.",
    ),
    (
        Refusal::TokenInvalid,
        "El token no es un access_token de este servicio: está cortado, es de otro emisor o es un id_token. Envía el access_token tal como lo recibiste.",
        "The token is not an access_token of this service: it is truncated, from another issuer, or an id_token. Send the access_token exactly as you received it.",
    ),
    (
        Refusal::TokenExpired,
        "El token ha caducado. Obtén otro con el refresh_token.",
        "The token has expired. Get another one with the refresh_token.",
    ),
    (
        Refusal::TokenRevoked,
        "El acceso se ha retirado o revocado. La persona tiene que iniciar sesión de nuevo.",
        "Access was withdrawn or revoked. The person has to sign in again.",
    ),
    (
        Refusal::KeyOfAnotherTeam,
        "La clave y el token son de equipos distintos. Usa una clave del equipo de la aplicación.",
        "The key and the token belong to different teams. Use a key of the application's team.",
    ),
    (
        Refusal::SandboxMismatch,
        "Se mezclan el entorno de pruebas y datos reales. Usa clave, aplicación y organización que sean todas del entorno de pruebas o todas de datos reales.",
        "The sandbox and real data are mixed. Use a key, an application and a tenant that are all for the sandbox or all for real data.",
    ),
    (
        Refusal::ScopeMissing,
        "Al token le falta el scope de esta API. Pídelo al iniciar sesión.",
        "The token lacks the scope of this API. Ask for it at sign-in.",
    ),
    (
        Refusal::ClientNotForProduct,
        "La aplicación no está registrada para este producto. Pídelo al operador.",
        "The application is not registered for this product. Ask the operator.",
    ),
    (
        Refusal::RateLimited,
        "Demasiadas llamadas por minuto. Espera lo que dice Retry-After y reparte las llamadas.",
        "Too many calls per minute. Wait as Retry-After says, and spread the calls.",
    ),
    (
        Refusal::QuotaExceeded,
        "La cuota diaria se ha agotado. Se renueva a medianoche (UTC); si no basta, pide más.",
        "The daily quota is used up. It is renewed at midnight (UTC); if it is too small, ask for more.",
    ),
    (
        Refusal::CompanyHeaderMissing,
        "Falta la empresa. Envía su correlationId en la cabecera context.",
        "The company is missing. Send its correlationId in the context header.",
    ),
    (
        Refusal::CompanyHeaderInvalid,
        "La cabecera context no contiene un correlationId válido. Envíalo como {\"clientId\":\"<correlationId>\"}.",
        "The context header does not contain a valid correlationId. Send it as {\"clientId\":\"<correlationId>\"}.",
    ),
    (
        Refusal::CompanyHeaderMismatch,
        "La cabecera context y la ruta nombran empresas distintas. Usa la misma en las dos.",
        "The context header and the path name different companies. Use the same one in both.",
    ),
    (
        Refusal::CompanyUnknown,
        "No existe esa empresa en la organización del token. Lee primero la lista de empresas.",
        "There is no such company in the token's tenant. Read the list of companies first.",
    ),
    (
        Refusal::ResourceUnknown,
        "No existe ese registro, webhook o ruta. Comprueba el identificador y la dirección.",
        "There is no such record, webhook or route. Check the id and the address.",
    ),
    (
        Refusal::ParameterInvalid,
        "Un parámetro de la consulta no es válido. La respuesta dice cuál.",
        "A query parameter is not valid. The response says which.",
    ),
    (
        Refusal::FeedBelowFloor,
        "El canal de cambios ya no tiene esos cambios. Lee de nuevo las listas y sigue desde ahí.",
        "The feed no longer has those changes. Read the lists again and go on from there.",
    ),
    (
        Refusal::BodyInvalid,
        "El cuerpo no es válido. La respuesta dice qué campo.",
        "The body is not valid. The response says which member.",
    ),
    (
        Refusal::Conflict,
        "El estado actual no permite esta petición. La respuesta dice por qué.",
        "The current state does not allow this. The response says why.",
    ),
    (
        Refusal::Other,
        "La petición no es válida. La respuesta dice por qué.",
        "The request is not valid. The response says why.",
    ),
    (
        Refusal::ServiceUnavailable,
        "El servicio estaba ocupado. Repite la llamada dentro de unos segundos.",
        "The service was busy. Repeat the call in a few seconds.",
    ),
    (
        Refusal::ServiceError,
        "El servicio ha fallado. Si se repite, escribe a la persona de contacto con el número de petición.",
        "The service failed. If it happens again, write to the contact with the request id.",
    ),
];

/// What a refusal means, and what to do.
pub(crate) fn refusal(lang: Lang, refusal: Refusal) -> &'static str {
    let found = REFUSALS.iter().find(|(known, ..)| *known == refusal);
    match (lang, found) {
        (Lang::Es, Some((_, es, _))) => es,
        (Lang::En, Some((_, _, en))) => en,
        (_, None) => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_is_explained_in_both_languages() {
        for one in Refusal::ALL {
            for lang in [Lang::Es, Lang::En] {
                assert!(!refusal(lang, *one).is_empty(), "{one:?}");
            }
        }
    }
}
