//! Words that every page uses: the navigation, errors.

use pages::texts;

texts! {
    /// The navigation and what surrounds every page.
    CommonText {
        portal: "Portal de desarrolladores", "Developer portal";
        home: "Inicio", "Home";
        build: "Integrar", "Build";
        observe: "Observar", "Observe";
        manage: "Gestionar", "Manage";
        subscriptions: "Suscripciones", "Subscriptions";
        applications: "Aplicaciones", "Applications";
        reference: "Referencia", "Reference";
        sandbox: "Entorno de pruebas", "Sandbox";
        events: "Eventos", "Events";
        calls: "Llamadas", "Calls";
        webhooks: "Webhooks", "Webhooks";
        signature: "Firmas", "Signatures";
        notices: "Avisos", "Notices";
        team: "Equipo", "Team";
        sign_out: "Cerrar sesión", "Sign out";
        sign_in: "Iniciar sesión", "Sign in";
        register: "Crear una cuenta", "Create an account";
        live: "En directo", "Live";
        contact: "Contacto", "Contact";
        save: "Guardar", "Save";
        filter: "Filtrar", "Filter";
        clear_filter: "Quitar el filtro", "Clear the filter";
        all: "Todos", "All";
        time: "Hora", "Time";
        yes: "Sí", "Yes";
        no: "No", "No";
        never: "Nunca", "Never";
    }
}
