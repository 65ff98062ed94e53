//! Words of the subscriptions' pages.

use pages::texts;

texts! {
    SubscriptionText {
        title: "Suscripciones", "Subscriptions";
        one: "Suscripción", "Subscription";
        lead: "Una suscripción abre productos con sus claves, para las aplicaciones de su equipo o para todas.", "A subscription opens products with its keys, for the applications of its team or for all.";
        active: "Activa", "Active";
        suspended: "Suspendida", "Suspended";
        suspended_text: "Sus claves no abren nada hasta que la reanudes.", "Its keys open nothing until you resume it.";
        cancelled: "Cancelada", "Cancelled";
        cancelled_text: "Está cancelada para siempre y ya no tiene claves.", "It is cancelled for good and has no keys any more.";
        none: "Todavía no hay suscripciones", "No subscriptions yet";
        none_text: "Crea la primera aquí debajo, o espera a que un equipo pida una en el portal.", "Make the first one below, or wait until a team asks for one in the portal.";
        new: "Crear una suscripción", "Make a subscription";
        new_subscription: "La suscripción está creada", "The subscription has been made";
        every_client: "Abre para todas las aplicaciones", "Opens for every application";
        team_hint: "Vacío: abre para todas las aplicaciones.", "Empty: it opens for every application.";
        per_minute: "Llamadas por minuto", "Calls per minute";
        per_day: "Llamadas por día", "Calls per day";
        quota: "Cuota diaria", "Daily quota";
        quota_hint: "Vacío: la de la configuración.", "Empty: the configured one.";
        own_quota: "propia", "its own";
        unlimited: "Sin límite", "No limit";
        keys: "Claves", "Keys";
        key: "Clave", "Key";
        primary: "Principal", "Primary";
        secondary: "Secundaria", "Secondary";
        last_used: "Último uso", "Last used";
        valid_until: "Vale hasta", "Valid until";
        replaced: "sustituida", "replaced";
        regenerate: "Regenerar", "Regenerate";
        regenerate_text: "Se crea una clave nueva. La actual sigue valiendo durante el tiempo que elijas; después, lo que la use dejará de funcionar.", "A new key is made. The current one keeps working for the time that you choose; after that, whatever uses it stops working.";
        new_primary: "La clave principal nueva", "The new primary key";
        new_secondary: "La clave secundaria nueva", "The new secondary key";
        usage: "Uso", "Usage";
        today: "Hoy", "Today";
        of_quota: "de la cuota diaria", "of the daily quota";
        calls: "Llamadas", "Calls";
        succeeded: "Correctas", "Succeeded";
        failed: "Con error", "Failed";
        date: "Día (UTC)", "Day (UTC)";
        route: "Ruta", "Route";
        by_route: "Por ruta, últimos 30 días", "By route, last 30 days";
        by_day: "Por día, últimos 30 días", "By day, last 30 days";
        no_usage: "No hay llamadas en los últimos 30 días.", "There are no calls in the last 30 days.";
        change: "Cambiar la suscripción", "Change the subscription";
        suspend: "Suspender", "Suspend";
        suspend_text: "Sus claves dejan de abrir al momento, y los webhooks de las aplicaciones de su equipo que dependen de ella se suspenden. Se puede reanudar.", "Its keys stop working at once, and the webhooks of its team's applications that need it are suspended. You can resume it.";
        resume: "Reanudar", "Resume";
        resume_text: "Sus claves vuelven a abrir.", "Its keys work again.";
        cancel: "Cancelar para siempre", "Cancel for good";
        cancel_text: "Sus claves se borran y no se pueden recuperar. El uso se puede seguir consultando. Para volver a dar acceso hay que crear otra suscripción.", "Its keys are deleted and cannot be restored. Its usage can still be read. To give access again, make another subscription.";
    }
}
