//! The back-channel logout of an application: its address, and what became of the last one.

use domain::Ticks;
use maud::{Markup, html};
use serde::Serialize;
use store::{Client, LogoutProgress, Store};
use ui::app::{State, parts_code, state};
use ui::{Lang, timestamp};

use crate::texts;

texts! {
    LogoutText {
        title: "Cierre de sesión por canal trasero", "Back-channel logout";
        text: "Cuando termina la sesión de una persona que entró con esta aplicación, la aplicación recibe aquí un logout_token.", "When the session of somebody who signed in with this application ends, the application gets a logout_token here.";
        none: "La aplicación no ha registrado ninguna dirección: no se le avisa.", "The application has no address: it is not told.";
        last: "El último", "The last one";
        never: "Todavía ninguno", "None yet";
        waiting: "Pendiente", "Waiting";
        delivered: "Entregado", "Delivered";
        failed: "Fallido", "Failed";
        attempts: "Intentos", "Attempts";
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BackchannelLogoutView {
    backchannel_logout_uri: Option<String>,
    last_backchannel_logout: Option<LastLogout>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LastLogout {
    /// `waiting`, `delivered` or `failed`.
    state: &'static str,
    /// When the session ended.
    at: String,
    ended_at: Option<String>,
    attempts: u32,
    error: String,
    #[serde(skip)]
    began_at: Ticks,
}

impl From<LogoutProgress> for LastLogout {
    fn from(progress: LogoutProgress) -> Self {
        Self {
            state: progress.state.as_str(),
            at: progress.logout.created_at.iso(),
            ended_at: progress.ended_at.map(Ticks::iso),
            attempts: progress.attempts,
            error: progress.error,
            began_at: progress.logout.created_at,
        }
    }
}

impl BackchannelLogoutView {
    pub async fn read(store: &dyn Store, client: &Client) -> store::Result<Self> {
        Ok(Self {
            backchannel_logout_uri: client.backchannel_logout_uri.clone(),
            last_backchannel_logout: store.last_logout(&client.id).await?.map(Into::into),
        })
    }

    pub fn uri(&self) -> Option<&str> {
        self.backchannel_logout_uri.as_deref()
    }

    /// A card for the application's page, with the form that changes the address where the page has one.
    pub fn card(&self, lang: Lang, form: Option<&Markup>) -> Markup {
        let text = LogoutText::of(lang);
        html! {
            section.card #backchannel-logout {
                h2 { (text.title) }
                @if let Some(uri) = &self.backchannel_logout_uri {
                    p.muted { (text.text) }
                    p { (parts_code(uri)) }
                } @else {
                    p.muted { (text.none) }
                }
                @if let Some(last) = &self.last_backchannel_logout {
                    (last.content(lang))
                } @else if self.backchannel_logout_uri.is_some() {
                    p { (text.last) ": " (text.never) }
                }
                @if let Some(form) = form { (form) }
            }
        }
    }
}

impl LastLogout {
    fn content(&self, lang: Lang) -> Markup {
        let text = LogoutText::of(lang);
        let (kind, word) = match self.state {
            "waiting" => (State::Waiting, text.waiting),
            "delivered" => (State::Ok, text.delivered),
            _ => (State::Bad, text.failed),
        };
        html! {
            p {
                (text.last) ": " (timestamp(lang, self.began_at)) " " (state(kind, word)) " "
                span.muted { (text.attempts) ": " (self.attempts) }
            }
            @if !self.error.is_empty() { p.muted lang="en" { (self.error) } }
        }
    }
}
