//! What a response that does not count as success means and what to do.

use super::diagnosis::Pair;
use crate::webhooks::diagnosis::Diagnosis;

const REJECTED: Pair = (
    [
        "El receptor ha recibido el evento y lo rechaza (4xx).",
        "Mira el comienzo de la respuesta y tus registros: suele ser una validación que no entiende el evento o una firma que no coincide.",
    ],
    [
        "The receiver got the event and rejects it (4xx).",
        "Read the beginning of the response and your logs: it is usually a validation that does not understand the event, or a signature that does not match.",
    ],
);

/// Those of a response that does not count as success.
pub(super) fn response(diagnosis: Diagnosis) -> Pair {
    match diagnosis {
        Diagnosis::SetsCookie | Diagnosis::AcknowledgeStatus | Diagnosis::EchoBody => {
            not_as_agreed(diagnosis)
        }
        Diagnosis::Redirect | Diagnosis::Missing | Diagnosis::Gone | Diagnosis::MethodNotAllowed => {
            wrong_address(diagnosis)
        }
        Diagnosis::ReceiverError | Diagnosis::ReceiverUnavailable => receiver_error(diagnosis),
        Diagnosis::Unauthorized => (
            [
                "El receptor pide autenticación o prohíbe el acceso.",
                "La ruta del webhook no puede exigir inicio de sesión: comprueba la firma en su lugar. Mira también el cortafuegos web. Si es tu comprobación de la firma la que falla, usa el depurador de firmas.",
            ],
            [
                "The receiver asks for authentication or forbids access.",
                "The webhook's route must not require a sign-in: check the signature instead. Look at the web firewall too. If it is your signature check that fails, use the signature debugger.",
            ],
        ),
        Diagnosis::TooLarge => (
            [
                "El receptor no admite cuerpos de este tamaño.",
                "Sube el límite del servidor o del proxy para la ruta del webhook.",
            ],
            [
                "The receiver does not accept bodies of this size.",
                "Raise the server's or the proxy's limit for the webhook's route.",
            ],
        ),
        Diagnosis::TooManyRequests => (
            [
                "El receptor dice que recibe demasiadas peticiones.",
                "El servicio espera lo que diga Retry-After y lo intenta otra vez. Sube el límite para esta ruta, o guarda los eventos en una cola.",
            ],
            [
                "The receiver says that it gets too many requests.",
                "The service waits as Retry-After says and tries again. Raise the limit for this route, or put events into a queue.",
            ],
        ),
        Diagnosis::OtherStatus => (
            [
                "El receptor ha respondido con un código que no es un estado final de HTTP.",
                "Responde con 200.",
            ],
            ["The receiver answered with a status that is not a final HTTP status.", "Answer with 200."],
        ),
        _ => REJECTED,
    }
}

fn wrong_address(diagnosis: Diagnosis) -> Pair {
    match diagnosis {
        Diagnosis::Redirect => (
            [
                "El receptor redirige a otra dirección, y las redirecciones no se siguen.",
                "Pon en el webhook la dirección final (suele faltar https, www o la barra del final).",
            ],
            [
                "The receiver redirects to another address, and redirects are not followed.",
                "Put the final address into the webhook (often https, www or the slash at the end is missing).",
            ],
        ),
        Diagnosis::Gone => (
            [
                "El receptor dice que esa dirección ya no existe (410).",
                "Cambia la dirección del webhook, o elimínalo si ya no lo usas.",
            ],
            [
                "The receiver says that this address is gone (410).",
                "Change the webhook's address, or delete the webhook if you no longer use it.",
            ],
        ),
        Diagnosis::MethodNotAllowed => (
            [
                "La ruta existe, pero no admite POST.",
                "Haz que la ruta acepte POST, o corrige la dirección del webhook.",
            ],
            [
                "The route exists but does not accept POST.",
                "Make the route accept POST, or correct the webhook's address.",
            ],
        ),
        _ => (
            [
                "El receptor no conoce esa ruta (404).",
                "Comprueba la ruta de la dirección y que la versión desplegada la tiene.",
            ],
            [
                "The receiver does not know that path (404).",
                "Check the address's path, and that the deployed version has it.",
            ],
        ),
    }
}

fn receiver_error(diagnosis: Diagnosis) -> Pair {
    match diagnosis {
        Diagnosis::ReceiverUnavailable => (
            [
                "El receptor, o el proxy que tiene delante, no está disponible.",
                "Mira si el programa que hay detrás del proxy está en marcha. El servicio lo sigue intentando; cuando vuelva, los eventos llegan en orden.",
            ],
            [
                "The receiver, or the proxy in front of it, is unavailable.",
                "See whether the program behind the proxy is running. The service keeps trying; once the receiver is back, events arrive in order.",
            ],
        ),
        _ => (
            [
                "El receptor ha fallado al tratar el evento (5xx).",
                "Busca la excepción en tus registros a esa hora. Responde 200 al guardar el evento y procésalo después. Cuando esté arreglado, reenvíalo.",
            ],
            [
                "The receiver failed while it handled the event (5xx).",
                "Look for the exception in your logs at that time. Answer 200 once the event is stored, and process it later. When it is fixed, send it again.",
            ],
        ),
    }
}

fn not_as_agreed(diagnosis: Diagnosis) -> Pair {
    match diagnosis {
        Diagnosis::SetsCookie => (
            [
                "La respuesta lleva la cabecera Set-Cookie, y eso no se admite.",
                "Excluye la ruta del webhook de las sesiones del servidor o del balanceador.",
            ],
            [
                "The response has a Set-Cookie header, which is not accepted.",
                "Exclude the webhook's route from the sessions of the server or the load balancer.",
            ],
        ),
        Diagnosis::AcknowledgeStatus => (
            [
                "El receptor ha respondido al Acknowledge con un código distinto de 200.",
                "Responde exactamente 200 al Acknowledge; para los eventos vale cualquier 2xx.",
            ],
            [
                "The receiver answered the Acknowledge with a status other than 200.",
                "Answer the Acknowledge with exactly 200; for events any 2xx will do.",
            ],
        ),
        _ => (
            [
                "La respuesta al contrato no es el valor del parámetro echo.",
                "Responde al GET con el valor de echo como cuerpo, sin nada más.",
            ],
            [
                "The response to the contract is not the value of the parameter echo.",
                "Answer the GET with the value of echo as the body, and nothing else.",
            ],
        ),
    }
}
