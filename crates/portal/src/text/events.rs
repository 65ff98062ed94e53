//! Words of the event catalogue.

use pages::texts;
use ui::Lang;

texts! {
    EventsText {
        title: "Eventos", "Events";
        lead: "Todos los eventos que puede recibir un webhook: cuándo se envían, con qué cuerpo, y cómo suscribirte. Sale del documento AsyncAPI, así que es exactamente lo que se entrega.", "Every event that a webhook can receive: when it is sent, with which body, and how to subscribe. It comes from the AsyncAPI document, so it is exactly what is delivered.";
        document: "Documento AsyncAPI", "AsyncAPI document";
        search: "Buscar", "Search";
        area: "Área", "Area";
        resource: "Recurso", "Resource";
        events: "Eventos", "Events";
        none: "Ningún evento coincide", "No event matches";
        none_text: "Prueba con otra palabra: busca en los nombres y en las explicaciones, que están en inglés.", "Try another word: names and explanations are searched.";
        clear: "Ver todos", "Show all";
        count_one: "evento", "event";
        count_many: "eventos", "events";
        accounting: "Contabilidad", "Accounting";
        core: "Datos generales", "Core data";
        import: "Importación", "Import";
        payroll: "Nóminas", "Payroll";
        invoicing: "Facturación", "Invoicing";
    }
}

texts! {
    /// One event.
    EventText {
        title: "Evento", "Event";
        when: "Cuándo se envía", "When it is sent";
        answer: "Qué responder", "What to answer";
        english: "El texto viene del documento AsyncAPI, que está en inglés.", "";
        body: "Cuerpo", "Body";
        member: "Campo", "Member";
        kind: "Tipo", "Type";
        required: "Obligatorio", "Required";
        meaning: "Significado", "Meaning";
        always: "siempre", "always";
        inside: "dentro de", "inside";
        example: "Ejemplo", "Example";
        inner: "El texto de ese campo, leído como JSON:", "The text of this member, read as JSON:";
        headers: "Cabeceras de una entrega", "Headers of a delivery";
        header: "Cabecera", "Header";
        signature: "Firma", "Signature";
        signature_is: "Cada entrega va firmada con el secreto del webhook, en la cabecera", "Every delivery is signed with the webhook's secret, in the header";
        signature_how: "Compárala con el HMAC-SHA256 del cuerpo tal como llegó, antes de interpretarlo, y responde 401 si no coincide.", "Compare it with the HMAC-SHA256 of the body as it arrived, before you parse it, and answer 401 if it differs.";
        debugger: "Comprobar una firma", "Check a signature";
        subscribe: "Cómo suscribirte", "How to subscribe";
        subscribe_text: "Con un token de la persona usuaria en $ACCESS y tu clave de suscripción en $KEY. Pon la dirección de tu receptor y un secreto tuyo, largo y aleatorio.", "With a token of the user in $ACCESS and your subscription key in $KEY. Put in your receiver's address and a secret of your own, long and random.";
        send: "Envíame uno", "Send me one";
        send_text: "Se envía al momento un evento generado de este tipo, firmado como cualquier otro: la empresa y el registro son ceros, el usuario es «test» y no lleva datos de nadie. Si tu receptor falla, no se reintenta.", "A generated event of this type is sent at once, signed like any other: company and record are zeros, the user is \"test\", and it carries nobody's data. If your receiver fails, it is not retried.";
        webhook: "Webhook", "Webhook";
        or_id: "Otro webhook, por su id", "Another webhook, by its id";
        or_id_hint: "Aquí solo caben los 100 primeros.", "Only the first 100 fit here.";
        send_button: "Enviar un evento de prueba", "Send a test event";
        no_webhook: "Ningún webhook activo recibe este evento", "No active webhook receives this event";
        no_webhook_text: "Suscribe uno con el comando de arriba. Cuando tu receptor acepte el contrato, podrás enviarle aquí un evento de prueba.", "Subscribe one with the command above. Once your receiver has accepted the contract, you can send it a test event here.";
        not_subscribable: "Llega con cada suscripción; no hay que suscribirse a él.", "It comes with every subscription; there is no need to subscribe to it.";
    }
}

impl EventsText {
    /// The name of an area, by its name in the catalogue of resources.
    pub(crate) fn area_name(lang: Lang, area: &str) -> &str {
        let text = Self::of(lang);
        match area {
            "accounting" => text.accounting,
            "core" => text.core,
            "import" => text.import,
            "payroll" => text.payroll,
            "invoicing" => text.invoicing,
            other => other,
        }
    }
}
