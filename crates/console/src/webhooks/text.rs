//! Words of the pages of webhooks that the portal does not have.

use pages::texts;

use crate::text::{Done, Refusal};

texts! {
    WebhooksText {
        lead: "Los webhooks de todas las aplicaciones en todas las organizaciones. Busca por el servidor que los recibe, por a quién pertenecen o por su estado.", "The webhooks of all applications across all tenants. Search by the host that receives them, by their owner or by their state.";
        receiver: "Receptor", "Receiver";
        host: "Servidor del receptor", "Receiver's host";
        host_hint: "hooks.example.com", "hooks.example.com";
        client: "Aplicación", "Application";
        team: "Equipo", "Team";
        family: "Familia", "Family";
        resource: "Recurso", "Resource";
        accounting: "Contabilidad y nóminas", "Accounting and payroll";
        invoicing: "Facturación", "Invoicing";
        state_failing: "Fallan", "Failing";
        none: "Todavía no hay webhooks", "No webhooks yet";
        none_text: "Un webhook aparece aquí en cuanto una aplicación autorizada se suscribe a los cambios de un recurso. Su equipo ve cómo hacerlo en el portal.", "A webhook appears here as soon as an authorized application subscribes to the changes of a resource. Its team sees how to do so in the portal.";
        act_on_all: "Actuar sobre todos los que cumplen el filtro", "Act on all that match the filter";
        wrong_filter: "Elige el estado, la familia y el recurso de la lista.", "Choose the state, the family and the resource from the list.";
        why: "¿Por qué va retrasado?", "Why is this one behind?";
        why_not_behind: "Estado de las entregas", "State of the deliveries";
        to_do: "Qué hacer", "What to do";
        disabled_at_about: "Si sigue fallando, el servicio lo desactivará hacia el", "If it keeps failing, the service will disable it at about";
        not_confirmed: "Para eliminarlo, escribe el id del webhook tal como aparece en la página.", "To delete it, type the id of the webhook as the page shows it.";
        confirm: "Escribe el id del webhook", "Type the id of the webhook";
        delete_text: "Se elimina para siempre: quien lo creó tendrá que suscribirse otra vez. Ya no se entregarán eventos, ni los pendientes ni los futuros, a", "It is deleted permanently: its owner will have to subscribe again. Events, waiting or future, are no longer delivered to";
        pause_text: "Deja de recibir eventos hasta que alguien lo active, y los pendientes se descartan. Al activarlo continúa con el siguiente evento.", "It stops receiving events until somebody enables it, and waiting ones are dropped. Once enabled, it goes on with the next event.";
        read_only: "Tu rol es de solo lectura: para actuar hace falta el de soporte o el de administración.", "Your role is read-only: actions need the role Support or Admin.";
    }
}

texts! {
    /// One action on many webhooks.
    BulkText {
        title: "Actuar sobre varios webhooks", "Act on many webhooks";
        lead: "La acción afecta exactamente a los webhooks de esta lista. Si la lista cambia antes de que confirmes, no se hace nada y ves la lista nueva.", "The action affects exactly the webhooks in this list. If the list changes before you confirm, nothing is done and you see the new list.";
        action: "Acción", "Action";
        disable: "Pausar", "Pause";
        enable: "Activar", "Enable";
        replay: "Reenviar un periodo", "Replay a period";
        disable_text: "Dejan de recibir eventos hasta que alguien los active, y sus eventos pendientes se descartan.", "They stop receiving events until somebody enables them, and their waiting events are dropped.";
        enable_text: "Los que desactivó el servicio continúan con el primer evento no entregado; los pausados, con el siguiente.", "Those that the service disabled go on with the first undelivered event; paused ones, with the next.";
        replay_text: "Envía otra vez los eventos de ese periodo que aún conserva el registro de cambios, a cada webhook los suyos. Las horas son UTC.", "Sends the events of that period again, as far as the log still has them: to each webhook its own. Times are UTC.";
        count_before: "Webhooks que cumplen el filtro:", "Webhooks that match the filter:";
        what_happens: "Qué pasará", "What will happen";
        will_change: "Cambia", "Will change";
        will_replay: "Se reenvía", "Will be sent again";
        stays: "Sigue igual", "Stays as it is";
        refused: "No es posible", "Not possible";
        none: "Ningún webhook cumple el filtro", "No webhook matches the filter";
        none_text: "Vuelve a la lista y cambia el filtro.", "Go back to the list and change the filter.";
        too_wide: "El filtro es demasiado amplio", "The filter is too wide";
        too_wide_text: "Una acción afecta a 200 webhooks como máximo. Vuelve a la lista y añade una condición: el servidor, la organización, la aplicación o el estado.", "One action affects 200 webhooks at most. Go back to the list and add a condition: the host, the tenant, the application or the state.";
        back: "Volver a la lista", "Back to the list";
        results: "Resultado", "Result";
        done: "Hecho", "Done";
        not_done: "No se ha hecho", "Not done";
        reason: "Motivo", "Reason";
    }
}

