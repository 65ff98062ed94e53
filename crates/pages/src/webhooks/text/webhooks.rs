//! Text of the webhooks' pages: their states, why access has ended, what an action was refused for.

use domain::WebhookStatus;
use ui::Lang;
use webhooks::history::HistoryError;
use webhooks::management::ActionError;

use super::suspension::suspension;
use crate::texts;
use crate::webhooks::Reader;

texts! {
    pub WebhookText {
        title: "Webhooks", "Webhooks";
        one: "Webhook", "Webhook";
        lead: "Los webhooks de todas las aplicaciones del equipo, en todas las organizaciones que las han autorizado.", "The webhooks of all of the team's applications, across all tenants that have authorized them.";
        none: "Todavía no hay webhooks", "No webhooks yet";
        none_text: "Un webhook recibe en tu servidor los cambios de un recurso en cuanto ocurren. Tu aplicación se suscribe con el token de un usuario; el servicio envía entonces un Acknowledge, que tu servidor tiene que contestar con un 200. Suscríbete así:", "A webhook receives the changes of a resource on your server as they happen. Your application subscribes with a user's token; the service then sends an Acknowledge, which your server has to answer with 200. Subscribe like this:";
        none_found: "Ningún webhook cumple el filtro", "No webhook matches the filter";
        none_found_text: "Quita alguna condición.", "Remove a condition.";
        none_on_page: "En esta página ningún webhook cumple el filtro, pero quedan más por mirar.", "No webhook on this page matches the filter, but there are more to look at.";
        more: "Seguir buscando", "Keep searching";
        webhook: "Webhook", "Webhook";
        application: "Aplicación", "Application";
        tenant: "Organización", "Tenant";
        state: "Estado", "State";
        behind: "Pendientes", "Behind";
        behind_long: "Eventos pendientes", "Events behind";
        next_attempt: "Próximo intento", "Next attempt";
        any: "Cualquiera", "Any";
        url_part: "Parte de la URL", "Part of the URL";
        only_failing: "Solo los que fallan", "Failing only";
        state_active: "Activo", "Active";
        state_awaiting: "Esperando el contrato", "Awaiting contract";
        state_failing: "Falla", "Failing";
        state_suspended: "Suspendido", "Suspended";
        state_disabled: "Pausado", "Paused";
        state_disabled_by_service: "Desactivado por el servicio", "Disabled by the service";
        state_unsubscribed: "Suscripción cancelada", "Unsubscribed";
        state_deleted: "Eliminado", "Deleted";
        failing_since: "Falla desde el", "Failing since";
        since: "Desde el", "Since";
        disabled_on: "Se desactivó el", "It was disabled on";
        application_and_tenant: "Aplicación y organización", "Application and tenant";
        active_text: "Los eventos se entregan según ocurren.", "Events are delivered as they happen.";
        failing_text: "Los intentos continúan. Mira en las entregas qué contesta tu servidor y arréglalo: los eventos pendientes llegarán solos.", "Attempts continue. See in the deliveries what your server answers and fix it: the waiting events then arrive automatically.";
        disabled_at_about: "Si sigue así, el webhook se desactivará hacia el", "If this goes on, the webhook will be disabled at about";
        awaiting_text: "Tu servidor tiene que contestar con un 200 al evento Acknowledge. Hasta entonces no se entrega nada.", "Your server has to answer the Acknowledge event with 200. Nothing is delivered before it does.";
        awaiting_first: "Solo se entregan los eventos posteriores a su aceptación.", "Only events after its acceptance are delivered.";
        awaiting_again: "Los eventos esperan mientras tanto: no se pierde ninguno.", "Events wait meanwhile: none is lost.";
        disabled_text: "Lo ha pausado tu aplicación, tu equipo o el operador. Al activarlo continúa con el siguiente evento.", "Your application, your team or the operator has paused it. Once enabled, it goes on with the next event.";
        disabled_by_service_text: "Comprueba que tu servidor contesta y actívalo: continúa con el primer evento no entregado.", "Check that your server answers, then enable it: it goes on with the first undelivered event.";
        reason: "Motivo", "Reason";
        suspended_text: "No se envía nada mientras tanto, y sus entregas no se muestran. Después continúa con el primer evento no entregado.", "Nothing is sent meanwhile, and its deliveries are not shown. Afterwards it goes on with the first undelivered event.";
        suspended_and_paused_text: "Además está pausado: cuando la aplicación vuelva a tener acceso, actívalo para recibir eventos.", "It is paused, too: once the application has access again, enable it to receive events.";
        suspended_and_disabled_text: "Además el servicio lo había desactivado: cuando la aplicación vuelva a tener acceso, actívalo y continuará con el primer evento no entregado.", "The service had disabled it, too: once the application has access again, enable it, and it goes on with the first undelivered event.";
        unsubscribed_text: "Es definitivo. Suscríbete otra vez para tener un webhook nuevo.", "This is permanent. Subscribe again to get a new webhook.";
        deleted_text: "Es definitivo. Suscríbete otra vez para tener un webhook nuevo.", "This is permanent. Subscribe again to get a new webhook.";
        lost: "Algunos eventos no se entregarán nunca", "Some events will never be delivered";
        lost_text: "Eran más antiguos que lo que conserva el registro de cambios. Lee las listas del recurso para ponerte al día.", "They were older than the log's retention. Read the resource's lists to catch up.";
        host_mismatch: "Puede que el servidor no sea tuyo", "The receiver may not be yours";
        hidden: "El contenido no se muestra", "The content is not shown";
        hidden_text: "La aplicación no tiene ahora acceso a los datos de esta organización, así que tampoco se ven aquí sus eventos, entregas ni cifras.", "The application has no access to this tenant's data now, so its events, deliveries and figures cannot be seen here either.";
    }
}

