//! Words of the reference page.

use domain::subscription::Product;
use pages::texts;
use ui::Lang;

texts! {
    ReferenceText {
        title: "Referencia", "Reference";
        lead: "Las tres API, sus documentos para personas y para máquinas, y las herramientas para probarlas.", "The three APIs, their documents for people and machines, and the tools to try them.";
        open_docs: "Abrir la referencia de las API", "Open the API reference";
        docs_text: "Cada llamada con sus parámetros, respuestas y ejemplos, y un cliente para probarla desde el navegador. Pulsa Authorize y escribe tu clave de suscripción y un token.", "Every call with its parameters, responses and examples, and a client to try it from the browser. Choose Authorize and enter your subscription key and a token.";
        docs_off: "Quien opera este servicio ha desactivado la página para probar las llamadas. Los documentos de abajo dicen lo mismo.", "The operator of this service has switched off the page for trying calls. The documents below say the same.";
        prefill: "Con tu clave y un token del entorno de pruebas", "With your key and a sandbox token";
        prefill_text: "La referencia se abre con la clave y un token de tu entorno de pruebas ya escritos, lista para probar llamadas con datos de muestra. Te pediremos que confirmes quién eres si hace rato que iniciaste sesión. Pasan de esta pestaña a la referencia sin salir del navegador, y se pierden al recargarla.", "The reference opens with the key and a token of your sandbox filled in, ready to try calls on sample data. You are asked to confirm your identity if you signed in a while ago. They go from this tab to the reference without leaving the browser, and are gone when you reload it.";
        prefill_none: "La referencia puede abrirse con tu clave y un token ya escritos, pero tu equipo no tiene todavía ninguna suscripción activa. Pide una:", "The reference can open with your key and a token filled in, but your team has no active subscription yet. Ask for one:";
        prefill_no_application: "Tu equipo no tiene ninguna aplicación activa, y sin ella no hay token: la referencia se abrirá solo con la clave. Pide una:", "Your team has no active application, and without one there is no token: the reference will open with the key alone. Ask for one:";
        prefill_closed: "Quien opera este servicio ha desactivado los entornos de pruebas. Escribe tu clave y un token tuyo en Authorize.", "The operator of this service has switched the sandboxes off. Enter your key and a token of yours in Authorize.";
        prefill_subscription: "Suscripción", "Subscription";
        prefill_application: "Aplicación", "Application";
        prefill_button: "Preparar la clave y el token", "Prepare the key and the token";
        handed_title: "Listo para probar", "Ready to try";
        handed_text: "El botón abre la referencia con esto ya escrito; sin JavaScript, cópialo en Authorize.", "The button opens the reference with these filled in; without JavaScript, copy them into Authorize.";
        handed_key: "Clave:", "Key:";
        handed_token: "Token:", "Token:";
        handed_token_text: "Da acceso a los datos de muestra de tu entorno de pruebas y a nada más, durante", "It gives access to the sample data of your sandbox and nothing else, for";
        open_with_both: "Abrir la referencia con esto", "Open the reference with these";
        apis: "API", "APIs";
        product: "Producto", "Product";
        base: "Dirección", "Address";
        scope: "Permiso (scope)", "Scope";
        for_webhooks: "más", "plus";
        for_webhooks_end: "para sus webhooks", "for its webhooks";
        only_webhooks: "solo webhooks y canal de cambios:", "webhooks and feed of changes only:";
        every_call: "Cada llamada lleva un token de acceso (Authorization: Bearer) y una clave de suscripción con el producto (Ocp-Apim-Subscription-Key). En contabilidad, la cabecera context elige la empresa.", "Every call carries an access token (Authorization: Bearer) and a subscription key with the product (Ocp-Apim-Subscription-Key). In accounting, the header context selects the company.";
        documents: "Documentos", "Documents";
        openapi_note: "todas las llamadas, OpenAPI 3.1", "every call, OpenAPI 3.1";
        asyncapi_note: "todos los avisos, AsyncAPI 3", "every notification, AsyncAPI 3";
        discovery_note: "direcciones y claves del proveedor de identidad", "addresses and keys of the identity provider";
        events_note: "cada evento, con su cuerpo y un ejemplo", "each event, with its body and an example";
        errors_note: "cada código, con su causa y su solución", "each code, with its cause and its cure";
        download: "Descargar", "Download";
        feed: "Canal de cambios", "Feed of changes";
        feed_text: "Los mismos cambios que llegan a los webhooks, pero los pides tú y en orden: para ponerte al día tras un corte, o en vez de webhooks. Empieza en el X-Sequence-Version de una lista y guarda el sequenceVersion del último cambio junto con sus efectos. Si el registro ya no llega tan atrás, la respuesta es 410: vuelve a leer la lista.", "The same changes that webhooks get, but you ask for them, in order: to catch up after an outage, or instead of webhooks. Start from a list's X-Sequence-Version, and store the sequenceVersion of the last change together with its effects. If the log no longer reaches back that far, the answer is 410: read the list again.";
        command_line: "Línea de comandos", "Command line";
        command_line_text: "El programa aldaba también sirve para desarrollar:", "The program aldaba also helps you develop:";
        dev: "El servicio entero en tu máquina, con datos de muestra y un receptor", "The whole service on your machine, with sample data and a receiver";
        listen: "Recibe webhooks en tu máquina: acepta el contrato, comprueba la firma y muestra cada evento", "Receives webhooks on your machine: accepts the contract, verifies the signature and prints each event";
        trigger: "Escribe un cambio de prueba en tu servicio local, que envía el evento", "Writes a test change to your local service, which sends the event";
        verify: "Comprueba una firma y dice por qué no coincide", "Verifies a signature and says why it does not match";
        print_openapi: "Imprime el documento OpenAPI o AsyncAPI", "Prints the OpenAPI or AsyncAPI document";
        client: "Cliente para Rust", "Rust client";
        client_text: "El crate aldaba_client inicia sesión con todas sus comprobaciones, renueva los tokens una sola vez para todos, lee listas y el canal de cambios como streams, y trae un receptor que verifica las firmas y entrega cada evento una vez. En otros lenguajes, genera el cliente con los documentos de arriba.", "The crate aldaba_client signs users in with all the checks, renews tokens once for all callers, reads lists and the feed as streams, and has a receiver that verifies signatures and passes each event on once. For other languages, generate a client from the documents above.";
    }
}

texts! {
    ProductText {
        accounting: "Contabilidad", "Accounting";
        accounting_text: "Empresas, clientes, proveedores, cuentas, facturas y asientos; datos generales; ficheros de importación. Lectura, canal de cambios y webhooks.", "Companies, customers, suppliers, accounts, invoices and journals; core data; import files. Reads, feed of changes and webhooks.";
        payroll: "Nóminas", "Payroll";
        payroll_text: "Empresas de nóminas, con filtros y orden. Lectura.", "Payroll companies, with filters and ordering. Reads.";
        invoicing: "Facturación", "Invoicing";
        invoicing_text: "Clientes, productos, ofertas, pedidos, albaranes y facturas. Canal de cambios y webhooks con los datos cambiados.", "Customers, products, offers, orders, delivery notes and invoices. Feed of changes and webhooks with the changed data.";
    }
}

impl ProductText {
    /// The name of a product and what it has.
    pub(crate) fn product(lang: Lang, product: Product) -> (&'static str, &'static str) {
        let text = Self::of(lang);
        match product {
            Product::Accounting => (text.accounting, text.accounting_text),
            Product::Payroll => (text.payroll, text.payroll_text),
            Product::Invoicing => (text.invoicing, text.invoicing_text),
        }
    }
}
