//! Words of the sandbox's pages.

use domain::ErrorCode;
use operator::admin::AdminError;
use pages::texts;
use store::ReceiverMode;
use ui::Lang;

texts! {
    SandboxText {
        title: "Entorno de pruebas", "Sandbox";
        lead: "Una organización de tu equipo con datos de ejemplo: prueba aquí lecturas, inicio de sesión, eventos y webhooks sin tocar los datos de nadie.", "A tenant of your team with sample data: try reads, sign-in, events and webhooks here without touching anybody's data.";
        tab_data: "Datos y token", "Data and token";
        tab_receiver: "Eventos y receptor", "Events and receiver";
        closed: "Aquí no hay entornos de pruebas", "There are no sandboxes here";
        closed_text: "Quien opera este servicio los ha desactivado. Lo demás del portal funciona igual. Si necesitas uno, escribe a la persona de contacto.", "The operator of this service has switched them off. The rest of the portal works as usual. If you need one, write to the contact.";
        none: "Tu equipo todavía no tiene entorno de pruebas", "Your team has no sandbox yet";
        none_text: "Es una organización solo de tu equipo con empresas, clientes, cuentas, nóminas y facturas de ejemplo, una cuenta para iniciar sesión en ella y un receptor de webhooks ya preparado. Nadie más la ve y puedes restablecerla cuando quieras.", "It is a tenant of your own with sample companies, customers, accounts, payroll and invoices, an account to sign in to it, and a receiver of webhooks that is ready to use. Nobody else sees it, and you can reset it at any time.";
        make: "Crear el entorno de pruebas", "Create the sandbox";
        make_first: "Primero crea el entorno", "Create the sandbox first";
        incomplete: "El entorno está a medias", "The sandbox is not complete";
        incomplete_text: "Sus datos se están cargando, o la carga se interrumpió. Si sigue así dentro de unos segundos, complétalo: lo que ya está no cambia.", "Its data is being loaded, or loading was interrupted. If this does not change within seconds, complete it: what is there stays.";
        complete: "Completar el entorno", "Complete the sandbox";
        erased: "El operador ha borrado los datos del entorno", "The operator has erased the sandbox's data";
        erased_text: "Créalo de nuevo: vuelve con los datos de ejemplo. Las claves y aplicaciones de tu equipo siguen valiendo.", "Create it again: it comes back with the sample data. Your team's keys and applications stay valid.";
        disabled: "El operador ha desactivado este entorno", "The operator has disabled this sandbox";
        disabled_text: "No se puede usar hasta que lo active de nuevo. Escribe a la persona de contacto.", "It cannot be used until the operator enables it again. Write to the contact.";
        ready: "Listo", "Ready";
        facts: "Acceso", "Access";
        tenant: "Organización", "Tenant";
        user: "Cuenta para iniciar sesión", "Account to sign in with";
        password: "Contraseña", "Password";
        reveal: "Mostrar", "Reveal";
        since: "Desde", "Since";
        companies: "Empresas", "Companies";
        companies_text: "El correlationId de una empresa va en la cabecera context de las llamadas de contabilidad: {\"clientId\":\"…\"}.", "The correlationId of a company goes into the header context of accounting calls: {\"clientId\":\"…\"}.";
        company: "Empresa", "Company";
        more_companies: "Hay más: la API las lista todas.", "There are more: the API lists all of them.";
        see_also: "Sigue por aquí", "Go on here";
        open_docs: "Probar llamadas en la referencia", "Try calls in the reference";
        see_calls: "Ver las llamadas del equipo", "See the team's calls";
        see_webhooks: "Ver los webhooks del entorno", "See the sandbox's webhooks";
        reset: "Restablecer el entorno de pruebas", "Reset the sandbox";
        reset_text: "El entorno vuelve a sus datos de ejemplo. Se destruyen sus registros y todo lo que hayas cambiado en ellos, sus webhooks con el historial de entregas, los tokens emitidos para él y lo que ha recibido el receptor. La organización y las empresas tendrán otros identificadores y la cuenta otra contraseña. Se conservan las claves y las aplicaciones de tu equipo.", "The sandbox goes back to its sample data. This destroys its records and all that you have changed in them, its webhooks with their history of deliveries, the tokens that were issued for it, and what the receiver got. The tenant and the companies get other ids, and the account another password. Your team's keys and applications stay.";
    }
}

