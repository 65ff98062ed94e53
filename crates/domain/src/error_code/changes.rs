//! The ingest of changes, and edits of records.

use super::ErrorCode as Code;
use super::{ErrorEntry, Explanation, entry};

pub(super) const ENTRIES: &[ErrorEntry] = &[
    entry(
        Code::NotChanges,
        Explanation {
            cause: "The body is neither JSON lines nor a JSON array of changes.",
            cure: "Send one change per line, or one array. The message says what has been committed.",
        },
        Explanation {
            cause: "El cuerpo no son líneas JSON ni una lista JSON de cambios.",
            cure: "Envía un cambio por línea, o una lista. El mensaje dice qué se ha guardado.",
        },
    ),
    entry(
        Code::IdempotencyKeyInUse,
        Explanation {
            cause: "Another request with this `Idempotency-Key` is in progress.",
            cure: "Wait until it ends, then send the request again.",
        },
        Explanation {
            cause: "Hay otra petición en curso con esta `Idempotency-Key`.",
            cure: "Espera a que termine y repite la petición.",
        },
    ),
    entry(
        Code::IdempotencyKeyReused,
        Explanation {
            cause: "Another body was sent with this `Idempotency-Key` before.",
            cure: "Use a new key for new changes.",
        },
        Explanation {
            cause: "Antes se envió otro cuerpo con esta `Idempotency-Key`.",
            cure: "Usa una clave nueva para cambios nuevos.",
        },
    ),
    entry(
        Code::LineTooLong,
        Explanation {
            cause: "A change is longer than a line may be; it was skipped.",
            cure: "Send a shorter record.",
        },
        Explanation {
            cause: "Un cambio es más largo de lo que admite una línea; se ha saltado.",
            cure: "Envía un registro más corto.",
        },
    ),
    entry(
        Code::Unfinished,
        Explanation {
            cause: "The body ends before its JSON array does.",
            cure: "Send the rest, or all changes again with an `Idempotency-Key`.",
        },
        Explanation {
            cause: "El cuerpo termina antes que su lista JSON.",
            cure: "Envía el resto, o todos los cambios otra vez con una `Idempotency-Key`.",
        },
    ),
    entry(
        Code::UnknownArea,
        Explanation { cause: "There is no such area.", cure: "Use an area that the message names." },
        Explanation { cause: "No existe esa área.", cure: "Usa un área de las que indica el mensaje." },
    ),
    entry(
        Code::UnknownResource,
        Explanation {
            cause: "The area has no such resource.",
            cure: "Use a resource of the area; the message suggests one.",
        },
        Explanation {
            cause: "El área no tiene ese recurso.",
            cure: "Usa un recurso del área; el mensaje propone uno.",
        },
    ),
    entry(
        Code::UnexpectedMember,
        Explanation {
            cause: "The change has a member that its action or resource does not take.",
            cure: "Remove the member that `errors` names.",
        },
        Explanation {
            cause: "El cambio tiene un miembro que no corresponde a su acción o recurso.",
            cure: "Quita el miembro que indica `errors`.",
        },
    ),
    entry(
        Code::OwnedMember,
        Explanation {
            cause: "`data` has a member that the service sets itself.",
            cure: "Remove the member; change the state with the actions `disable` and `enable`.",
        },
        Explanation {
            cause: "`data` tiene un miembro que pone el propio servicio.",
            cure: "Quita el miembro; el estado se cambia con las acciones `disable` y `enable`.",
        },
    ),
    entry(
        Code::CorrelationIdInData,
        Explanation {
            cause: "`data.correlationId` differs from the change's `correlationId`.",
            cure: "Send `correlationId` beside `data`, not inside it.",
        },
        Explanation {
            cause: "`data.correlationId` es distinto del `correlationId` del cambio.",
            cure: "Envía `correlationId` junto a `data`, no dentro.",
        },
    ),
    entry(
        Code::ActionNotAllowed,
        Explanation {
            cause: "The resource does not allow this action.",
            cure: "The message says which action to use instead.",
        },
        Explanation {
            cause: "El recurso no permite esta acción.",
            cure: "El mensaje dice qué acción usar en su lugar.",
        },
    ),
    entry(
        Code::UnknownCompany,
        Explanation { cause: "The company of the change does not exist.", cure: "Send the company first." },
        Explanation { cause: "La empresa del cambio no existe.", cure: "Envía antes la empresa." },
    ),
    entry(
        Code::UnknownRecord,
        Explanation {
            cause: "The record of the change does not exist.",
            cure: "Create it with an upsert first.",
        },
        Explanation { cause: "El registro del cambio no existe.", cure: "Créalo antes con un upsert." },
    ),
    entry(
        Code::RecordChanged,
        Explanation {
            cause: "The record has been changed since it was read.",
            cure: "Read it again and repeat the edit.",
        },
        Explanation {
            cause: "El registro ha cambiado desde que se leyó.",
            cure: "Vuelve a leerlo y repite el cambio.",
        },
    ),
    entry(
        Code::AccountNotFound,
        Explanation {
            cause: "The company has no account with the code that the record names.",
            cure: "Send the account first.",
        },
        Explanation {
            cause: "La empresa no tiene ninguna cuenta con el código que indica el registro.",
            cure: "Envía antes la cuenta.",
        },
    ),
    entry(
        Code::WrongControl,
        Explanation {
            cause: "A warning: the control character of a tax identifier is wrong. The change was accepted.",
            cure: "Check the identifier.",
        },
        Explanation {
            cause: "Aviso: el carácter de control de un identificador fiscal no es correcto. El cambio se ha aceptado.",
            cure: "Revisa el identificador.",
        },
    ),
    entry(
        Code::IncompleteTaxData,
        Explanation {
            cause: "A warning: of tax name and tax identifier only one was sent. The change was accepted.",
            cure: "Send both, or neither.",
        },
        Explanation {
            cause: "Aviso: del nombre y el identificador fiscales solo se ha enviado uno. El cambio se ha aceptado.",
            cure: "Envía los dos, o ninguno.",
        },
    ),
];
