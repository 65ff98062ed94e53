//! The texts of the pages of one-time links in Spanish.

use domain::Realm;
use maud::html;

use super::super::Message;
use super::LinkText;

pub(in crate::pages::i18n) const LINK: LinkText = LinkText {
    email: "Correo electrónico",
    invitation_title: "Crea tu cuenta",
    invitation_lead: |realm| match realm {
        Realm::Users => "y elige la contraseña con la que iniciarás sesión",
        Realm::Developers => "del portal de desarrolladores",
        Realm::Operators => "de la consola de operadores",
    },
    invitation_submit: "Crear la cuenta",
    reset_title: "Elige una contraseña nueva",
    reset_lead: |email| html! { "para " b { (email) } },
    reset_submit: "Guardar la contraseña",
    reset_note: "Se cerrarán todas tus sesiones, en todos los dispositivos. Si tienes un segundo factor, seguirás necesitándolo.",
    password_set: Message {
        title: "Tu contraseña ha cambiado",
        text: "Se han cerrado todas tus sesiones. Inicia sesión con la contraseña nueva.",
    },
    forgot: Message {
        title: "¿Has olvidado la contraseña?",
        text: "Escribe tu correo electrónico. Te enviaremos un enlace para elegir una contraseña nueva.",
    },
    forgot_sent: Message {
        title: "Mira tu correo",
        text: "Si hay una cuenta con esta dirección, te hemos enviado un enlace. Sirve una sola vez, durante una hora.",
    },
    registration: Message {
        title: "Crea una cuenta de desarrollador",
        text: "Escribe tu correo electrónico. Te enviaremos un enlace para crear la cuenta.",
    },
    registration_sent: Message {
        title: "Mira tu correo",
        text: "Si esta dirección aún no tiene cuenta, te hemos enviado un enlace. Sirve una sola vez, durante tres días.",
    },
    send_link: "Enviar el enlace",
    no_mail: "¿No ha llegado nada en unos minutos? Mira en la carpeta de correo no deseado y comprueba que la dirección está bien escrita.",
    ask: |contact| html! { "Si necesitas ayuda, consulta a " (contact) "." },
    to_sign_in: "Ir a la página de inicio de sesión",
    void_title: "Este enlace no sirve",
    void_text: "Quizá ya se ha usado, se ha sustituido por otro más reciente o ha caducado.",
    void_invitation: "Si ya tienes una cuenta, inicia sesión. Si no, pide un enlace nuevo a la persona que te invitó.",
    void_reset: "Pedir un enlace nuevo",
    void_reset_ask: "Pide una contraseña nueva a quien administra tu cuenta.",
    email_refused: "Escribe un correo electrónico completo, por ejemplo maria@example.com",
    account_exists: Message {
        title: "Esta dirección ya tiene una cuenta",
        text: "Inicia sesión con ella. Si has olvidado la contraseña, puedes elegir una nueva.",
    },
    too_often: "Demasiadas solicitudes",
    again: "Ha caducado para proteger tu cuenta. Envía el formulario otra vez.",
    forgotten: "¿Has olvidado la contraseña?",
    forgotten_ask: |contact| html! { "¿Has olvidado la contraseña? Pide una nueva a " (contact) "." },
    register: "Crear una cuenta",
};
