//! The kinds of clients in words, for the pages of operators and developers.

use domain::ClientKind;
use maud::{Markup, html};

use crate::{Lang, RadioOption, radio_option};

/// What pages say about a kind of client.
#[derive(Clone, Copy, Debug)]
pub struct ClientKindText {
    pub name: &'static str,
    /// What the kind means for its secret and its addresses.
    pub note: &'static str,
}

pub fn client_kind_text(lang: Lang, kind: ClientKind) -> ClientKindText {
    let (name, note) = match (lang, kind) {
        (Lang::Es, ClientKind::Web) => ("Aplicación web", "Tiene un servidor, que guarda el secreto."),
        (Lang::En, ClientKind::Web) => ("Web application", "It has a server, which keeps the secret."),
        (Lang::Es, ClientKind::Browser) => (
            "Aplicación de navegador",
            "Se ejecuta en el navegador: sin secreto y con PKCE. Sus páginas pueden pedir tokens (CORS).",
        ),
        (Lang::En, ClientKind::Browser) => (
            "Browser application",
            "It runs in a browser: no secret, with PKCE. Its pages may request tokens (CORS).",
        ),
        (Lang::Es, ClientKind::Native) => (
            "Aplicación nativa",
            "Para móviles u ordenadores: sin secreto y con PKCE. También admite http://127.0.0.1 con cualquier puerto y esquemas propios como com.example.app:/callback.",
        ),
        (Lang::En, ClientKind::Native) => (
            "Native application",
            "For phones or desktops: no secret, with PKCE. It may also have http://127.0.0.1 with any port and schemes of its own such as com.example.app:/callback.",
        ),
        (Lang::Es, ClientKind::ResourceServer) => (
            "Servidor de recursos",
            "Una API que comprueba los tokens que recibe. Tiene un secreto y ninguna dirección de retorno.",
        ),
        (Lang::En, ClientKind::ResourceServer) => (
            "Resource server",
            "An API that checks the tokens it receives. It has a secret and no redirect addresses.",
        ),
    };
    ClientKindText { name, note }
}

/// The choice of a new client's kind, which never changes; web where nothing was chosen.
pub fn client_kind_field(lang: Lang, legend: &str, chosen: Option<&str>) -> Markup {
    let chosen = chosen.unwrap_or(ClientKind::Web.as_str());
    let option = |kind: ClientKind| {
        let text = client_kind_text(lang, kind);
        radio_option(&RadioOption {
            name: "kind",
            value: kind.as_str(),
            label: text.name,
            note: text.note,
            badge: None,
            error_id: None,
            is_checked: kind.as_str() == chosen,
        })
    };
    html! {
        fieldset {
            legend { (legend) }
            div.choices { @for kind in ClientKind::ALL { (option(kind)) } }
        }
    }
}