texts! {
    /// The token in one click.
    TokenText {
        title: "Token de acceso", "Access token";
        text: "La cuenta del entorno autoriza la aplicación que elijas con los mismos pasos que un inicio de sesión real. Basta un clic, sin secreto.", "The sandbox's account authorizes the application that you choose, in the same steps as a real sign-in. One click, no secret.";
        application: "Aplicación", "Application";
        scopes: "Scopes", "Scopes";
        choose_scopes: "Elegir los scopes", "Choose the scopes";
        scopes_hint: "Separados por espacios. Vacío: todos los de la aplicación. Con menos verás qué responde la API cuando falta uno.", "Separated by spaces. Empty: all of the application's. With fewer of them you see what the API answers when one is missing.";
        button: "Obtener un token", "Get a token";
        no_client: "Falta una aplicación", "An application is missing";
        no_client_text: "Un token se emite para una aplicación activa de tu equipo. Pide una y vuelve aquí; márcala solo para el entorno de pruebas si todavía no la necesitas para datos reales.", "A token is issued for an active application of your team. Ask for one and come back; mark it for the sandbox only if you do not need it for real data yet.";
        ask_client: "Pedir una aplicación", "Ask for an application";
        no_key: "Falta una clave", "A key is missing";
        no_key_text: "Puedes obtener un token, pero cada llamada lleva además la clave de una suscripción de tu equipo.", "You can get a token, but every call also carries the key of a subscription of your team.";
        ask_key: "Pedir una suscripción", "Ask for a subscription";
        shown: "Tu token", "Your token";
        shown_text: "Cópialo ahora: no se vuelve a mostrar. Solo da acceso al entorno de pruebas de tu equipo.", "Copy it now: it is not shown again. It gives access to your team's sandbox and nothing else.";
        expires: "Caduca", "Expires";
        call: "Una lectura con él", "A read with it";
        call_text: "Pon en KEY la clave de tu suscripción.", "Put the key of your subscription into KEY.";
        see_key: "Ver tus claves", "See your keys";
        claims: "Lo que dice el token", "What the token says";
        claims_text: "Sus claims, decodificados. Va firmado: cualquiera puede leerlo, nadie puede cambiarlo.", "Its claims, decoded. It is signed: anybody can read it, nobody can change it.";
    }
}

texts! {
    /// "Make it happen" and the built-in receiver.
    ReceiverText {
        lead: "Haz que ocurra cualquier evento y mira cómo llega. El receptor integrado contesta por ti hasta que tengas el tuyo.", "Make any event happen and watch it arrive. The built-in receiver answers for you until you have one of your own.";
        make: "Haz que ocurra", "Make it happen";
        make_text: "Cambia un registro de ejemplo como lo harían los productos, y el evento sale hacia tus webhooks con la firma y los reintentos de siempre.", "Changes a sample record as the products do, and the event goes to your webhooks, signed and retried as always.";
        event: "Evento", "Event";
        find: "Buscar un evento", "Find an event";
        make_button: "Hacer que ocurra", "Make it happen";
        see_event: "Ver el evento en el catálogo", "See the event in the catalogue";
        made: "Ha ocurrido", "It has happened";
        made_before: "Antes se ha creado o activado el registro, que también tiene su evento:", "The record was created or enabled first, which has an event, too:";
        record: "Registro", "Record";
        company: "Empresa", "Company";
        sequence: "Número en el registro de cambios", "Number in the log";
        goes_to: "Webhooks que lo reciben", "Webhooks that receive it";
        goes_nowhere: "Ningún webhook del entorno está suscrito a este evento. Crea uno aquí debajo y repítelo.", "No webhook of the sandbox subscribes to this event. Create one below and repeat it.";
        see_delivery: "Ver la entrega", "See the delivery";
        waits: "Este webhook no está activo: lo recibirá cuando lo esté, o nunca si se suscribió después.", "This webhook is not active: it gets the event once it is, or never if it subscribed later.";
        receiver: "Receptor integrado", "Built-in receiver";
        receiver_text: "Acepta el contrato, comprueba cada firma y guarda las últimas 200 peticiones. Solo sirve a los webhooks de este entorno; nadie puede llamarlo desde fuera.", "It accepts the contract, verifies each signature and keeps the last 200 requests. It serves the webhooks of this sandbox alone; nobody can call it from outside.";
        url: "Su dirección", "Its address";
        behaviour: "Cómo contesta", "How it answers";
        behaviour_text: "Para ver qué ocurre cuando tu servidor falla.", "To see what happens when your server fails.";
        webhooks: "Webhooks que apuntan a él", "Webhooks to it";
        no_webhooks: "Todavía ninguno.", "None yet.";
        more_webhooks: "Ver todos", "See all";
        subscribe: "Crear un webhook hacia el receptor integrado", "Create a webhook to the built-in receiver";
        subscribe_text: "Suscribe la aplicación a todos los eventos del recurso, con un secreto nuevo. Si la cuenta del entorno aún no la ha autorizado, se autoriza también.", "Subscribes the application to all events of the resource, with a new secret. If the sandbox's account has not authorized it yet, that is done, too.";
        resource: "Recurso", "Resource";
        subscribe_button: "Crear el webhook", "Create the webhook";
        one_each: "En facturación es un webhook por cada acción.", "In invoicing it is one webhook for each action.";
        subscribed: "El webhook está creado", "The webhook has been created";
        subscribed_many: "Los webhooks están creados", "The webhooks have been created";
        subscribed_text: "El receptor integrado ya conoce su secreto. Cópialo si quieres comprobar firmas por tu cuenta: no se vuelve a mostrar.", "The built-in receiver knows its secret. Copy it if you want to verify signatures yourself: it is not shown again.";
        see_webhook: "Ver el webhook", "See the webhook";
        received: "Lo que ha llegado", "What arrived";
        none: "Todavía no ha llegado nada", "Nothing has arrived yet";
        none_text: "Crea un webhook hacia el receptor: enseguida llega su contrato. Después haz que ocurra un evento y aparecerá aquí, con su firma comprobada.", "Create a webhook to the receiver: its contract arrives at once. Then make an event happen, and it appears here with its signature verified.";
        signature: "Firma", "Signature";
        verified: "Comprobada", "Verified";
        wrong: "No coincide", "Does not match";
        unsigned: "Sin firma", "Not signed";
        unsigned_text: "El contrato de facturación no va firmado.", "The contract of invoicing is not signed.";
        answered: "Respuesta", "Answer";
        hung: "Ninguna: se dejó agotar el tiempo", "None: the attempt timed out";
        one: "Petición recibida", "Received request";
        method: "Petición", "Request";
        webhook: "Webhook", "Webhook";
        deliveries: "Ver sus entregas", "See its deliveries";
        headers: "Cabeceras", "Headers";
        header: "Cabecera", "Header";
        value: "Valor", "Value";
        body: "Cuerpo", "Body";
        no_body: "La petición no tenía cuerpo.", "The request had no body.";
        pretty: "Con formato", "Pretty";
        raw: "Tal cual llegó", "As it arrived";
        debugger: "Comprobarla en el depurador de firmas", "Check it in the signature debugger";
        choose_event: "Elige un evento de la lista.", "Choose an event from the list.";
        choose_resource: "Elige un recurso de la lista.", "Choose a resource from the list.";
        choose_mode: "Elige cómo contesta: accept, fail, hang o refuse.", "Choose how it answers: accept, fail, hang or refuse.";
        exists: "La aplicación ya tiene webhooks hacia el receptor para todos los eventos de este recurso.", "The application already has webhooks to the receiver for all events of this resource.";
    }
}

