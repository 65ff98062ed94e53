//! Words of a team's home.

use pages::texts;

texts! {
    HomeText {
        title: "Inicio", "Home";
        lead: "De la primera clave a la primera entrega. Cada paso se marca solo en cuanto está hecho.", "From the first key to the first delivery. Each step is ticked off automatically once it is done.";
        checklist: "Puesta en marcha", "Getting started";
        all_done: "La integración está en marcha.", "The integration is up and running.";
        all_done_failing: "Todos los pasos están hechos, pero hay webhooks que no entregan.", "All steps are done, but some webhooks do not deliver.";
        done: "Hecho", "Done";
        open: "Pendiente", "To do";
        key: "Consigue una clave", "Get a key";
        key_text: "La clave de una suscripción va en cada llamada. Con una solo para el entorno de pruebas ya puedes empezar.", "The key of a subscription goes with every call. One for the sandbox only is enough to begin.";
        sandbox_name: "Entorno de pruebas", "Sandbox";
        sandbox_first: "Con un entorno de pruebas haces desde aquí cada paso con un clic, sin datos de nadie.", "With a sandbox you do every step from here with one click, without anybody's data.";
        own_code: "Desde tu código:", "From your own code:";
        fill_in: "Poner mi clave en las líneas", "Fill in my key";
        key_now: "Conseguir una clave de pruebas ahora", "Get a sandbox key now";
        key_action: "Ver las suscripciones", "See the subscriptions";
        client: "Consigue una aplicación", "Get an application";
        client_text: "Es lo que las personas autorizan al iniciar sesión.", "It is what people authorize when they sign in.";
        client_now: "Conseguir una aplicación de pruebas ahora", "Get a sandbox application now";
        client_action: "Ver las aplicaciones", "See the applications";
        sign_in: "Identifica a la primera persona", "Sign the first user in";
        sign_in_text: "Alguien autoriza tu aplicación y recibes un token. En el entorno de pruebas lo hace su propia cuenta; desde tu código, abre esta dirección en el navegador, con el code_challenge si la aplicación exige PKCE.", "Somebody authorizes your application, and you get a token. In the sandbox its own account does; from your code, open this address in the browser, with the code_challenge if the application requires PKCE.";
        sign_in_now: "Hacerlo en el entorno de pruebas", "Do it in the sandbox";
        call: "Haz la primera llamada", "Make the first call";
        call_text: "Con la clave de la suscripción y el access_token.", "With the key of the subscription and the access_token.";
        call_now: "Obtener un token y la llamada lista", "Get a token and the call, ready to run";
        call_action: "Probarla en la referencia", "Try it in the reference";
        webhook: "Suscribe un webhook y acepta su contrato", "Subscribe a webhook and accept its contract";
        webhook_text: "El receptor contesta con un 200 al Acknowledge o, en facturación, con el valor de echo. El receptor integrado del entorno de pruebas lo hace por ti, y «aldaba listen» en tu máquina.", "The receiver answers the Acknowledge with 200 or, in invoicing, with the value of echo. The built-in receiver of the sandbox does it for you, and “aldaba listen” on your machine.";
        webhook_now: "Crear uno hacia el receptor integrado", "Create one to the built-in receiver";
        delivery: "Recibe y verifica la primera entrega", "Receive and verify the first delivery";
        delivery_text: "Comprueba la firma antes de leer el cuerpo; el depurador dice por qué no coincide.", "Check the signature before you read the body; the debugger says why it does not match.";
        delivery_now: "Hacer que ocurra un evento", "Make an event happen";
        delivery_action: "Abrir el depurador", "Open the debugger";
        failing: "Lo que falla ahora", "What is failing now";
        all_failing: "Ver todos los webhooks que fallan", "See all failing webhooks";
        nothing_fails: "Nada: todos los webhooks entregan.", "Nothing: all webhooks deliver.";
        failing_since: "falla desde", "failing since";
        disabled: "desactivado por el servicio", "disabled by the service";
        suspended: "suspendido: el acceso ha terminado", "suspended: access has ended";
        behind_one: "evento pendiente", "event waiting";
        behind: "eventos pendientes", "events waiting";
    }
}
