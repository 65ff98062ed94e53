//! The texts of the pages of one-time links.

mod en;
mod es;

use domain::Realm;

pub(super) use en::LINK as EN;
pub(super) use es::LINK as ES;

use super::{Message, NameTemplate};

pub(in crate::pages) struct LinkText {
    pub email: &'static str,
    pub invitation_title: &'static str,
    pub invitation_lead: fn(Realm) -> &'static str,
    pub invitation_submit: &'static str,
    pub reset_title: &'static str,
    pub reset_lead: NameTemplate,
    pub reset_submit: &'static str,
    pub reset_note: &'static str,
    pub password_set: Message,
    pub forgot: Message,
    pub forgot_sent: Message,
    pub registration: Message,
    pub registration_sent: Message,
    pub send_link: &'static str,
    /// Where no mail arrives.
    pub no_mail: &'static str,
    /// Whom to ask.
    pub ask: NameTemplate,
    pub to_sign_in: &'static str,
    pub void_title: &'static str,
    pub void_text: &'static str,
    pub void_invitation: &'static str,
    /// The link to the page that sends a new one.
    pub void_reset: &'static str,
    pub void_reset_ask: &'static str,
    pub email_refused: &'static str,
    pub account_exists: Message,
    pub too_often: &'static str,
    /// After a page was open for too long.
    pub again: &'static str,
    /// On the sign-in page: the link to the page that sends a reset.
    pub forgotten: &'static str,
    /// On the sign-in page, where no mail is sent.
    pub forgotten_ask: NameTemplate,
    /// On the sign-in page: the link to the registration.
    pub register: &'static str,
}