/// What a mode of the receiver is called, and what it does.
pub(crate) fn mode_words(lang: Lang, mode: ReceiverMode) -> (&'static str, &'static str) {
    match (lang, mode) {
        (Lang::Es, ReceiverMode::Accept) => {
            ("Acepta", "Contesta 200 a lo que viene bien firmado y 401 a lo demás.")
        }
        (Lang::En, ReceiverMode::Accept) => {
            ("Accepts", "Answers 200 to what is signed correctly, and 401 to the rest.")
        }
        (Lang::Es, ReceiverMode::Fail) => ("Falla", "Contesta 500 a todo: las entregas se reintentan."),
        (Lang::En, ReceiverMode::Fail) => ("Fails", "Answers 500 to everything: deliveries are retried."),
        (Lang::Es, ReceiverMode::Hang) => ("Se cuelga", "No contesta: cada intento agota su tiempo."),
        (Lang::En, ReceiverMode::Hang) => ("Hangs", "Does not answer: each attempt times out."),
        (Lang::Es, ReceiverMode::Refuse) => (
            "Rechaza",
            "Contesta 410 a todo, como un servidor que ya no quiere el webhook. También se reintenta.",
        ),
        (Lang::En, ReceiverMode::Refuse) => (
            "Refuses",
            "Answers 410 to everything, as a server that no longer wants the webhook. That is retried, too.",
        ),
    }
}

/// Why an action in the sandbox was refused; none for what has no words of its own here.
pub(crate) fn refusal(lang: Lang, error: &AdminError) -> Option<&'static str> {
    let AdminError::Conflict { code, .. } = error else { return None };
    let Lang::Es = lang else { return None };
    Some(match *code {
        ErrorCode::SandboxClosed => SandboxText::of(lang).closed_text,
        ErrorCode::SandboxNotReady => {
            "el entorno está desactivado o a medias; complétalo, o escribe a la persona de contacto"
        }
        ErrorCode::SandboxIncomplete => "al entorno ya no le queda ninguna empresa; restablécelo",
        ErrorCode::TooManyEvents => {
            "tu equipo ya ha generado hoy todos los eventos que se permiten en un día; sigue mañana"
        }
        ErrorCode::TeamDisabled => "el operador ha desactivado tu equipo; escribe a la persona de contacto",
        ErrorCode::ClientDisabled => "el operador ha desactivado esa aplicación; elige otra",
        _ => return None,
    })
}