texts! {
    /// One webhook: figures, facts, actions.
    pub OneWebhookText {
        deliveries: "Ver las entregas", "See the deliveries";
        figures: "Entregas", "Deliveries";
        figures_text: "Intentos de entregar eventos en su turno. No cuentan pruebas, reenvíos ni contratos.", "Attempts to deliver events in their turn. Tests, replays and contracts do not count.";
        span: "Periodo", "Period";
        day: "24 horas", "24 hours";
        week: "7 días", "7 days";
        success_rate: "Entregas correctas", "Success rate";
        p50: "Duración p50", "Duration p50";
        p95: "Duración p95", "Duration p95";
        attempts: "Intentos", "Attempts";
        hour: "Hora", "Hour";
        by_hour: "Intentos por hora", "Attempts per hour";
        by_six_hours: "Intentos cada seis horas", "Attempts per six hours";
        delivered: "Entregados", "Delivered";
        failed: "Fallidos", "Failed";
        no_figures: "No ha habido ningún intento en este periodo.", "There was no attempt in this period.";
        csv: "Descargar CSV", "Download CSV";
        facts: "Datos", "Facts";
        resource: "Recurso", "Resource";
        event_types: "Tipos de evento", "Event types";
        url: "URL", "URL";
        description: "Descripción", "Description";
        created: "Creado", "Created";
        handshake: "Contrato", "Contract";
        handshake_accepted: "Aceptado", "Accepted";
        handshake_pending: "Sin aceptar todavía", "Not accepted yet";
        handshake_attempts: "intentos fallidos", "failed attempts";
        asked: "pedido el", "requested";
        replays: "Pruebas y reenvíos", "Tests and replays";
        no_replays: "Todavía no se ha enviado ninguna prueba ni se ha reenviado nada.", "No test has been sent and nothing has been replayed yet.";
        kind: "Qué", "What";
        kind_test: "Evento de prueba", "Test event";
        kind_events: "Reenvío", "Replay";
        requested: "Pedido", "Requested";
        progress: "Progreso", "Progress";
        is_done: "Terminado", "Done";
        is_running: "En marcha", "Running";
        actions: "Acciones", "Actions";
        test: "Enviar un evento de prueba", "Send a test event";
        test_text: "Se envía ahora un evento generado, firmado como los demás. El resultado aparece debajo.", "A generated event is sent now, signed like the others. Its result appears below.";
        pause: "Pausar", "Pause";
        pause_text: "Deja de recibir eventos hasta que lo actives, y los pendientes se descartan. Al activarlo continúa con el siguiente evento: los que ocurran mientras está pausado no se entregan.", "It stops receiving events until you enable it, and waiting ones are dropped. Once enabled, it goes on with the next event: those that happen while it is paused are not delivered.";
        enable: "Activar", "Enable";
        change_url: "Cambiar la URL", "Change the URL";
        change_url_text: "La URL nueva tiene que aceptar un contrato nuevo. Mientras tanto los eventos esperan; no se pierde ninguno.", "The new URL has to accept a new contract. Events wait meanwhile; none is lost.";
        new_url: "URL nueva", "New URL";
        fixed_url: "La URL de una suscripción de facturación no se puede cambiar: elimínala y suscríbete otra vez.", "The URL of an invoicing subscription cannot be changed: delete it and subscribe again.";
        rotate: "Cambiar el secreto", "Rotate the secret";
        rotate_text: "Los eventos se firman con el secreto nuevo y, durante el plazo que elijas, también con el actual.", "Events are signed with the new secret and, for the time you choose, with the current one too.";
        secret: "Secreto nuevo (opcional)", "New secret (optional)";
        secret_hint: "Si lo dejas vacío, se genera uno.", "If empty, one is generated.";
        new_secret: "El secreto nuevo", "The new secret";
        new_secret_text: "Cópialo ahora: no se vuelve a mostrar.", "Copy it now: it is not shown again.";
        both_secrets: "El secreto anterior también firma hasta el", "The previous secret also signs until";
        replay: "Reenviar un periodo", "Replay a period";
        replay_text: "Envía otra vez los eventos de ese periodo que aún conserva el registro de cambios, además de las entregas normales. Las horas son UTC.", "Sends the events of that period again, as far as the log still has them, in addition to the regular deliveries. Times are UTC.";
        from: "Desde (UTC)", "From (UTC)";
        to: "Hasta (UTC)", "To (UTC)";
        to_hint: "Vacío: hasta ahora.", "Empty: until now.";
        only_active: "Las pruebas y los reenvíos necesitan un webhook activo.", "Tests and replays need an active webhook.";
        delete: "Eliminar el webhook", "Delete the webhook";
        delete_text: "Se elimina para siempre. Ya no se entregarán eventos, ni los pendientes ni los futuros, a", "It is deleted permanently. Events, waiting or future, are no longer delivered to";
        from_needed: "Escribe desde cuándo reenviar, como 2026-11-15T08:30.", "Enter the time from which to replay, like 2026-11-15T08:30.";
        time_invalid: "La hora no es válida. Escríbela como 2026-11-15T08:30.", "The time is not valid. Enter it like 2026-11-15T08:30.";
    }
}

