//! Words of the front page.

use pages::texts;

texts! {
    FrontText {
        title: "Portal de desarrolladores", "Developer portal";
        headline: "Conecta tu aplicación con la contabilidad, las nóminas y la facturación", "Build on accounting, payroll and invoicing data";
        lead: "Tus usuarios inician sesión con la cuenta que ya tienen; tú lees sus empresas, clientes y cuentas, y recibes un aviso en cuanto algo cambia. Y hay un entorno de pruebas que no necesita los datos de nadie.", "Your users sign in with the account they have; you read their companies, customers and accounts, and get notified as soon as something changes. And there is a sandbox that needs nobody's data.";
        sample: "Una llamada y su respuesta", "A call and its response";
        open_portal: "Abrir el portal", "Open the portal";
        read_reference: "Leer la referencia", "Read the reference";
        by_invitation: "Las cuentas se crean por invitación: pide la tuya a la persona de contacto.", "Accounts are created by invitation: ask the contact for yours.";
        begin: "Empieza en tres pasos", "Begin in three steps";
        step_key: "Consigue una clave y una aplicación", "Get a key and an application";
        step_key_text: "Pídelas en el portal. Las del entorno de pruebas pueden estar listas al momento.", "Ask for them in the portal. Those for the sandbox can be ready at once.";
        step_sign_in: "Inicia la sesión del primer usuario", "Sign the first user in";
        step_sign_in_text: "Código de autorización con PKCE y OpenID Connect. El portal muestra cada paso y cada token.", "Authorization code with PKCE and OpenID Connect. The portal shows every step and every token.";
        step_listen: "Lee y escucha", "Read and listen";
        step_listen_text: "Llama a las tres API y suscribe un webhook: cada entrega va firmada, se reintenta y se puede repetir.", "Call the three APIs and subscribe a webhook: every delivery is signed, retried and can be replayed.";
        offer_identity: "Identidad", "Identity";
        offer_identity_text: "OAuth 2.0 y OpenID Connect, elección de organización al iniciar sesión, segundo factor y retirada del acceso.", "OAuth 2.0 and OpenID Connect, choice of the tenant at sign-in, second factor, and withdrawal of access.";
        offer_reads: "Tres API de lectura", "Three read APIs";
        offer_reads_text: "Contabilidad, nóminas y facturación: páginas rápidas, filtros, y un canal de cambios del que no se escapa nada.", "Accounting, payroll and invoicing: fast pages, filters, and a feed of changes that misses nothing.";
        offer_webhooks: "Webhooks", "Webhooks";
        offer_webhooks_text: "Para 19 recursos contables y 18 entidades de facturación. Nada se pierde: cada evento llega en orden o se sabe por qué no.", "For 19 accounting resources and 18 invoicing entities. Nothing is lost: every event arrives in order, or you can see why not.";
        documents: "Documentación y estado", "Documents and status";
        api_reference: "Referencia de las API", "API reference";
        api_reference_note: "con un cliente para probarlas", "with a client to try them";
        documents_note: "para generar clientes", "to generate clients";
        discovery_note: "configuración del proveedor de identidad", "configuration of the identity provider";
        status: "Estado", "Status";
        up: "En servicio", "Up";
        down: "Con problemas", "Having problems";
    }
}
