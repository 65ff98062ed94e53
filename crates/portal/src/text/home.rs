//! Words of a team's home.

use pages::texts;

texts! {
    HomeText {
        title: "Inicio", "Home";
        lead: "De la primera clave a la primera entrega. Cada paso se marca solo cuando ocurre.", "From the first key to the first delivery. Every step is ticked by itself when it happens.";
        checklist: "Puesta en marcha", "Getting started";
        all_done: "La integración está en marcha.", "The integration is up and running.";
        done: "Hecho", "Done";
        open: "Pendiente", "To do";
        key: "Consigue una clave", "Get a key";
        key_text: "La clave de una suscripción va en cada llamada.", "The key of a subscription goes with every call.";
        key_action: "Ver las suscripciones", "See the subscriptions";
        client: "Consigue una aplicación", "Get an application";
        client_text: "Es lo que las personas autorizan al iniciar sesión.", "It is what people authorize when they sign in.";
        client_action: "Ver las aplicaciones", "See the applications";
        sign_in: "Identifica a la primera persona", "Sign the first user in";
        sign_in_text: "Abre esta dirección en el navegador, con el code_challenge de tu aplicación si exige PKCE.", "Open this address in the browser, with your application's code_challenge if it requires PKCE.";
        call: "Haz la primera llamada", "Make the first call";
        call_text: "Con la clave de la suscripción y el access_token.", "With the key of the subscription and the access_token.";
        webhook: "Suscribe un webhook y acepta su contrato", "Subscribe a webhook and accept its contract";
        webhook_text: "El receptor contesta al primer aviso con su secreto. «aldaba listen» lo hace por ti mientras pruebas.", "The receiver answers the first request with its secret. `aldaba listen` does it for you while you try.";
        delivery: "Recibe y verifica la primera entrega", "Receive and verify the first delivery";
        delivery_text: "Comprueba la firma antes de leer el cuerpo; el depurador dice por qué no coincide.", "Check the signature before you read the body; the debugger says why it does not match.";
        delivery_action: "Abrir el depurador", "Open the debugger";
        failing: "Lo que falla ahora", "What is failing now";
        nothing_fails: "Nada: todos los webhooks entregan.", "Nothing: all webhooks deliver.";
        failing_since: "falla desde", "failing since";
        disabled: "desactivado por el servicio", "disabled by the service";
        suspended: "suspendido: el acceso ha terminado", "suspended: access has ended";
        behind: "eventos pendientes", "events behind";
    }
}
