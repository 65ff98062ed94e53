//! Words of the subscriptions' pages.

use pages::texts;

texts! {
    SubscriptionText {
        title: "Suscripciones", "Subscriptions";
        one: "Suscripción", "Subscription";
        lead: "Las claves de una suscripción dan acceso a sus productos, para las aplicaciones de su equipo o para todas.", "The keys of a subscription give access to its products, for the applications of its team or for all applications.";
        active: "Activa", "Active";
        suspended: "Suspendida", "Suspended";
        suspended_text: "Sus claves no funcionan hasta que la reanudes.", "Its keys do not work until you resume it.";
        cancelled: "Cancelada", "Cancelled";
        cancelled_text: "Está cancelada para siempre y ya no tiene claves.", "It is cancelled permanently and no longer has keys.";
        none: "Todavía no hay suscripciones", "No subscriptions yet";
        none_text: "Crea la primera aquí debajo, o espera a que un equipo pida una en el portal.", "Create the first one below, or wait until a team asks for one in the portal.";
        new: "Crear una suscripción", "Create a subscription";
        new_subscription: "La suscripción está creada", "The subscription has been created";
        every_client: "Vale para todas las aplicaciones", "Works for every application";
        team_hint: "Vacío: vale para todas las aplicaciones.", "Empty: it works for every application.";
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
        regenerate_text: "Se crea una clave nueva. La actual sigue valiendo durante el tiempo que elijas; después, lo que la use dejará de funcionar.", "A new key is created. The current one keeps working for the time that you choose; after that, whatever uses it stops working.";
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
        suspend_text: "Sus claves dejan de funcionar al momento, y los webhooks de las aplicaciones de su equipo que dependen de ella se suspenden. Se puede reanudar.", "Its keys stop working at once, and the webhooks of its team's applications that need it are suspended. You can resume it.";
        resume: "Reanudar", "Resume";
        resume_text: "Sus claves vuelven a funcionar.", "Its keys work again.";
        cancel: "Cancelar para siempre", "Cancel permanently";
        cancel_text: "Sus claves se borran y no se pueden recuperar. El uso se puede seguir consultando. Para volver a dar acceso hay que crear otra suscripción.", "Its keys are deleted and cannot be restored. Its usage can still be read. To give access again, create another subscription.";
    }
}
