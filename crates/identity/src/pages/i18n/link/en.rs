//! The texts of the pages of one-time links in English.

use domain::Realm;
use maud::html;

use super::super::Message;
use super::LinkText;

pub(in crate::pages::i18n) const LINK: LinkText = LinkText {
    email: "Email address",
    invitation_title: "Create your account",
    invitation_lead: |realm| match realm {
        Realm::Users => "and choose the password with which you will sign in",
        Realm::Developers => "for the developer portal",
        Realm::Operators => "for the operator console",
    },
    invitation_submit: "Create the account",
    reset_title: "Choose a new password",
    reset_lead: |email| html! { "for " b { (email) } },
    reset_submit: "Save the password",
    reset_note: "All your sessions end, on every device. If you have a second factor, you still need it.",
    password_set: Message {
        title: "Your password has been changed",
        text: "All your sessions have ended. Sign in with the new password.",
    },
    forgot: Message {
        title: "Forgot your password?",
        text: "Enter your email address. We will send you a link to choose a new password.",
    },
    forgot_sent: Message {
        title: "Check your mail",
        text: "If there is an account with this address, we have sent a link to it. It works once, for one hour.",
    },
    registration: Message {
        title: "Create a developer account",
        text: "Enter your email address. We will send you a link to create your account.",
    },
    registration_sent: Message {
        title: "Check your mail",
        text: "If this address has no account yet, we have sent a link to it. It works once, for three days.",
    },
    send_link: "Send the link",
    no_mail: "No mail after a few minutes? Look in the spam folder, and check that you wrote the address correctly.",
    ask: |contact| html! { "If you need help, ask " (contact) "." },
    to_sign_in: "Go to the sign-in page",
    void_title: "This link does not work",
    void_text: "It may have been used already, have been replaced by a newer one, or have expired.",
    void_invitation: "If you already have an account, just sign in. If not, ask the person who invited you for a new link.",
    void_reset: "Ask for a new link",
    void_reset_ask: "Ask your administrator for a new password.",
    email_refused: "Enter a complete email address, for example maria@example.com",
    account_exists: Message {
        title: "This address already has an account",
        text: "Sign in with it. If you have forgotten the password, you can set a new one.",
    },
    too_often: "Too many requests",
    again: "It has expired to keep your account safe. Just send the form again.",
    forgotten: "Forgot your password?",
    forgotten_ask: |contact| html! { "Forgot your password? Ask " (contact) " for a new one." },
    register: "Create an account",
};
