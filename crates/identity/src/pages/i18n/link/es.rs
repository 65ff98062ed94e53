//! The texts of the pages of one-time links in Spanish.

use domain::Realm;
use maud::html;

use super::super::Message;
use super::LinkText;

pub(in crate::pages::i18n) const LINK: LinkText = LinkText {
    email: "Correo electrónico",
    invitation_title: "Cree su cuenta",
    invitation_lead: |realm| match realm {
        Realm::Users => "y elija la contraseña con la que iniciará sesión",
        Realm::Developers => "del portal de desarrolladores",
        Realm::Operators => "de la consola de operadores",
    },
    invitation_submit: "Crear la cuenta",
    reset_title: "Elija una contraseña nueva",
    reset_lead: |email| html! { "para " b { (email) } },
    reset_submit: "Guardar la contraseña",
    reset_note: "Se cerrarán todas sus sesiones, en todos los dispositivos. Si tiene un segundo factor, seguirá necesitándolo.",
    password_set: Message {
        title: "Su contraseña ha cambiado",
        text: "Se han cerrado todas sus sesiones. Inicie sesión con la contraseña nueva.",
    },
    forgot: Message {
        title: "¿Ha olvidado su contraseña?",
        text: "Escriba su correo electrónico. Le enviaremos un enlace para elegir una contraseña nueva.",
    },
    forgot_sent: Message {
        title: "Mire su correo",
        text: "Si hay una cuenta con esta dirección, le hemos enviado un enlace. Sirve una sola vez, durante una hora.",
    },
    registration: Message {
        title: "Cree una cuenta de desarrollador",
        text: "Escriba su correo electrónico. Le enviaremos un enlace para crear la cuenta.",
    },
    registration_sent: Message {
        title: "Mire su correo",
        text: "Si esta dirección aún no tiene cuenta, le hemos enviado un enlace. Sirve una sola vez, durante tres días.",
    },
    send_link: "Enviar el enlace",
    no_mail: "¿No ha llegado nada en unos minutos? Mire en la carpeta de correo no deseado y compruebe que la dirección está bien escrita.",
    ask: |contact| html! { "Si necesita ayuda, consulte a " (contact) "." },
    to_sign_in: "Ir a la página de inicio de sesión",
    void_title: "Este enlace no sirve",
    void_text: "Quizá ya se ha usado, se ha sustituido por otro más reciente o ha caducado.",
    void_invitation: "Si ya tiene una cuenta, inicie sesión. Si no, pida un enlace nuevo a la persona que le invitó.",
    void_reset: "Pedir un enlace nuevo",
    void_reset_ask: "Pida una contraseña nueva a su administrador.",
    email_refused: "Escriba un correo electrónico completo, por ejemplo maria@example.com",
    account_exists: Message {
        title: "Esta dirección ya tiene una cuenta",
        text: "Inicie sesión con ella. Si ha olvidado la contraseña, puede elegir una nueva.",
    },
    too_often: "Demasiadas solicitudes",
    again: "Ha caducado para proteger su cuenta. Envíe el formulario otra vez.",
    forgotten: "¿Ha olvidado su contraseña?",
    forgotten_ask: |contact| html! { "¿Ha olvidado su contraseña? Pida una nueva a " (contact) "." },
    register: "Crear una cuenta",
};
