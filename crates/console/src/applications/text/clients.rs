//! Words of the applications' pages.

use pages::texts;

texts! {
    ClientText {
        title: "Aplicaciones", "Applications";
        one: "Aplicación", "Application";
        lead: "Una aplicación (cliente OAuth) es lo que las personas autorizan al iniciar sesión.", "An application (OAuth client) is what people authorize when they sign in.";
        active: "Activa", "Active";
        disabled: "Desactivada", "Disabled";
        disabled_text: "Nadie puede iniciar sesión con ella, y sus tokens no valen.", "Nobody can sign in with it, and its tokens are refused.";
        none: "Todavía no hay aplicaciones", "No applications yet";
        none_text: "Registra la primera aquí debajo, o espera a que un equipo pida una en el portal.", "Register the first one below, or wait until a team asks for one in the portal.";
        new: "Registrar una aplicación", "Register an application";
        id_hint: "Opcional: letras, cifras, guiones y puntos. No se puede cambiar después.", "Optional: letters, digits, hyphens and dots. It cannot be changed later.";
        client_id: "client_id", "client_id";
        kind: "Tipo", "Kind";
        kind_of_application: "Tipo de aplicación", "Kind of application";
        no_secret: "Es pública: no tiene secreto. Demuestra con PKCE que un código es suyo.", "It is public: it has no secret. It proves with PKCE that a code is its own.";
        name_hint: "Es el nombre que ven las personas al autorizarla.", "It is the name that people see when they authorize it.";
        redirect_uris: "Direcciones de retorno", "Redirect addresses";
        redirect_hint: "Una por línea: https, o http://localhost con su puerto. Debe coincidir exactamente con redirect_uri. Un servidor de recursos no tiene ninguna.", "One per line: https, or http://localhost with its port. It must match redirect_uri exactly. A resource server has none.";
        logout_uris: "Direcciones después de cerrar sesión", "Addresses after sign-out";
        logout_hint: "Una por línea. Opcional.", "One per line. Optional.";
        backchannel: "Dirección para el cierre de sesión por canal trasero", "Address for back-channel logouts";
        backchannel_hint: "Opcional, https: recibe un logout_token cuando termina una sesión.", "Optional, https: it gets a logout_token when a session ends.";
        no_uris: "Ninguna", "None";
        scopes: "Scopes que puede pedir", "Scopes that it may ask for";
        consent: "Consentimiento", "Consent";
        consent_required: "Quien inicia sesión tiene que darlo", "People who sign in must give it";
        consent_none: "No se pide", "Not asked for";
        ask_consent: "Pedir el consentimiento de quien inicia sesión", "Ask people who sign in for their consent";
        ask_consent_hint: "Desmárcalo solo para aplicaciones propias.", "Clear it only for your own applications.";
        pkce: "PKCE", "PKCE";
        pkce_required: "Obligatorio", "Required";
        pkce_if_sent: "Si la aplicación lo envía", "If the application sends it";
        pkce_ignore: "No se comprueba", "Not checked";
        id_token: "id_token en el retorno", "id_token in the callback";
        id_token_auto: "Automático", "Automatic";
        id_token_always: "Siempre", "Always";
        id_token_never: "Nunca", "Never";
        authorizations: "Autorizaciones vigentes", "Authorizations in force";
        secrets: "Secretos", "Secrets";
        secret: "Secreto", "Secret";
        current: "Actual", "Current";
        previous: "Anterior", "Previous";
        valid_until: "Vale hasta", "Valid until";
        rotate: "Crear un secreto nuevo", "Create a new secret";
        rotate_text: "El actual sigue valiendo durante el tiempo que elijas; después, lo que lo use dejará de poder obtener tokens.", "The current one keeps working for the time that you choose; after that, whatever uses it can no longer get tokens.";
        new_secret: "El secreto nuevo", "The new secret";
        new_client: "La aplicación está registrada", "The application is registered";
        change: "Cambiar la aplicación", "Change the application";
        change_text: "Los cambios valen desde que los guardas. Si quitas una dirección o un producto, deja de funcionar lo que lo use.", "Changes apply as soon as you save them. If you remove an address or a product, whatever uses it stops working.";
        disable: "Desactivar la aplicación", "Disable the application";
        disable_text: "Nadie puede iniciar sesión con ella, sus tokens dejan de valer al momento y sus webhooks se suspenden. Se puede volver a activar.", "Nobody can sign in with it, its tokens are refused at once, and its webhooks are suspended. You can enable it again.";
        enable: "Activar la aplicación", "Enable the application";
        enable_text: "Se puede volver a iniciar sesión con ella, y sus autorizaciones y webhooks siguen donde estaban.", "People can sign in with it again, and its authorizations and webhooks resume where they stopped.";
    }
}
