//! Words that every page uses: the navigation, errors.

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
        calls: "Peticiones", "Requests";
        webhooks: "Webhooks", "Webhooks";
        signature: "Depurador de firmas", "Signature debugger";
        notices: "Avisos", "Notices";
        team: "Equipo", "Team";
        sign_out: "Cerrar sesión", "Sign out";
        sign_in: "Iniciar sesión", "Sign in";
        register: "Crear una cuenta", "Create an account";
        live: "En directo", "Live";
        contact: "Contacto", "Contact";
        save: "Guardar", "Save";
        filter: "Filtrar", "Filter";
        all: "Todos", "All";
        time: "Hora", "Time";
        yes: "Sí", "Yes";
        no: "No", "No";
        never: "Nunca", "Never";
    }
}

texts! {
    /// Error pages.
    ErrorText {
        not_found: "Esta página no existe", "This page does not exist";
        not_found_text: "Puede que el enlace esté incompleto, o que pertenezca a otro equipo. Vuelve al inicio y búscalo desde allí.", "The link may be incomplete, or belong to another team. Go back to the start and look for it from there.";
        refused: "No se ha podido hacer", "This could not be done";
        forbidden: "No tienes permiso para hacer esto", "You are not allowed to do this";
        expired: "El formulario ha caducado", "The form has expired";
        expired_text: "Vuelve a la página, recárgala y repite la acción.", "Go back to the page, reload it and repeat the action.";
        unavailable: "El servicio está ocupado", "The service is busy";
        unavailable_text: "No se ha perdido nada. Inténtalo de nuevo dentro de unos segundos.", "Nothing has been lost. Try again in a few seconds.";
        internal: "Algo ha fallado por nuestra parte", "Something went wrong on our side";
        internal_text: "El error ha quedado registrado. Si se repite, escribe a la persona de contacto con el número de petición.", "The error has been logged. If it happens again, write to the contact with the request id.";
        request_id: "Número de petición", "Request id";
        back: "Volver al inicio", "Back to the start";
    }
}
