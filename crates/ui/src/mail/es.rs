//! The mails in Spanish.

use super::{Draft, Invitee, MailLink, MailTemplate, Names, Part, link, paragraph, sign_in_facts, validity};
use crate::Lang;

/// A subject and what is between the greeting and the footer.
type Body<'a> = (String, Vec<Part<'a>>);

pub(super) fn draft<'a>(template: &MailTemplate<'a>, names: &Names) -> Draft<'a> {
    let service = &names.service;
    let (subject, body) = match template {
        MailTemplate::Invitation { invitee, link } => invitation(*invitee, link, service),
        MailTemplate::PasswordReset { link } => password_reset(link, service),
        MailTemplate::PasswordChanged => {
            let what = format!(
                "La contraseña de tu cuenta de {service} ha cambiado, y las demás sesiones se han cerrado."
            );
            let subject = format!("Tu contraseña de {service} ha cambiado");
            (subject, vec![paragraph(what), unexpected(&names.contact)])
        }
        MailTemplate::SecondFactorChanged => {
            let what = format!(
                "El segundo factor de tu cuenta de {service} ha cambiado: se ha añadido, quitado o restablecido una \
                 llave de acceso o una aplicación de códigos."
            );
            let subject = format!("Tu segundo factor de {service} ha cambiado");
            (subject, vec![paragraph(what), unexpected(&names.contact)])
        }
        MailTemplate::RecoveryCodeUsed { left } => recovery_code_used(*left, names),
        MailTemplate::Notices { team, notices, url } => {
            super::notices::body(Lang::Es, team, notices, url, names)
        }
        MailTemplate::NewSignIn { at, browser, address } => {
            new_sign_in(&sign_in_facts(Lang::Es, *at, browser, address), names)
        }
    };
    let mut parts = vec![paragraph(greeting(&names.name))];
    parts.extend(body);
    parts.push(paragraph(footer(names)));
    Draft { subject, parts }
}

fn invitation<'a>(invitee: Invitee, to: &MailLink<'a>, service: &str) -> Body<'a> {
    let (subject, why) = invited_to(invitee, service);
    let valid = validity(Lang::Es, to);
    let once = format!(
        "El enlace funciona una sola vez y durante {valid}. Si caduca, pide otro a quien te ha invitado."
    );
    let ignore = "Si no esperabas esta invitación, no hagas nada: sin el enlace no se crea ninguna cuenta.";
    let accept = link("Aceptar la invitación", to);
    (subject, vec![paragraph(why), accept, paragraph(once), paragraph(ignore)])
}

fn password_reset<'a>(to: &MailLink<'a>, service: &str) -> Body<'a> {
    let why = format!(
        "Alguien, seguramente tú, ha pedido una contraseña nueva para tu cuenta de {service}. Elígela aquí:"
    );
    let valid = validity(Lang::Es, to);
    let once = format!(
        "El enlace funciona una sola vez y durante {valid}. Si tu cuenta tiene un segundo factor, lo \
         necesitarás también después de cambiar la contraseña."
    );
    let ignore = "Si no lo has pedido tú, no hagas nada: tu contraseña sigue siendo la misma.";
    let parts =
        vec![paragraph(why), link("Elegir una contraseña nueva", to), paragraph(once), paragraph(ignore)];
    (format!("Contraseña nueva para {service}"), parts)
}

fn recovery_code_used<'a>(left: u64, names: &Names) -> Body<'a> {
    let service = &names.service;
    let what = format!(
        "Se ha usado un código de recuperación en lugar del segundo factor de tu cuenta de {service}. Ese código ya \
         no sirve."
    );
    let left = match left {
        0 => "No te queda ninguno. Crea códigos nuevos en la página de tu cuenta.".to_owned(),
        1 => "Te queda uno. Puedes crear códigos nuevos en la página de tu cuenta.".to_owned(),
        left => format!("Te quedan {left}. Puedes crear códigos nuevos en la página de tu cuenta."),
    };
    let subject = format!("Se ha usado un código de recuperación de {service}");
    (subject, vec![paragraph(what), paragraph(left), unexpected(&names.contact)])
}

fn new_sign_in<'a>([at, browser, address]: &[String; 3], names: &Names) -> Body<'a> {
    let service = &names.service;
    let what = format!(
        "Se ha iniciado sesión en tu cuenta de {service} desde un navegador que no habíamos visto antes."
    );
    let facts = format!("Cuándo: {at}. Navegador: {browser}. Dirección IP: {address}.");
    let fine = "Si has sido tú, no hace falta que hagas nada.";
    let subject = format!("Nuevo inicio de sesión en {service}");
    let parts = vec![paragraph(what), paragraph(facts), paragraph(fine), unexpected(&names.contact)];
    (subject, parts)
}

fn greeting(name: &str) -> String {
    if name.is_empty() { "Hola:".into() } else { format!("Hola, {name}:") }
}

/// The subject and why the mail comes.
fn invited_to(invitee: Invitee, service: &str) -> (String, String) {
    match invitee {
        Invitee::User => (
            format!("Tu cuenta de {service}"),
            format!(
                "Te han invitado a {service}. Acepta la invitación para elegir tu contraseña y empezar a usar la cuenta."
            ),
        ),
        Invitee::Developer => (
            format!("Invitación al portal de desarrolladores de {service}"),
            format!(
                "Te han invitado al portal de desarrolladores de {service}, donde podrás probar las API y pedir acceso \
                 para tus aplicaciones. Acepta la invitación para crear tu cuenta."
            ),
        ),
        Invitee::Operator => (
            format!("Invitación a la consola de {service}"),
            format!(
                "Te han invitado a administrar {service}. Acepta la invitación para crear tu cuenta de la consola."
            ),
        ),
    }
}

fn unexpected<'a>(contact: &str) -> Part<'a> {
    let whom = if contact.is_empty() { "a quien administra tu cuenta" } else { contact };
    let separator = if contact.is_empty() { " " } else { ": " };
    paragraph(format!("Si no has sido tú, cambia la contraseña cuanto antes y avisa{separator}{whom}."))
}

fn footer(names: &Names) -> String {
    let Names { service, contact, .. } = names;
    let sent = format!("Este mensaje se ha enviado automáticamente desde {service}.");
    if contact.is_empty() { sent } else { format!("{sent} Contacto: {contact}") }
}
