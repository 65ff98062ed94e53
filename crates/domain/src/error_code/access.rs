//! Keys, tokens, scopes and limits.

use super::ErrorCode as Code;
use super::{ErrorEntry, Explanation, entry};

pub(super) const ENTRIES: &[ErrorEntry] = &[
    entry(
        Code::MissingSubscriptionKey,
        Explanation {
            cause: "The request has no subscription key.",
            cure: "Send the key of your subscription in the header `Ocp-Apim-Subscription-Key`.",
        },
        Explanation {
            cause: "La petición no lleva clave de suscripción.",
            cure: "Envía la clave de tu suscripción en la cabecera `Ocp-Apim-Subscription-Key`.",
        },
    ),
    entry(
        Code::InvalidSubscriptionKey,
        Explanation {
            cause: "No active subscription to this API has this key, or the subscription is not for the client of the access token.",
            cure: "Copy the key from your subscription in the portal. Check that the subscription is active, includes this product and belongs to the team of your client.",
        },
        Explanation {
            cause: "Ninguna suscripción activa a esta API tiene esta clave, o la suscripción no es para la aplicación del token de acceso.",
            cure: "Copia la clave de tu suscripción en el portal. Comprueba que está activa, que incluye este producto y que es del mismo equipo que tu aplicación.",
        },
    ),
    entry(
        Code::MissingToken,
        Explanation {
            cause: "The request has no token.",
            cure: "Send `Authorization: Bearer` and the access token. The operator's API takes an operator token.",
        },
        Explanation {
            cause: "La petición no lleva token.",
            cure: "Envía `Authorization: Bearer` y el token de acceso. La API del operador lleva un token de operador.",
        },
    ),
    entry(
        Code::InvalidToken,
        Explanation {
            cause: "The token is malformed, has expired, has been revoked, or comes from another service.",
            cure: "Get a new access token with the refresh token. If that is refused too, let the user sign in again.",
        },
        Explanation {
            cause: "El token está mal formado, ha caducado, se ha revocado o es de otro servicio.",
            cure: "Pide un token de acceso nuevo con el token de renovación. Si también se rechaza, haz que la persona inicie sesión de nuevo.",
        },
    ),
    entry(
        Code::InsufficientScope,
        Explanation {
            cause: "The access token lacks the scope that the message names.",
            cure: "Add the scope to the authorization request and let the user sign in again.",
        },
        Explanation {
            cause: "Al token de acceso le falta el ámbito (scope) que indica el mensaje.",
            cure: "Añade el ámbito a la petición de autorización y haz que la persona inicie sesión de nuevo.",
        },
    ),
    entry(
        Code::ClientNotForProduct,
        Explanation {
            cause: "The client of the access token is not registered for the product of this API.",
            cure: "Ask the operator to add the product to the client.",
        },
        Explanation {
            cause: "La aplicación del token de acceso no está dada de alta para el producto de esta API.",
            cure: "Pide al operador que añada el producto a la aplicación.",
        },
    ),
    entry(
        Code::RateLimitExceeded,
        Explanation {
            cause: "The subscription has sent more requests than its rate limit allows.",
            cure: "Wait as many seconds as `Retry-After` says, then send the request again.",
        },
        Explanation {
            cause: "La suscripción ha enviado más peticiones de las que permite su límite.",
            cure: "Espera los segundos que indica `Retry-After` y repite la petición.",
        },
    ),
    entry(
        Code::QuotaExceeded,
        Explanation {
            cause: "The subscription has used up its daily quota.",
            cure: "Wait until the quota is replenished: `Retry-After` says when. Ask the operator for a higher quota if you need one.",
        },
        Explanation {
            cause: "La suscripción ha agotado su cuota diaria.",
            cure: "Espera a que se reponga: `Retry-After` dice cuándo. Si necesitas una cuota mayor, pídela al operador.",
        },
    ),
    entry(
        Code::InsufficientRole,
        Explanation {
            cause: "The role of the operator or of the operator token does not permit this.",
            cure: "Use a token with the role that the message names.",
        },
        Explanation {
            cause: "El rol del operador o del token de operador no lo permite.",
            cure: "Usa un token con el rol que indica el mensaje.",
        },
    ),
];
