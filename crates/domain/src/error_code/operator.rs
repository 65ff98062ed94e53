//! The administration.

use super::ErrorCode as Code;
use super::{ErrorEntry, Explanation, entry};

pub(super) const ENTRIES: &[ErrorEntry] = &[
    entry(
        Code::UnknownTenant,
        Explanation {
            cause: "There is no such tenant.",
            cure: "Check the id; the list of tenants has the valid ones.",
        },
        Explanation {
            cause: "No existe ese tenant.",
            cure: "Comprueba el identificador; la lista de tenants tiene los válidos.",
        },
    ),
    entry(
        Code::Cancelled,
        Explanation {
            cause: "The subscription has been cancelled. That is permanent.",
            cure: "Create a new subscription.",
        },
        Explanation {
            cause: "La suscripción se ha cancelado, y eso es definitivo.",
            cure: "Crea una suscripción nueva.",
        },
    ),
    entry(
        Code::RevisionConflict,
        Explanation {
            cause: "The object has been changed since it was read.",
            cure: "Read it again and repeat the change with its new `revision`.",
        },
        Explanation {
            cause: "El objeto ha cambiado desde que se leyó.",
            cure: "Vuelve a leerlo y repite el cambio con su nueva `revision`.",
        },
    ),
    entry(
        Code::NotConfirmed,
        Explanation {
            cause: "`confirm` does not repeat the id of the object.",
            cure: "Send the id of the object as `confirm`, if you really want the irreversible operation.",
        },
        Explanation {
            cause: "`confirm` no repite el identificador del objeto.",
            cure: "Envía el identificador en `confirm` si de verdad quieres la operación, que no tiene vuelta atrás.",
        },
    ),
    entry(
        Code::LastAdmin,
        Explanation {
            cause: "The operator is the last active one with the role admin.",
            cure: "Give another operator the role first.",
        },
        Explanation {
            cause: "Es el último operador activo con el rol de administración.",
            cure: "Da antes ese rol a otro operador.",
        },
    ),
    entry(
        Code::LastOwner,
        Explanation {
            cause: "The developer is the last owner of the team.",
            cure: "Make another member an owner first.",
        },
        Explanation {
            cause: "Es la última persona propietaria del equipo.",
            cure: "Haz antes propietaria a otra persona.",
        },
    ),
    entry(
        Code::TooManyMembers,
        Explanation { cause: "The team has as many members as it may have.", cure: "Remove a member first." },
        Explanation {
            cause: "El equipo tiene todos los miembros que admite.",
            cure: "Quita antes a alguno.",
        },
    ),
    entry(
        Code::TooManyRequests,
        Explanation {
            cause: "The team has as many pending requests as it may have.",
            cure: "Wait for a decision, or withdraw a request.",
        },
        Explanation {
            cause: "El equipo tiene pendientes todas las solicitudes que admite.",
            cure: "Espera una decisión, o retira una solicitud.",
        },
    ),
    entry(
        Code::TeamDisabled,
        Explanation {
            cause: "The team is disabled.",
            cure: "Enable the team first; a developer asks the operator.",
        },
        Explanation {
            cause: "El equipo está desactivado.",
            cure: "Actívalo antes; quien desarrolla lo pide al operador.",
        },
    ),
    entry(
        Code::ClientDisabled,
        Explanation { cause: "The client is disabled.", cure: "Enable the client, or choose another one." },
        Explanation { cause: "La aplicación está desactivada.", cure: "Actívala, o elige otra." },
    ),
    entry(
        Code::AlreadyInvited,
        Explanation {
            cause: "There is an open invitation for this address.",
            cure: "Revoke the open invitation first, or wait until it is accepted.",
        },
        Explanation {
            cause: "Ya hay una invitación abierta para esta dirección.",
            cure: "Revoca antes la que hay, o espera a que se acepte.",
        },
    ),
    entry(
        Code::InvitationEnded,
        Explanation { cause: "The invitation was accepted or revoked.", cure: "Invite again." },
        Explanation { cause: "La invitación se aceptó o se revocó.", cure: "Invita de nuevo." },
    ),
    entry(
        Code::NotPending,
        Explanation {
            cause: "The request has been decided or withdrawn already.",
            cure: "Nothing is left to do; the team can make a new request.",
        },
        Explanation {
            cause: "La solicitud ya se decidió o se retiró.",
            cure: "No queda nada que hacer; el equipo puede hacer otra solicitud.",
        },
    ),
    entry(
        Code::CannotApprove,
        Explanation {
            cause: "The request cannot be carried out now; the message says why.",
            cure: "Remove the cause, or refuse the request.",
        },
        Explanation {
            cause: "La solicitud no se puede cumplir ahora; el mensaje dice por qué.",
            cure: "Quita la causa, o rechaza la solicitud.",
        },
    ),
    entry(
        Code::NotRevealable,
        Explanation {
            cause: "The key was made by a version that stored only its hash.",
            cure: "Replace the key to see a new one.",
        },
        Explanation {
            cause: "La clave es de una versión que solo guardaba su resumen (hash).",
            cure: "Sustituye la clave para ver una nueva.",
        },
    ),
    entry(
        Code::SandboxApart,
        Explanation {
            cause: "A sandbox is for its own user alone, and that user for no other tenant.",
            cure: "Use another user or another tenant.",
        },
        Explanation {
            cause: "Un entorno de pruebas es solo para su usuario, y ese usuario para ningún otro tenant.",
            cure: "Usa otro usuario u otro tenant.",
        },
    ),
    entry(
        Code::SandboxClosed,
        Explanation {
            cause: "Sandboxes are switched off.",
            cure: "Set `portal.sandbox = true` in the configuration.",
        },
        Explanation {
            cause: "Los entornos de pruebas están desactivados.",
            cure: "Pon `portal.sandbox = true` en la configuración.",
        },
    ),
    entry(
        Code::SandboxNotReady,
        Explanation {
            cause: "The sandbox is disabled or not complete.",
            cure: "Enable or complete it first.",
        },
        Explanation {
            cause: "El entorno de pruebas está desactivado o a medias.",
            cure: "Actívalo o complétalo antes.",
        },
    ),
    entry(
        Code::SandboxIncomplete,
        Explanation { cause: "The sandbox has no company left.", cure: "Reset the sandbox." },
        Explanation { cause: "Al entorno de pruebas no le queda ninguna empresa.", cure: "Restablécelo." },
    ),
    entry(
        Code::TooManyEvents,
        Explanation {
            cause: "The team has made as many events today as it may make in a day.",
            cure: "Continue tomorrow.",
        },
        Explanation {
            cause: "El equipo ha generado hoy todos los eventos que se permiten en un día.",
            cure: "Sigue mañana.",
        },
    ),
    entry(
        Code::ChangeRefused,
        Explanation {
            cause: "The change in the sandbox was refused; the message says why.",
            cure: "Correct the cause that the message names.",
        },
        Explanation {
            cause: "El cambio en el entorno de pruebas se ha rechazado; el mensaje dice por qué.",
            cure: "Corrige la causa que indica el mensaje.",
        },
    ),
    entry(
        Code::Over,
        Explanation {
            cause: "The webhook has been unsubscribed or deleted. That is permanent.",
            cure: "Its owner can subscribe again.",
        },
        Explanation {
            cause: "El webhook se ha borrado o su suscripción se ha cancelado, y eso es definitivo.",
            cure: "Su propietario puede suscribirse otra vez.",
        },
    ),
    entry(
        Code::Alike,
        Explanation {
            cause: "Another webhook of the same owner has the same values.",
            cure: "Change or delete the other one first.",
        },
        Explanation {
            cause: "Otro webhook del mismo propietario tiene los mismos valores.",
            cure: "Cambia o borra antes el otro.",
        },
    ),
    entry(
        Code::SelectionChanged,
        Explanation {
            cause: "Other webhooks match now than when the selection was shown.",
            cure: "Show the selection again and confirm it.",
        },
        Explanation {
            cause: "Ahora la selección contiene otros webhooks que cuando se mostró.",
            cure: "Muestra otra vez la selección y confírmala.",
        },
    ),
    entry(
        Code::NextKeyExists,
        Explanation {
            cause: "The next signing key exists already.",
            cure: "Wait until it signs, or replace the current key at once.",
        },
        Explanation {
            cause: "La siguiente clave de firma ya existe.",
            cure: "Espera a que firme, o sustituye la actual de inmediato.",
        },
    ),
    entry(
        Code::BackupRunning,
        Explanation { cause: "A backup is being made already.", cure: "Wait until it is complete." },
        Explanation { cause: "Ya se está haciendo una copia de seguridad.", cure: "Espera a que termine." },
    ),
    entry(
        Code::BackupDirectory,
        Explanation {
            cause: "The backup directory is not configured or cannot be used.",
            cure: "Set `backup.directory` to a folder that the service can write to.",
        },
        Explanation {
            cause: "El directorio de copias no está configurado o no se puede usar.",
            cure: "Pon en `backup.directory` una carpeta en la que el servicio pueda escribir.",
        },
    ),
    entry(
        Code::BackupDownloads,
        Explanation {
            cause: "As many backups are being downloaded as may be at once.",
            cure: "Wait until one is complete.",
        },
        Explanation {
            cause: "Ya se están descargando todas las copias que se admiten a la vez.",
            cure: "Espera a que termine una.",
        },
    ),
    entry(
        Code::StoreFull,
        Explanation {
            cause: "Nothing can be written now, because the store's disk is full. Reads continue.",
            cure: "Free space on the store's disk, then send the request again.",
        },
        Explanation {
            cause: "Ahora no se puede escribir porque el disco del almacén está lleno. Las lecturas siguen.",
            cure: "Libera espacio en el disco del almacén y repite la petición.",
        },
    ),
    entry(
        Code::StoreUnavailable,
        Explanation {
            cause: "The store does not answer now.",
            cure: "Wait as many seconds as `Retry-After` says, then send the request again.",
        },
        Explanation {
            cause: "El almacén no responde ahora.",
            cure: "Espera los segundos que indica `Retry-After` y repite la petición.",
        },
    ),
    entry(
        Code::StoreBusy,
        Explanation {
            cause: "The changes waited too long to be written and were not applied.",
            cure: "Send them again with an `Idempotency-Key`.",
        },
        Explanation {
            cause: "Los cambios esperaron demasiado y no se aplicaron.",
            cure: "Envíalos otra vez con una `Idempotency-Key`.",
        },
    ),
];
