//! Words of the audit, of who read what, and of the search.

use pages::texts;

texts! {
    AuditText {
        title: "Auditoría", "Audit";
        lead: "Quién hizo qué, cuándo y desde dónde. Cada cambio de administración, cada inicio de sesión y cada acceso concedido deja una entrada.", "Who did what, when and from where. Every administrative change, every sign-in and every grant of access leaves an entry.";
        kind: "Qué", "What";
        what: "Qué ocurrió", "What happened";
        actor: "Quién", "Who";
        target: "Sobre qué", "About";
        tenant: "Organización", "Tenant";
        user: "Usuario", "User";
        client: "Aplicación", "Application";
        request_id: "Petición", "Request";
        since: "Desde (UTC)", "From (UTC)";
        until: "Hasta (UTC)", "Until (UTC)";
        members: "campos", "members";
        not_shown: "cambió (no se muestra)", "changed (not shown)";
        none: "Todavía no hay entradas", "No entries yet";
        none_text: "La primera aparece con el primer inicio de sesión o el primer cambio.", "The first one appears with the first sign-in or the first change.";
        none_found: "Ninguna entrada cumple el filtro", "No entry matches the filter";
        none_found_text: "Quita alguna condición. Las entradas se borran cuando superan retention.audit.", "Remove a condition. Entries are deleted once they are older than retention.audit.";
        none_here: "Nada en este tramo", "Nothing in this part";
        none_here_text: "En las entradas miradas hasta ahora no hay ninguna que cumpla el filtro, pero quedan más antiguas.", "None of the entries looked at so far match the filter, but there are older ones.";
        look_further: "Seguir buscando", "Look further";
        wrong_filter: "Un filtro no es válido", "A filter is not valid";
        wrong_filter_text: "«Quién» es operator, token, cli, user, developer, client, service o anonymous, o uno de ellos con su identificador: cli:ana. Las horas van como 2026-11-15T08:30.", "“Who” is operator, token, cli, user, developer, client, service or anonymous, or one of them with its id: cli:ana. Times are written as 2026-11-15T08:30.";
    }
}

texts! {
    ReadText {
        wrong_filter: "Un filtro no es válido", "A filter is not valid";
        wrong_filter_text: "Un recurso se escribe con su área, como accounting/customers; una fecha, como 2026-11-15.", "A resource is written with its area, like accounting/customers; a date, like 2026-11-15.";
        title: "Quién leyó qué", "Who read what";
        lead: "Qué aplicación leyó qué recurso de qué empresa, cuántas veces y a qué hora (UTC). Los registros sueltos no se nombran.", "Which application read which resource of which company, how often and at what hour (UTC). Single records are not named.";
        choose: "Elige una organización", "Choose a tenant";
        choose_text: "Las lecturas se guardan por organización.", "Reads are kept per tenant.";
        tenant: "Organización", "Tenant";
        other_tenant: "Otra organización", "Another tenant";
        show: "Ver sus lecturas", "Show its reads";
        day: "Día (UTC)", "Day (UTC)";
        client: "Aplicación", "Application";
        resource: "Recurso", "Resource";
        company: "Empresa", "Company";
        reads: "Lecturas", "Reads";
        hours: "Horas (UTC)", "Hours (UTC)";
        since: "Desde el día (UTC)", "From day (UTC)";
        until: "Hasta el día (UTC)", "To day (UTC)";
        of_tenant: "De la organización", "Of the tenant";
        several: "Varias", "Several";
        several_title: "Hay más empresas de las que caben en un día: se cuentan sin nombrarlas.", "There are more companies than fit into a day: they are counted without their names.";
        none: "Nadie ha leído nada todavía", "Nobody has read anything yet";
        none_text: "Las lecturas aparecen pocos segundos después de la primera llamada a la API, y se guardan el tiempo que diga retention.reads.", "Reads appear a few seconds after the first API call, and are kept as long as retention.reads says.";
        none_found: "Ninguna lectura cumple el filtro", "No read matches the filter";
        none_found_text: "Quita alguna condición, o mira otros días.", "Remove a condition, or look at other days.";
        unknown_tenant: "No existe esa organización", "There is no such tenant";
        unknown_tenant_text: "Comprueba el identificador, o elige una de la lista. Las lecturas de una organización borrada se borran con ella.", "Check the id, or choose one from the list. The reads of an erased tenant are erased with it.";
        sandbox: "Es un entorno de pruebas", "This is a sandbox";
        sandbox_text: "Las lecturas de los entornos de pruebas no se cuentan.", "Reads of sandboxes are not counted.";
        no_tenants: "Todavía no hay organizaciones", "No tenants yet";
        no_tenants_text: "Añade el primero; sus lecturas aparecerán aquí.", "Add the first one; its reads will appear here.";
    }
}

texts! {
    SearchText {
        title: "Buscar", "Search";
        lead: "Escribe un identificador completo de una organización, usuario, equipo, aplicación, suscripción, webhook, registro o petición; un correo electrónico; o el OutgoingId de una entrega.", "Type a complete id of a tenant, user, team, application, subscription, webhook, record or request; an email address; or the OutgoingId of a delivery.";
        field: "Identificador o correo", "Id or email address";
        search: "Buscar", "Search";
        found_one: "Esto es lo que buscas", "This is what you are looking for";
        open: "Abrir", "Open";
        results: "Resultados", "Results";
        results_count: "resultados", "results";
        company: "Empresa", "Company";
        kind: "Qué es", "What it is";
        name: "Nombre", "Name";
        belongs_to: "De", "Of";
        none: "No se ha encontrado nada", "Nothing was found";
        none_text: "Los identificadores se comparan letra por letra: pega el valor entero. Los registros se buscan en las 2000 organizaciones más recientes, y los OutgoingId en los 10 000 webhooks más recientes.", "Ids are compared letter by letter: paste the whole value. Records are looked for in the newest 2,000 tenants, and OutgoingIds in the newest 10,000 webhooks.";
        too_long: "La búsqueda es demasiado larga", "The search is too long";
        too_long_text: "Escribe 254 caracteres como máximo.", "Type at most 254 characters.";
        tenant: "Organización", "Tenant";
        user: "Usuario", "User";
        developer: "Desarrollador", "Developer";
        operator: "Operador", "Operator";
        invitation: "Invitación", "Invitation";
        token: "Token de la API", "API token";
        team: "Equipo", "Team";
        client: "Aplicación", "Application";
        subscription: "Suscripción", "Subscription";
        request: "Solicitud", "Request of a team";
        webhook: "Webhook", "Webhook";
        delivery: "Entrega", "Delivery";
        record: "Registro", "Record";
        audit: "Auditoría de la petición", "Audit of the request";
        call: "Llamada a la API", "API call";
    }
}
