//! Words of the applications' pages.

use pages::texts;

texts! {
    ApplicationText {
        title: "Aplicaciones", "Applications";
        one: "Aplicación", "Application";
        lead: "Una aplicación (cliente OAuth) es lo que las personas autorizan al iniciar sesión. El operador aprueba cada dirección de retorno.", "An application (OAuth client) is what people authorize when they sign in. The operator approves every redirect address.";
        name: "Nombre", "Name";
        client_id: "client_id", "client_id";
        kind: "Tipo", "Kind";
        no_secret: "Es pública: no tiene secreto. Demuestra con PKCE que un código es suyo.", "It is public: it has no secret. It proves with PKCE that a code is its own.";
        introspect_line: "Dónde comprobar tokens (introspección)", "Where to check tokens (introspection)";
        products: "Productos", "Products";
        status: "Estado", "State";
        active: "Activa", "Active";
        disabled: "Desactivada", "Disabled";
        disabled_text: "El operador la ha desactivado: nadie puede iniciar sesión con ella. Escribe a la persona de contacto.", "The operator has disabled it: nobody can sign in with it. Write to the contact.";
        sandbox: "Entorno de pruebas", "Sandbox";
        since: "Desde", "Since";
        none: "Todavía no hay aplicaciones", "No applications yet";
        none_text: "Pide la primera aquí debajo, con la dirección a la que vuelve el navegador después de iniciar sesión.", "Ask for the first one below, with the address that the browser comes back to after the sign-in.";
        ask: "Pedir una aplicación", "Ask for an application";
        redirect: "Dirección de retorno", "Redirect address";
        redirect_hint: "https, o http://localhost mientras desarrollas. Debe coincidir exactamente con redirect_uri. Un servidor de recursos no tiene ninguna.", "https, or http://localhost while you develop. It must match redirect_uri exactly. A resource server has none.";
        pkce: "Exigir PKCE", "Require PKCE";
        pkce_hint: "Recomendado. Desmárcalo solo si tu aplicación web no puede usarlo: las de navegador y las nativas lo usan siempre.", "Recommended. Clear it only if your web application cannot use it: browser and native applications always do.";
        send: "Enviar la solicitud", "Send the request";
        note: "Para qué la necesitas", "What you need it for";
        facts: "Datos", "Facts";
        scopes: "Scopes que puede pedir", "Scopes that it may ask for";
        consent: "Consentimiento", "Consent";
        consent_required: "La persona lo confirma al elegir la organización", "The person confirms it when choosing the tenant";
        consent_none: "No se pregunta", "Not asked for";
        addresses: "Direcciones de retorno", "Redirect addresses";
        address: "Dirección", "Address";
        registered: "Registrada", "Registered";
        pending: "Pendiente de aprobación", "Awaiting approval";
        refused: "Rechazada", "Refused";
        reason: "Motivo", "Reason";
        remove: "Quitar", "Remove";
        remove_text: "Los inicios de sesión que usen esta dirección dejarán de funcionar al momento.", "Sign-ins that use this address stop working at once.";
        withdraw: "Retirar", "Withdraw";
        add_address: "Pedir otra dirección", "Ask for another address";
        secret: "Secreto", "Secret";
        secret_text: "El secreto solo se muestra al crearlo. Si lo has perdido o se ha filtrado, crea otro.", "The secret is shown only when it is created. If you have lost it, or it leaked, create another one.";
        secret_both: "El secreto anterior sigue valiendo hasta", "The previous secret is still valid until";
        rotate: "Crear un secreto nuevo", "Create a new secret";
        rotate_text: "El actual sigue valiendo durante el tiempo que elijas; después, lo que lo use dejará de poder obtener tokens.", "The current one keeps working for the time that you choose; after that, whatever uses it can no longer get tokens.";
        new_secret: "El secreto nuevo", "The new secret";
        new_secret_text: "Cópialo ahora: no se vuelve a mostrar.", "Copy it now: it is not shown again.";
        logout_address: "Dirección del cierre de sesión", "Address for logouts";
        logout_address_hint: "Opcional, https. Si la dejas vacía, no se avisa a la aplicación.", "Optional, https. Leave it empty and the application is not told.";
        rename: "Cambiar el nombre", "Rename";
        rename_hint: "Es el nombre que ven las personas al autorizarla.", "It is the name that people see when they authorize it.";
        endpoints: "Para tu código", "For your code";
        issuer: "Emisor (issuer)", "Issuer";
        authorize_line: "URL de autorización", "Authorization URL";
        webhooks: "Ver sus webhooks", "See its webhooks";
    }
}
