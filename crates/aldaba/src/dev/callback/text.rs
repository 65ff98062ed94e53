//! Words of the page that answers a callback.

use pages::texts;

texts! {
    CallbackText {
        title: "La vuelta del inicio de sesión", "The sign-in came back";
        worked: "El inicio de sesión ha funcionado", "The sign-in worked";
        failed: "El inicio de sesión ha fallado", "The sign-in failed";
        here: "El navegador ha vuelto con un código", "The browser is back with a code";
        lead: "En esta dirección escuchará tu aplicación:", "Your application will listen at this address:";
        lead_after: "Todavía no escucha ninguna, así que ha contestado dev.", "None listens there yet, so dev answered.";
        done: "dev ha cambiado el código por los tokens, como hará tu aplicación. El siguiente paso está al final de la página.", "dev exchanged the code for the tokens, as your application will. The next step is at the end of the page.";
        client: "Aplicación", "Application";
        request_begun: "La ha enviado dev, con un state y un nonce nuevos:", "dev sent it, with a new state and nonce:";
        request_other: "La ha enviado otro programa, así que dev no conoce su state ni su nonce.", "Another program sent it, so dev does not know its state and nonce.";
        compare: "Compáralo con el que envió tu aplicación.", "Compare it with the one that your application sent.";
        callback_text: "El navegador ha llegado con esto. Tu aplicación comprueba state e iss antes de usar el código.", "The browser arrived with these. Your application checks state and iss before it uses the code.";
        whole_url: "La dirección entera", "The whole address";
        token_text: "De servidor a servidor, con el secreto de la aplicación:", "From server to server, with the application's secret:";
        token_used: "El código ya está usado: repetir la orden anula los tokens.", "The code is used up: repeating the command revokes the tokens.";
        pkce: "La petición llevaba un reto PKCE", "The request had a PKCE challenge";
        pkce_text: "Solo el programa que la envió tiene el code_verifier, así que dev no ha tocado el código. Cámbialo tú antes de cinco minutos:", "Only the program that sent it has the code_verifier, so dev left the code alone. Exchange it yourself within five minutes:";
        other_client: "El código es de otra aplicación", "The code belongs to another application";
        other_client_text: "dev solo conoce los secretos de sus dos aplicaciones, así que no ha tocado el código. Cámbialo tú antes de cinco minutos (una aplicación pública no lleva secreto):", "dev knows the secrets of its own two applications alone, so it left the code alone. Exchange it yourself within five minutes (a public application has no secret):";
        other_issuer: "El código es de otro servicio", "The code was issued by another service";
        other_issuer_text: "Lo ha emitido otro servicio, quizá otro dev, así que este no lo ha tocado. Cámbialo allí antes de cinco minutos:", "Another service issued it, perhaps another dev, so this one left it alone. Exchange it there within five minutes:";
        unknown: "dev no conoce este código", "dev does not know this code";
        unknown_text: "No lo ha emitido hace poco, o ya lo ha mostrado: cada código sirve una vez. Empieza de nuevo, o cámbialo tú:", "It was not issued lately, or dev has shown it already: a code works once. Start over, or exchange it yourself:";
        refused: "El servicio ha rechazado el código", "The service refused the code";
        no_code: "El servicio no ha dado ningún código", "The service gave no code";
        response: "La respuesta", "The response";
        whole_response: "La respuesta entera", "The whole response";
        claims_text: "Los dos son JWT firmados. Tu aplicación comprueba la firma con las claves de jwks, y además iss, aud y exp.", "Both are signed JWTs. Your application verifies the signature with the keys of jwks, and iss, aud and exp besides.";
        no_id_token: "No hay id_token: la petición no tenía el scope openid.", "There is no id_token: the request did not have the scope openid.";
        next_text: "Lee datos con este token. Copia la orden en una terminal:", "Read data with this token. Copy the command into a terminal:";
        no_read: "Ninguno de los scopes concedidos lee datos.", "None of the granted scopes reads data.";
        export_text: "O guárdalo para las demás órdenes del recorrido:", "Or keep it for the other commands of the walk-through:";
        token_again: "La próxima vez, sin navegador:", "The next time, without a browser:";
        again: "Iniciar sesión otra vez", "Sign in again";
        reference: "La referencia, para probar cada llamada", "The reference, to try every call";
        portal: "El portal de desarrollo", "The developer portal";
        not_found: "dev no recuerda este inicio de sesión", "dev does not remember this sign-in";
        not_found_text: "dev recuerda los últimos mientras está en marcha. Empieza otro.", "dev remembers the last ones while it runs. Begin another one.";
    }
}
