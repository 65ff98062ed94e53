//! Words of the pages of deliveries.

use crate::texts;
use domain::delivery::{AttemptOccasion, DeliveryStatus};
use ui::Lang;

texts! {
    pub DeliveryText {
        webhooks: "Webhooks", "Webhooks";
        title: "Entregas", "Deliveries";
        lead: "Cada evento que se ha enviado a este webhook, con su último intento. Las que fallan se reintentan solas hasta que el receptor las acepte o se acabe el plazo de reintentos.", "Every event that was sent to this webhook, with its last attempt. Failed deliveries are retried until the receiver accepts them or the retry window ends.";
        none: "Todavía no se ha enviado nada", "Nothing has been sent yet";
        none_text: "Una entrega es un evento enviado a tu receptor: aparece aquí en cuanto cambie un registro del que este webhook avisa. Para ver la primera, cambia un registro en el entorno de pruebas o envía un evento de prueba desde la página del webhook.", "A delivery is an event that was sent to your receiver: it appears here as soon as a record changes that this webhook tells of. To see the first one, change a record in the sandbox, or send a test event from the webhook's page.";
        none_text_operator: "Una entrega es un evento enviado al receptor: aparece aquí en cuanto cambie un registro del que este webhook avisa. Para ver la primera, envía un evento de prueba desde la página del webhook.", "A delivery is an event that was sent to the receiver: it appears here as soon as a record changes that this webhook tells of. To see the first one, send a test event from the webhook's page.";
        to_webhook: "Ir al webhook", "Go to the webhook";
        none_found: "Ninguna entrega cumple el filtro", "No delivery matches the filter";
        none_found_text: "Quita alguna condición. El evento y el registro solo se pueden buscar mientras el evento se conserva.", "Remove a condition. You can search by event and record only while the event is kept.";
        none_here: "Nada en este tramo", "Nothing in this part";
        none_here_text: "Ninguna de las entregas revisadas hasta ahora cumple el filtro, pero las hay más antiguas.", "None of the deliveries searched so far matches the filter, but there are older ones.";
        look_further: "Seguir buscando", "Keep searching";
        status: "Estado", "Status";
        any: "Cualquiera", "Any";
        event: "Evento", "Event";
        record: "Registro", "Record";
        record_hint: "correlationId", "correlationId";
        company: "Empresa", "Company";
        since: "Desde (UTC)", "From (UTC)";
        until: "Hasta (UTC)", "Until (UTC)";
        attempts: "Intentos", "Attempts";
        next_attempt: "Próximo intento", "Next attempt";
        delivered: "Entregada", "Delivered";
        waiting: "En espera", "Waiting";
        failed: "Fallida", "Failed";
        unknown: "Sin datos", "No data";
        unknown_text: "No se sabe nada de esta entrega: el webhook estaba desactivado entonces, o su historial ya no se conserva.", "Nothing is known about this delivery: the webhook was disabled then, or its history is no longer kept.";
        not_kept: "Ya no se conserva", "No longer kept";
        suspended: "El webhook está suspendido", "The webhook is suspended";
        suspended_text: "Mientras dure no se envía nada, y aquí no se ven ni los eventos ni los registros ni lo que se envió: solo se muestra lo que la aplicación puede recibir ahora. Después, las entregas siguen desde el primer evento pendiente.", "Until that changes nothing is sent, and neither events nor records nor what was sent can be seen here: only what the application may receive now is shown. Afterwards deliveries go on from the first waiting event.";
        wrong_status: "Elige un estado de la lista.", "Choose a status from the list.";
        wrong_event: "Este webhook no tiene ese evento. Elige uno de la lista.", "This webhook has no such event. Choose one from the list.";
        wrong_time: "La hora del filtro tiene que ser como 2026-11-15T08:30, en UTC.", "The filter's time must look like 2026-11-15T08:30, in UTC.";
        wrong_record: "El registro del filtro es demasiado largo para ser un correlationId.", "The filter's record is too long to be a correlationId.";
        wrong_page: "Ese enlace de página no es de esta lista. Vuelve a la primera página.", "That page link does not belong to this list. Go back to the first page.";
    }
}