/// What the pages of this area say after an action.
pub(crate) const DONE: &[Done] = &[
    ("webhook_paused", "El webhook está pausado.", "The webhook is paused."),
    ("webhook_enabled", "El webhook está activado.", "The webhook is enabled."),
    ("webhook_deleted", "El webhook se ha eliminado.", "The webhook has been deleted."),
    (
        "webhook_test_sent",
        "El evento de prueba está en camino: mira el resultado en «Pruebas y reenvíos».",
        "The test event is on its way: see its result under \"Tests and replays\".",
    ),
    (
        "webhook_replay_started",
        "El reenvío está en marcha: mira su progreso en «Pruebas y reenvíos».",
        "The replay is running: see its progress under \"Tests and replays\".",
    ),
    (
        "webhook_delivery_replayed",
        "El reenvío está en marcha: aparecerá aquí como un intento más.",
        "It is being sent again: it will appear here as one more attempt.",
    ),
];

/// Reasons of refusals of this area, in Spanish.
pub(crate) const REFUSALS: &[Refusal] = &[
    (
        "webhook {} is deleted permanently; its owner can subscribe again",
        "El webhook está eliminado, y eso es definitivo. Quien lo creó puede suscribirse otra vez.",
    ),
    (
        "webhook {} is unsubscribed permanently; its owner can subscribe again",
        "La suscripción se canceló definitivamente. Quien la creó puede suscribirse otra vez.",
    ),
    (
        "webhook {} would then equal another one of its owner; use that one",
        "El webhook sería entonces idéntico a otro de la misma aplicación. Usa ese otro.",
    ),
    (
        "webhook {} is {}; events are sent only to an active one",
        "Las pruebas y los reenvíos necesitan un webhook activo.",
    ),
    (
        "webhook {} is suspended: {}",
        "El webhook está suspendido: su aplicación no tiene acceso. La página dice por qué.",
    ),
    (
        "{} replays of webhook {} are running; wait until one has finished",
        "Ya hay {} reenvíos en marcha. Espera a que termine alguno.",
    ),
    (
        "all events between from and to are older than the contract of webhook {}",
        "Los eventos de ese periodo son anteriores al contrato del webhook. Elige uno posterior.",
    ),
    (
        "there is no event of webhook {} between from and to that is still in the log",
        "El registro de cambios no conserva ningún evento de este webhook en ese periodo. Elige otro.",
    ),
    (
        "there is no event {} in the log any more",
        "El registro de cambios ya no conserva este evento, así que no se puede reenviar.",
    ),
    ("there is no delivery {} of webhook {}", "Este webhook no tiene esa entrega."),
    ("from must not be later than to", "El principio del periodo no puede ser posterior a su final."),
    (
        "more than {} webhooks match, or may match; narrow the filter",
        "Más de {} webhooks cumplen el filtro, o pueden cumplirlo. Añade alguna condición.",
    ),
    (
        "the webhooks that match have changed since you looked; look again and repeat",
        "Los webhooks que cumplen el filtro han cambiado desde que los miraste. Revisa la lista nueva y repite.",
    ),
    ("the store could not do it; try again", "El almacén no ha podido hacerlo. Inténtalo de nuevo."),
];
