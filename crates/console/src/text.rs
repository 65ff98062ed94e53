//! Texts that every page uses, and what pages say after an action. Each area has its own texts beside its pages.

use pages::{sentence, texts};
use ui::Lang;

use crate::{accounts, applications, audit, data, operations, overview, webhooks};

texts! {
    /// The navigation and what surrounds every page.
    CommonText {
        console: "Consola", "Console";
        overview: "Resumen", "Overview";
        search: "Buscar", "Search";
        requests: "Solicitudes", "Requests";
        people: "Personas", "People";
        tenants: "Organizaciones", "Tenants";
        users: "Usuarios", "Users";
        developers: "Desarrolladores", "Developers";
        teams: "Equipos", "Teams";
        operators: "Operadores", "Operators";
        invitations: "Invitaciones", "Invitations";
        integrations: "Integraciones", "Integrations";
        clients: "Aplicaciones", "Applications";
        subscriptions: "Suscripciones", "Subscriptions";
        webhooks: "Webhooks", "Webhooks";
        tokens: "Tokens de la API", "API tokens";
        records: "Registros", "Logs";
        audit: "Auditoría", "Audit";
        reads: "Quién leyó qué", "Who read what";
        service: "Servicio", "Service";
        doctor: "Diagnóstico", "Doctor";
        configuration: "Configuración", "Configuration";
        backups: "Copias de seguridad", "Backups";
        signing_keys: "Claves de firma", "Signing keys";
        sign_out: "Cerrar sesión", "Sign out";
        live: "En directo", "Live";
        save: "Guardar", "Save";
        filter: "Filtrar", "Filter";
        clear_filter: "Quitar el filtro", "Clear the filter";
        all: "Todos", "All";
        time: "Hora", "Time";
        state: "Estado", "State";
        created: "Creado", "Created";
        actions: "Acciones", "Actions";
        yes: "Sí", "Yes";
        no: "No", "No";
        never: "Nunca", "Never";
        none: "Ninguno", "None";
        fresh_needed: "Antes tienes que confirmar otra vez quién eres.", "You have to confirm your identity again first.";
    }
}

/// A code of an action, and what its page says afterwards in Spanish and English.
pub(crate) type Done = (&'static str, &'static str, &'static str);

/// A reason of a refusal in English and Spanish; `{}` stands for what the reason names.
pub(crate) type Refusal = (&'static str, &'static str);

pub(crate) fn done(lang: Lang, code: &str) -> Option<&'static str> {
    let areas = [
        overview::DONE,
        applications::DONE,
        accounts::DONE,
        data::DONE,
        webhooks::DONE,
        audit::DONE,
        operations::DONE,
    ];
    let (_, es, en) = areas.into_iter().flatten().find(|(known, ..)| *known == code)?;
    Some(match lang {
        Lang::Es => es,
        Lang::En => en,
    })
}

/// Why an action was refused. The rules that refuse it are shared with the operator's API, which says the reasons in English.
pub(crate) fn refusal(lang: Lang, why: &str) -> String {
    let areas = [
        overview::REFUSALS,
        accounts::REFUSALS,
        applications::REFUSALS,
        data::REFUSALS,
        webhooks::REFUSALS,
        operations::REFUSALS,
        pages::SHARED_REASONS,
    ];
    let all = areas.into_iter().flatten();
    match lang {
        Lang::Es => pages::translate_reason(all, why).unwrap_or_else(|| sentence(why)),
        Lang::En => sentence(why),
    }
}
