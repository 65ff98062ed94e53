//! Paths, parameters, headers and bodies, in every API.

use super::ErrorCode as Code;
use super::{ErrorEntry, Explanation, entry};

pub(super) const ENTRIES: &[ErrorEntry] = &[
    entry(
        Code::PathNotFound,
        Explanation { cause: "No API has this path.", cure: "Compare the path with the API reference." },
        Explanation {
            cause: "Ninguna API tiene esta ruta.",
            cure: "Compara la ruta con la referencia de la API.",
        },
    ),
    entry(
        Code::MethodNotAllowed,
        Explanation {
            cause: "The path does not support this method.",
            cure: "Use a method that the header `Allow` or the API reference names.",
        },
        Explanation {
            cause: "La ruta no admite este método.",
            cure: "Usa un método que indique la cabecera `Allow` o la referencia de la API.",
        },
    ),
    entry(
        Code::InvalidParameter,
        Explanation {
            cause: "A query parameter or header has a value that is not valid; `errors` names it.",
            cure: "Correct the value as the message says.",
        },
        Explanation {
            cause: "Un parámetro o una cabecera tiene un valor no válido; `errors` dice cuál.",
            cure: "Corrige el valor como indica el mensaje.",
        },
    ),
    entry(
        Code::UnknownParameter,
        Explanation {
            cause: "The operation has no query parameter with this name.",
            cure: "Remove the parameter, or correct its name.",
        },
        Explanation {
            cause: "La operación no tiene ningún parámetro con ese nombre.",
            cure: "Quita el parámetro o corrige su nombre.",
        },
    ),
    entry(
        Code::MissingParameter,
        Explanation {
            cause: "A required query parameter is absent.",
            cure: "Send the parameter that `errors` names.",
        },
        Explanation {
            cause: "Falta un parámetro obligatorio.",
            cure: "Envía el parámetro que indica `errors`.",
        },
    ),
    entry(
        Code::DuplicateParameter,
        Explanation { cause: "A query parameter was sent twice.", cure: "Send the parameter once." },
        Explanation { cause: "Un parámetro se ha enviado dos veces.", cure: "Envíalo una sola vez." },
    ),
    entry(
        Code::InvalidHeader,
        Explanation {
            cause: "A header has a value that is not valid; `errors` names it.",
            cure: "Correct the header as the message says.",
        },
        Explanation {
            cause: "Una cabecera tiene un valor no válido; `errors` dice cuál.",
            cure: "Corrige la cabecera como indica el mensaje.",
        },
    ),
    entry(
        Code::InvalidPath,
        Explanation {
            cause: "A part of the path is not valid UTF-8 after percent-decoding.",
            cure: "Percent-encode the id as UTF-8.",
        },
        Explanation {
            cause: "Una parte de la ruta no es UTF-8 válido al descodificarla.",
            cure: "Codifica el identificador en UTF-8 con el signo de porcentaje.",
        },
    ),
    entry(
        Code::MissingContext,
        Explanation {
            cause: "The header `context` is absent, and the resource belongs to a company.",
            cure: "Send `context: {\"clientId\":\"…\"}` with the `correlationId` of a company; the list of companies has them.",
        },
        Explanation {
            cause: "Falta la cabecera `context`, y el recurso es de una empresa.",
            cure: "Envía `context: {\"clientId\":\"…\"}` con el `correlationId` de una empresa; los da la lista de empresas.",
        },
    ),
    entry(
        Code::InvalidContext,
        Explanation {
            cause: "The header `context` is neither `none` nor a JSON object with the one member `clientId`, or the operation does not take a company.",
            cure: "Send `{\"clientId\":\"…\"}` for the resources of a company, and `none` or no header for webhooks.",
        },
        Explanation {
            cause: "La cabecera `context` no es `none` ni un objeto JSON con el único miembro `clientId`, o la operación no lleva empresa.",
            cure: "Envía `{\"clientId\":\"…\"}` para los recursos de una empresa, y `none` o ninguna cabecera para los webhooks.",
        },
    ),
    entry(
        Code::ContextMismatch,
        Explanation {
            cause: "The header `context` names another company than the path.",
            cure: "Send the same company in both, or leave the header out.",
        },
        Explanation {
            cause: "La cabecera `context` indica otra empresa que la ruta.",
            cure: "Envía la misma empresa en las dos, o quita la cabecera.",
        },
    ),
    entry(
        Code::CompanyNotFound,
        Explanation {
            cause: "The tenant of the access token has no such company.",
            cure: "Read the list of companies with the same token and use one of their `correlationId`.",
        },
        Explanation {
            cause: "El tenant del token de acceso no tiene esa empresa.",
            cure: "Lee la lista de empresas con el mismo token y usa uno de sus `correlationId`.",
        },
    ),
    entry(
        Code::RecordNotFound,
        Explanation {
            cause: "There is no such record in this company, or it has been deleted.",
            cure: "Check the `correlationId` and the company in `context`.",
        },
        Explanation {
            cause: "No existe ese registro en esta empresa, o se ha borrado.",
            cure: "Comprueba el `correlationId` y la empresa de `context`.",
        },
    ),
    entry(
        Code::BelowFloor,
        Explanation {
            cause: "The log no longer has the changes after the given number.",
            cure: "Read the list again and follow the feed from its `X-Sequence-Version`.",
        },
        Explanation {
            cause: "El registro de cambios ya no conserva los posteriores al número dado.",
            cure: "Vuelve a leer la lista y sigue los cambios desde su `X-Sequence-Version`.",
        },
    ),
    entry(
        Code::NotFound,
        Explanation {
            cause: "The object does not exist, or does not belong to the caller.",
            cure: "Check the id; the list of the same kind has the valid ones.",
        },
        Explanation {
            cause: "El objeto no existe, o no es de quien llama.",
            cure: "Comprueba el identificador; la lista del mismo tipo tiene los válidos.",
        },
    ),
    entry(
        Code::InvalidJson,
        Explanation {
            cause: "The body, or a line of it, is not a JSON object.",
            cure: "Send one JSON object; the message says where the fault is.",
        },
        Explanation {
            cause: "El cuerpo, o una de sus líneas, no es un objeto JSON.",
            cure: "Envía un objeto JSON; el mensaje dice dónde está el fallo.",
        },
    ),
    entry(
        Code::MissingMember,
        Explanation {
            cause: "A required member of the body is absent.",
            cure: "Send the member that `errors` names.",
        },
        Explanation {
            cause: "Falta un miembro obligatorio del cuerpo.",
            cure: "Envía el miembro que indica `errors`.",
        },
    ),
    entry(
        Code::InvalidMember,
        Explanation {
            cause: "A member of the body has a value that is not valid; `errors` names it.",
            cure: "Correct the value as the message says.",
        },
        Explanation {
            cause: "Un miembro del cuerpo tiene un valor no válido; `errors` dice cuál.",
            cure: "Corrige el valor como indica el mensaje.",
        },
    ),
    entry(
        Code::UnknownMember,
        Explanation {
            cause: "The body has a member that the operation does not know.",
            cure: "Remove the member, or correct its name.",
        },
        Explanation {
            cause: "El cuerpo tiene un miembro que la operación no conoce.",
            cure: "Quita el miembro o corrige su nombre.",
        },
    ),
    entry(
        Code::DuplicateMember,
        Explanation { cause: "A member was sent twice.", cure: "Send the member once." },
        Explanation { cause: "Un miembro se ha enviado dos veces.", cure: "Envíalo una sola vez." },
    ),
    entry(
        Code::InvalidValue,
        Explanation {
            cause: "A value is not accepted; the message says which and why.",
            cure: "Correct the value as the message says.",
        },
        Explanation {
            cause: "Un valor no se acepta; el mensaje dice cuál y por qué.",
            cure: "Corrige el valor como indica el mensaje.",
        },
    ),
    entry(
        Code::BodyTooLarge,
        Explanation {
            cause: "The body is longer than the operation accepts.",
            cure: "Send a shorter body; the message names the limit.",
        },
        Explanation {
            cause: "El cuerpo es más largo de lo que acepta la operación.",
            cure: "Envía un cuerpo más corto; el mensaje indica el límite.",
        },
    ),
    entry(
        Code::BodyCutOff,
        Explanation { cause: "The connection ended before the body did.", cure: "Send the request again." },
        Explanation { cause: "La conexión terminó antes que el cuerpo.", cure: "Repite la petición." },
    ),
    entry(
        Code::BodyTooSlow,
        Explanation {
            cause: "The body took too long to arrive.",
            cure: "Send the request again over a better connection.",
        },
        Explanation {
            cause: "El cuerpo tardó demasiado en llegar.",
            cure: "Repite la petición con una conexión mejor.",
        },
    ),
    entry(
        Code::UnsupportedMediaType,
        Explanation {
            cause: "The operation does not accept this `Content-Type` or `Content-Encoding`.",
            cure: "Send the type that the message names, without compression.",
        },
        Explanation {
            cause: "La operación no acepta este `Content-Type` o `Content-Encoding`.",
            cure: "Envía el tipo que indica el mensaje, sin comprimir.",
        },
    ),
    entry(
        Code::ServiceUnavailable,
        Explanation {
            cause: "The service cannot reach its data for a moment.",
            cure: "Wait as many seconds as `Retry-After` says, then send the request again.",
        },
        Explanation {
            cause: "El servicio no puede llegar a sus datos en este momento.",
            cure: "Espera los segundos que indica `Retry-After` y repite la petición.",
        },
    ),
    entry(
        Code::InternalError,
        Explanation {
            cause: "The service failed.",
            cure: "Send the request again later. If it fails again, send the `requestId` to the operator.",
        },
        Explanation {
            cause: "El servicio ha fallado.",
            cure: "Repite la petición más tarde. Si vuelve a fallar, envía el `requestId` al operador.",
        },
    ),
];