/// The word for a status.
pub fn status_word(lang: Lang, status: WebhookStatus) -> &'static str {
    let text = WebhookText::of(lang);
    match status {
        WebhookStatus::Active => text.state_active,
        WebhookStatus::AwaitingContract => text.state_awaiting,
        WebhookStatus::Suspended => text.state_suspended,
        WebhookStatus::Disabled => text.state_disabled,
        WebhookStatus::DisabledByService => text.state_disabled_by_service,
        WebhookStatus::Unsubscribed => text.state_unsubscribed,
        WebhookStatus::Deleted => text.state_deleted,
    }
}

/// Why an action was refused; none for what is not the person's doing, or has no words of its own here.
pub fn action_refusal(lang: Lang, error: &ActionError) -> Option<String> {
    let Lang::Es = lang else { return None };
    let text = match error {
        ActionError::Deleted => "el webhook está eliminado, y eso es definitivo",
        ActionError::Unsubscribed => {
            "la suscripción se canceló definitivamente; suscríbete otra vez para tener un webhook nuevo"
        }
        ActionError::Duplicate => "otro webhook tuyo sería entonces idéntico; cambia o elimina ese otro",
        ActionError::FixedUrl => OneWebhookText::of(lang).fixed_url,
        ActionError::InvalidUrl(_) => {
            "la URL no es válida: tiene que ser completa, con https y sin usuario, contraseña ni fragmento"
        }
        ActionError::RefusedAddress(_) => {
            "la URL no se acepta: su servidor está en una red que no es pública; usa una dirección accesible desde internet"
        }
        ActionError::UnresolvedHost(_) => {
            "la URL no se acepta: el nombre de su servidor no existe en el DNS; corrígelo"
        }
        ActionError::NameServersSilent | ActionError::NotResolvedNow => {
            "el nombre del servidor no se puede resolver ahora; inténtalo de nuevo"
        }
        ActionError::ReservedAddress => {
            "la URL no se acepta: es del receptor integrado, que solo sirve a los webhooks de su entorno de pruebas"
        }
        ActionError::TooManyWebhooks(_) => {
            "la aplicación ya tiene todos los webhooks que se permiten; elimina alguno que no haga falta"
        }
        ActionError::InvalidSecret => "un secreto tiene de 1 a 256 bytes; elige otro",
        ActionError::OverlapTooLong => "el secreto anterior puede firmar una semana más como mucho",
        ActionError::NotFound | ActionError::Store(_) => return None,
    };
    Some(text.to_owned())
}

/// Why a test or a replay was refused; none for what is not the person's doing, or has no words of its own here.
pub fn replay_refusal(lang: Lang, reader: Reader, error: &HistoryError) -> Option<String> {
    if let HistoryError::Suspended(why) = error {
        return Some(suspension(lang, reader, *why).to_owned());
    }
    let Lang::Es = lang else { return None };
    let text = match error {
        HistoryError::EventPruned => {
            "el registro de cambios ya no conserva este evento, así que no se puede reenviar"
        }
        HistoryError::SpanReversed => "el principio del periodo no puede ser posterior a su final",
        HistoryError::NothingToReplay => {
            "el registro de cambios no conserva ningún evento de este webhook en ese periodo; elige otro"
        }
        HistoryError::NotEntitled => {
            "los eventos de ese periodo son anteriores al contrato del webhook; elige uno posterior"
        }
        HistoryError::Inactive(_) => OneWebhookText::of(lang).only_active,
        HistoryError::TooManyReplays(_) => {
            "ya hay demasiados reenvíos en marcha; espera a que termine alguno"
        }
        _ => return None,
    };
    Some(text.to_owned())
}
