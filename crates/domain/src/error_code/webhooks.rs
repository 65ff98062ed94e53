//! Subscriptions, deliveries and replays.

use super::ErrorCode as Code;
use super::{ErrorEntry, Explanation, entry};

pub(super) const ENTRIES: &[ErrorEntry] = &[
    entry(
        Code::InvalidUrl,
        Explanation {
            cause: "The receiver's address is not valid: it needs https, port 443, and neither a user name nor a fragment.",
            cure: "Send an address such as `https://receiver.example/webhooks`.",
        },
        Explanation {
            cause: "La dirección del receptor no es válida: tiene que ser https, puerto 443, sin usuario ni fragmento.",
            cure: "Envía una dirección como `https://receiver.example/webhooks`.",
        },
    ),
    entry(
        Code::RefusedAddress,
        Explanation {
            cause: "The receiver's address is not a public one.",
            cure: "Use a receiver that can be reached from the internet.",
        },
        Explanation {
            cause: "La dirección del receptor no es pública.",
            cure: "Usa un receptor al que se llegue desde internet.",
        },
    ),
    entry(
        Code::UnresolvedHost,
        Explanation {
            cause: "The name of the receiver's host cannot be resolved.",
            cure: "Check the name and its DNS records, then subscribe again.",
        },
        Explanation {
            cause: "No se puede resolver el nombre del receptor.",
            cure: "Comprueba el nombre y sus registros DNS, y suscríbete otra vez.",
        },
    ),
    entry(
        Code::ReservedAddress,
        Explanation {
            cause: "The address is that of a built-in receiver, which only its own sandbox can use.",
            cure: "Send the address of a server of your own.",
        },
        Explanation {
            cause: "La dirección es de un receptor integrado, que solo puede usar su propio entorno de pruebas.",
            cure: "Envía la dirección de un servidor tuyo.",
        },
    ),
    entry(
        Code::ForeignHost,
        Explanation {
            cause: "The receiver's host does not resolve to the address that the request came from.",
            cure: "Subscribe from the receiver's own network.",
        },
        Explanation {
            cause: "El nombre del receptor no lleva a la dirección de la que viene la petición.",
            cure: "Suscríbete desde la red del propio receptor.",
        },
    ),
    entry(
        Code::UnknownEventType,
        Explanation {
            cause: "The resource does not offer one of the `eventTypes`.",
            cure: "Use names that `GET …/webhooks/events` of the same resource lists.",
        },
        Explanation {
            cause: "El recurso no ofrece alguno de los `eventTypes`.",
            cure: "Usa nombres de los que da `GET …/webhooks/events` del mismo recurso.",
        },
    ),
    entry(
        Code::UnknownEntity,
        Explanation {
            cause: "Invoicing has no such entity.",
            cure: "Use an entity that the API reference lists.",
        },
        Explanation {
            cause: "Facturación no tiene esa entidad.",
            cure: "Usa una entidad de las que da la referencia de la API.",
        },
    ),
    entry(
        Code::UnknownAction,
        Explanation {
            cause: "There is no such action, or the resource or entity does not offer it.",
            cure: "Use an action that the message or the API reference names.",
        },
        Explanation {
            cause: "No existe esa acción, o el recurso o la entidad no la ofrece.",
            cure: "Usa una acción de las que indica el mensaje o la referencia de la API.",
        },
    ),
    entry(
        Code::Deleted,
        Explanation {
            cause: "The webhook has been deleted. Deletion is permanent.",
            cure: "Subscribe again to get a new webhook.",
        },
        Explanation {
            cause: "El webhook se ha borrado, y eso es definitivo.",
            cure: "Suscríbete otra vez para tener un webhook nuevo.",
        },
    ),
    entry(
        Code::Unsubscribed,
        Explanation {
            cause: "The webhook has been unsubscribed. That is permanent.",
            cure: "Subscribe again to get a new webhook.",
        },
        Explanation {
            cause: "La suscripción del webhook se ha cancelado, y eso es definitivo.",
            cure: "Suscríbete otra vez para tener un webhook nuevo.",
        },
    ),
    entry(
        Code::Exists,
        Explanation {
            cause: "There is already one like it.",
            cure: "Use the existing one, or choose another name, address or id.",
        },
        Explanation {
            cause: "Ya hay uno igual.",
            cure: "Usa el que hay, o elige otro nombre, dirección o identificador.",
        },
    ),
    entry(
        Code::NotOffered,
        Explanation {
            cause: "This kind of webhook does not offer the operation.",
            cure: "Delete the webhook and subscribe again with the new values.",
        },
        Explanation {
            cause: "Este tipo de webhook no ofrece la operación.",
            cure: "Borra el webhook y suscríbete otra vez con los valores nuevos.",
        },
    ),
    entry(
        Code::TooManyWebhooks,
        Explanation {
            cause: "The limit of webhooks has been reached, or more webhooks match than one request may change.",
            cure: "Delete webhooks that you do not need, or narrow the selection.",
        },
        Explanation {
            cause: "Se ha llegado al límite de webhooks, o hay más de los que puede cambiar una petición.",
            cure: "Borra los que no necesites, o afina la selección.",
        },
    ),
    entry(
        Code::NothingToReplay,
        Explanation {
            cause: "The log has no event of this webhook in the span of time.",
            cure: "Widen the span. The log keeps events for a limited time.",
        },
        Explanation {
            cause: "El registro no tiene eventos de este webhook en ese intervalo.",
            cure: "Amplía el intervalo. El registro conserva los eventos un tiempo limitado.",
        },
    ),
    entry(
        Code::NotSubscribed,
        Explanation {
            cause: "The webhook does not subscribe to this event.",
            cure: "Choose an event of its `eventTypes`.",
        },
        Explanation {
            cause: "El webhook no está suscrito a ese evento.",
            cure: "Elige un evento de sus `eventTypes`.",
        },
    ),
    entry(
        Code::NotEntitled,
        Explanation {
            cause: "The events are older than the first acceptance of the webhook's handshake.",
            cure: "Choose a later span. Read older changes from the feed.",
        },
        Explanation {
            cause: "Los eventos son anteriores a la primera aceptación del webhook.",
            cure: "Elige un intervalo posterior. Los cambios anteriores se leen en la lista de cambios.",
        },
    ),
    entry(
        Code::Inactive,
        Explanation {
            cause: "The webhook is not active, so nothing can be sent to it.",
            cure: "Enable the webhook and let the receiver accept its handshake, then try again.",
        },
        Explanation {
            cause: "El webhook no está activo, así que no se le puede enviar nada.",
            cure: "Activa el webhook, haz que el receptor acepte y vuelve a intentarlo.",
        },
    ),
    entry(
        Code::Suspended,
        Explanation {
            cause: "The webhook is suspended, because access to its data has ended.",
            cure: "The health of the webhook says why. Let a user of the tenant authorize the application again.",
        },
        Explanation {
            cause: "El webhook está suspendido porque ha terminado el acceso a sus datos.",
            cure: "El estado del webhook dice por qué. Haz que alguien del tenant autorice de nuevo la aplicación.",
        },
    ),
    entry(
        Code::TooManyReplays,
        Explanation {
            cause: "As many replays of this webhook are running as may run at once.",
            cure: "Wait until one has finished.",
        },
        Explanation {
            cause: "Ya hay en marcha todas las repeticiones que admite este webhook.",
            cure: "Espera a que termine una.",
        },
    ),
];
