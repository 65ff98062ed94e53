//! Words that several pages of the area use.

use pages::texts;

texts! {
    AreaText {
        id: "Identificador", "Id";
        name: "Nombre", "Name";
        team: "Equipo", "Team";
        team_id: "Identificador del equipo", "Id of the team";
        team_hint: "Vacío: no pertenece a ningún equipo.", "Empty: it belongs to no team.";
        no_team: "Ninguno", "None";
        products: "Productos", "Products";
        accounting: "Contabilidad", "Accounting";
        payroll: "Nóminas", "Payroll";
        invoicing: "Facturación", "Invoicing";
        sandbox: "Entorno de pruebas", "Sandbox";
        sandbox_only: "Solo para el entorno de pruebas", "For the sandbox only";
        sandbox_only_hint: "Sin marcar, da acceso también a los datos de organizaciones reales.", "If unchecked, it also gives access to the data of real tenants.";
        search: "Nombre o identificador", "Name or id";
        search_hint: "Basta el comienzo", "The beginning is enough";
        none_found: "Nada coincide con el filtro", "Nothing matches the filter";
        none_found_text: "La búsqueda encuentra lo que empieza por el texto, en el nombre o en el identificador. Prueba con menos letras, o quita el filtro.", "The search finds names and ids that begin with the text. Try fewer letters, or clear the filter.";
        confirm: "Escribe el identificador para confirmar", "Type the id to confirm";
        overlap: "Mantener el valor actual durante", "Keep the current one for";
        overlap_none: "Sin plazo: deja de valer ya", "No time: it stops working now";
        hour: "1 hora", "1 hour";
        day: "1 día", "1 day";
        week: "7 días", "7 days";
        month: "30 días", "30 days";
        quarter: "90 días", "90 days";
        year: "1 año", "1 year";
        no_end: "No caduca", "It does not expire";
        shown_once: "Cópialo ahora y entrégalo por un canal seguro: no se vuelve a mostrar.", "Copy it now and hand it over through a safe channel: it is not shown again.";
        old_until: "El valor anterior sigue valiendo hasta", "The previous one is still valid until";
        go_on: "Ya lo he copiado", "I have copied it";
        see_webhooks: "Ver sus webhooks", "See its webhooks";
        see_all: "Ver todo", "See all";
    }
}
