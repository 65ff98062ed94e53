//! What notices to teams say, in pages and in mails.

use domain::NoticeKind;

use crate::Lang;

/// What has happened, in one sentence without a full stop.
pub const fn notice_title(lang: Lang, kind: NoticeKind) -> &'static str {
    match (lang, kind) {
        (Lang::Es, NoticeKind::WebhookFailing) => "Un webhook lleva más de una hora fallando",
        (Lang::En, NoticeKind::WebhookFailing) => "A webhook has been failing for more than an hour",
        (Lang::Es, NoticeKind::WebhookDisabled) => "El servicio ha desactivado un webhook",
        (Lang::En, NoticeKind::WebhookDisabled) => "The service has disabled a webhook",
        (Lang::Es, NoticeKind::WebhookSuspended) => {
            "Un webhook está suspendido porque su acceso ha terminado"
        }
        (Lang::En, NoticeKind::WebhookSuspended) => "A webhook is suspended because its access has ended",
        (Lang::Es, NoticeKind::RequestApproved) => "Se ha aprobado una solicitud",
        (Lang::En, NoticeKind::RequestApproved) => "A request was approved",
        (Lang::Es, NoticeKind::RequestRefused) => "Se ha rechazado una solicitud",
        (Lang::En, NoticeKind::RequestRefused) => "A request was refused",
        (Lang::Es, NoticeKind::KeyEnds) => "Una clave sustituida está a punto de caducar",
        (Lang::En, NoticeKind::KeyEnds) => "A replaced key is about to expire",
        (Lang::Es, NoticeKind::ClientSecretEnds) => "Un secreto sustituido está a punto de caducar",
        (Lang::En, NoticeKind::ClientSecretEnds) => "A replaced secret is about to expire",
    }
}
