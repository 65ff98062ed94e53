//! Words of the page of notices.

use domain::NoticeKind;
use pages::texts;
use ui::Lang;

texts! {
    NoticeText {
        title: "Avisos", "Notices";
        lead: "Lo que el equipo debe saber: webhooks que fallan, solicitudes decididas, claves y secretos que caducan. Se guardan 90 días.", "What the team should know: failing webhooks, decided requests, keys and secrets that expire. They are kept for 90 days.";
        none: "No hay avisos", "There are no notices";
        none_text: "Aquí aparece lo que merece tu atención: un webhook que lleva una hora fallando o que se ha desactivado o suspendido, la respuesta a una solicitud, la caducidad de una clave o de un secreto. También te llega por correo, si quieres.", "What needs your attention appears here: a webhook that has failed for an hour or was disabled or suspended, the answer to a request, the expiry of a key or a secret. It also comes by mail, if you want.";
        new: "nuevo", "new";
        what: "Qué ha pasado", "What happened";
        about: "Sobre", "About";
        reason: "Motivo", "Reason";
        since: "Desde", "Since";
        ends: "Caduca", "Expires";
        mark_read: "Marcar todos como leídos", "Mark all as read";
        by_mail: "Por correo", "By mail";
        by_mail_text: "Elige qué avisos de este equipo recibes por correo. Solo cambia tu correo, no el de los demás.", "Choose which notices of this team you get by mail. This changes only your own mail.";
    }
}

/// What to do.
pub(crate) const fn advice(lang: Lang, kind: NoticeKind) -> &'static str {
    match (lang, kind) {
        (Lang::Es, NoticeKind::WebhookFailing) => {
            "Mira en las entregas fallidas qué responde tu receptor. Si no las acepta antes de que acaben los reintentos, el webhook se desactiva."
        }
        (Lang::En, NoticeKind::WebhookFailing) => {
            "See in the failed deliveries what your receiver answers. If it does not accept them before the retries end, the webhook is disabled."
        }
        (Lang::Es, NoticeKind::WebhookDisabled) => {
            "Comprueba que el receptor responde y vuelve a activarlo: sigue desde el primer evento sin entregar."
        }
        (Lang::En, NoticeKind::WebhookDisabled) => {
            "Check that the receiver answers, then enable it again: it goes on with the first undelivered event."
        }
        (Lang::Es, NoticeKind::WebhookSuspended) => {
            "No se envía nada hasta que alguien de ese cliente vuelva a dar acceso a la aplicación. No se pierde ningún evento que aún se conserve."
        }
        (Lang::En, NoticeKind::WebhookSuspended) => {
            "Nothing is sent until somebody of that customer gives the application access again. No event that is still kept is lost."
        }
        (Lang::Es, NoticeKind::RequestApproved) => "Ya puedes usarlo.",
        (Lang::En, NoticeKind::RequestApproved) => "You can use it now.",
        (Lang::Es, NoticeKind::RequestRefused) => "Corrige lo que dice el motivo y pídelo de nuevo.",
        (Lang::En, NoticeKind::RequestRefused) => "Fix what the reason says, and ask again.",
        (Lang::Es, NoticeKind::KeyEnds) => "Comprueba que todos tus programas usan ya la clave nueva.",
        (Lang::En, NoticeKind::KeyEnds) => "Check that all your programs already use the new key.",
        (Lang::Es, NoticeKind::ClientSecretEnds) => {
            "Comprueba que todos tus programas usan ya el secreto nuevo."
        }
        (Lang::En, NoticeKind::ClientSecretEnds) => {
            "Check that all your programs already use the new secret."
        }
    }
}