texts! {
    /// The page of one delivery.
    pub OneDeliveryText {
        title: "Entrega", "Delivery";
        outgoing_id: "OutgoingId", "OutgoingId";
        sequence: "Número en el registro de cambios", "Number in the log";
        address: "Dirección", "Address";
        delivered_at: "Entregada", "Delivered";
        of_tenant: "De la organización entera", "Of the whole tenant";
        diagnosis: "Diagnóstico", "Diagnosis";
        resolved: "Falló antes y ya se ha entregado", "It failed before and has been delivered since";
        to_do: "Qué hacer", "What to do";
        to_do_operator: "Qué tiene que hacer quien lleva el receptor", "What the receiver's owner should do";
        side: "Dónde", "Where";
        no_attempts: "Todavía no se ha intentado, o los intentos ya no se conservan.", "It has not been attempted yet, or its attempts are no longer kept.";
        attempt: "Intento", "Attempt";
        accepted: "Aceptado", "Accepted";
        rejected: "Fallido", "Failed";
        no_status: "Sin respuesta", "No response";
        reason: "Motivo guardado", "Stored reason";
        excerpt: "Comienzo de la respuesta", "Beginning of the response";
        duration: "Duración", "Duration";
        time_split: "En qué se fue el tiempo", "Where the time went";
        phase: "Fase", "Phase";
        dns: "DNS", "DNS";
        connect: "Conexión", "Connect";
        tls: "TLS", "TLS";
        first_byte: "Primer byte", "First byte";
        rest: "Resto", "Rest";
        total: "Total", "Total";
        reused: "Se usó una conexión ya abierta.", "A connection that was already open was used.";
        only_total: "De las entregas en su turno que se aceptaron solo se conserva la duración total.", "For accepted deliveries in their turn, only the total duration is kept.";
        show_table: "Ver como tabla", "Show as table";
        csv: "Descargar CSV", "Download CSV";
        body: "Cuerpo", "Body";
        pretty: "Con formato", "Pretty";
        raw: "Tal cual se envió", "As sent";
        body_text: "Reconstruido del registro de cambios: los mismos bytes en todos los intentos.", "Rebuilt from the log: the same bytes on every attempt.";
        body_gone: "El cuerpo ya no se conserva: el registro de cambios empieza después de este evento. Lee el registro por la API para ver cómo está ahora.", "The body is no longer kept: the log begins after this event. Read the record through the API to see how it is now.";
        curl: "Copiar como curl", "Copy as curl";
        curl_text: "Para repetir la petición contra tu receptor. Las firmas no están: se calculan con el secreto, que aquí no se muestra. Para probar con una firma válida, reenvía la entrega.", "To repeat the request against your receiver. The signatures are left out: they are computed with the secret, which is not shown here. To try with a valid signature, send the delivery again.";
        replay: "Reenviar", "Send again";
        replay_text: "Envía ahora el mismo cuerpo con el mismo OutgoingId y una firma nueva, fuera de turno. No cambia el orden de las demás entregas.", "Sends the same body with the same OutgoingId and a new signature now, out of turn. The order of other deliveries does not change.";
        replay_gone: "No se puede reenviar: el evento ya no se conserva.", "It cannot be sent again: the event is no longer kept.";
    }
}

pub fn status_word(lang: Lang, status: DeliveryStatus) -> &'static str {
    let text = DeliveryText::of(lang);
    match status {
        DeliveryStatus::Delivered => text.delivered,
        DeliveryStatus::Waiting => text.waiting,
        DeliveryStatus::Failed => text.failed,
        DeliveryStatus::Unknown => text.unknown,
    }
}

pub fn occasion_word(lang: Lang, occasion: AttemptOccasion) -> &'static str {
    let (es, en) = match occasion {
        AttemptOccasion::Event => ("Entrega en su turno", "Delivery in its turn"),
        AttemptOccasion::Handshake => ("Contrato", "Contract"),
        AttemptOccasion::Replay => ("Reenvío", "Sent again"),
        AttemptOccasion::Test => ("Evento de prueba", "Test event"),
    };
    match lang {
        Lang::Es => es,
        Lang::En => en,
    }
}
