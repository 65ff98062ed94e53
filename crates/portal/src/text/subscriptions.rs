//! Words of the subscriptions' pages.

use pages::texts;

texts! {
    SubscriptionText {
        title: "Suscripciones", "Subscriptions";
        one: "Suscripción", "Subscription";
        lead: "Una suscripción da acceso a un producto. Su clave va en la cabecera Ocp-Apim-Subscription-Key de cada llamada.", "A subscription gives access to a product. Its key goes into the Ocp-Apim-Subscription-Key header of every call.";
        name: "Nombre", "Name";
        products: "Productos", "Products";
        product: "Producto", "Product";
        limits: "Llamadas por minuto", "Calls per minute";
        status: "Estado", "State";
        since: "Desde", "Since";
        active: "Activa", "Active";
        suspended: "Suspendida", "Suspended";
        suspended_text: "El operador la ha suspendido: sus claves no funcionan. Escribe a la persona de contacto.", "The operator has suspended it: its keys do not work. Write to the contact.";
        cancelled: "Cancelada", "Cancelled";
        sandbox: "Entorno de pruebas", "Sandbox";
        per_day: "Llamadas por día", "Calls per day";
        unlimited: "Sin límite", "No limit";
        none: "Todavía no hay suscripciones", "No subscriptions yet";
        none_text: "Pide una aquí debajo. Las del entorno de pruebas pueden aprobarse al momento; las que dan acceso a datos reales las aprueba el operador.", "Ask for one below. Those for the sandbox may be approved at once; the operator approves those that give access to real data.";
        ask: "Pedir una suscripción", "Ask for a subscription";
        ask_sandbox: "Solo para el entorno de pruebas", "For the sandbox only";
        ask_note: "Para qué la necesitas", "What you need it for";
        ask_note_hint: "Ayuda al operador a decidir. Opcional.", "Helps the operator to decide. Optional.";
        send: "Enviar la solicitud", "Send the request";
        pending: "Solicitudes del equipo", "The team's requests";
        asked: "Pedida", "Asked";
        pending_state: "Pendiente", "Pending";
        refused_state: "Rechazada", "Refused";
        approved_state: "Aprobada", "Approved";
        withdrawn_state: "Retirada", "Withdrawn";
        withdraw: "Retirar", "Withdraw";
        reason: "Motivo", "Reason";
        keys: "Claves", "Keys";
        keys_text: "Las dos claves valen lo mismo: mientras cambias una en tu aplicación, la otra sigue funcionando.", "Two keys with the same rights: while you replace one in your application, the other one keeps working.";
        primary: "Principal", "Primary";
        secondary: "Secundaria", "Secondary";
        key: "Clave", "Key";
        last_used: "Último uso", "Last used";
        valid_until: "Vale hasta", "Valid until";
        replaced: "sustituida", "replaced";
        reveal: "Mostrar", "Reveal";
        reveal_text: "Te pediremos que confirmes quién eres si hace rato que iniciaste sesión. Cada vez que se muestra queda registrada en la auditoría.", "You are asked to confirm your identity if you signed in a while ago. The audit records every reveal.";
        revealed_primary: "La clave principal", "The primary key";
        revealed_secondary: "La clave secundaria", "The secondary key";
        revealed_text: "Guárdala como una contraseña: da acceso a los datos de las empresas que autoricen tus aplicaciones.", "Keep it like a password: it gives access to the data of the companies that authorize your applications.";
        regenerate: "Regenerar", "Regenerate";
        regenerate_text: "Se crea una clave nueva. La actual sigue valiendo durante el tiempo que elijas; después, lo que la use dejará de funcionar.", "A new key is created. The current one keeps working for the time that you choose; after that, whatever uses it stops working.";
        overlap: "Mantener el valor actual durante", "Keep the current one for";
        overlap_none: "Sin plazo: deja de valer ya", "No time: it stops working now";
        hour: "1 hora", "1 hour";
        day: "1 día", "1 day";
        week: "7 días", "7 days";
        new_primary: "La clave principal nueva", "The new primary key";
        new_secondary: "La clave secundaria nueva", "The new secondary key";
        usage: "Uso", "Usage";
        usage_today: "Hoy", "Today";
        usage_of_quota: "de la cuota diaria", "of the daily quota";
        calls: "Llamadas", "Calls";
        succeeded: "Correctas", "Succeeded";
        failed: "Con error", "Failed";
        date: "Día (UTC)", "Day (UTC)";
        route: "Ruta", "Route";
        by_route: "Por ruta, últimos 30 días", "By route, last 30 days";
        by_day: "Por día, últimos 30 días", "By day, last 30 days";
        no_usage: "Todavía no hay llamadas con esta suscripción.", "There are no calls with this subscription yet.";
        see_calls: "Ver las llamadas", "See its calls";
        accounting: "Contabilidad", "Accounting";
        payroll: "Nóminas", "Payroll";
        invoicing: "Facturación", "Invoicing";
        accounting_text: "Empresas, clientes, cuentas, asientos e impuestos, y sus webhooks.", "Companies, customers, accounts, entries and taxes, and their webhooks.";
        payroll_text: "Las empresas de nóminas, con filtros y orden.", "Payroll's companies, with filters and sorting.";
        invoicing_text: "Presupuestos, pedidos, facturas y el resto de documentos, y sus webhooks.", "Quotes, orders, invoices and the other documents, and their webhooks.";
    }
}
