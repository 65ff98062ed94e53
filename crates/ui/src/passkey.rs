//! The form with which a person creates a passkey or signs in with one. Its script is `passkey.js`; the page's policy has to
//! allow it (`script-src 'self'`).

use maud::{Markup, html};

use crate::{Button, Icon, asset, button, safe_href};

/// The name of the field that has the browser's response, as JSON. It is empty if the browser ran no script.
pub const PASSKEY_FIELD: &str = "passkey";

/// What the browser is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasskeyCeremony {
    Create,
    Get,
}

impl PasskeyCeremony {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Get => "get",
        }
    }
}

/// What the form says when it cannot go on.
#[derive(Clone, Copy, Debug)]
pub struct PasskeyMessages<'a> {
    /// Scripts are switched off.
    pub no_script: &'a str,
    /// The browser or the device cannot use passkeys here.
    pub unsupported: &'a str,
    /// The person cancelled, or the time is over.
    pub cancelled: &'a str,
    /// The device already has a passkey of this account.
    pub registered: &'a str,
}

#[derive(Clone, Copy, Debug)]
pub struct PasskeyForm<'a> {
    pub ceremony: PasskeyCeremony,
    /// The options of the ceremony as JSON.
    pub options: &'a str,
    pub action: &'a str,
    /// Base path of the assets, without a trailing slash.
    pub assets: &'a str,
    pub button: Button<'a>,
    pub messages: PasskeyMessages<'a>,
}

/// Renders the form; `fields` are its other fields.
pub fn passkey_form(form: &PasskeyForm<'_>, fields: &Markup) -> Markup {
    let script = format!("{}/{}", form.assets, asset::passkey_script().name);
    let messages = [
        ("unsupported", form.messages.unsupported),
        ("cancelled", form.messages.cancelled),
        ("registered", form.messages.registered),
    ];
    html! {
        form.stack method="post" action=(safe_href(form.action)) data-passkey=(form.ceremony.as_str())
            data-passkey-options=(form.options) {
            (fields)
            input type="hidden" name=(PASSKEY_FIELD) value="" autocomplete="off";
            @for (name, text) in messages {
                div.notice.warning role="alert" data-passkey-message=(name) hidden { (message(text)) }
            }
            noscript { div.notice.warning { (message(form.messages.no_script)) } }
            (button(&form.button))
        }
        script src=(safe_href(&script)) defer {}
    }
}

fn message(text: &str) -> Markup {
    html! { (Icon::Alert) div { p.notice-title { (text) } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(ceremony: PasskeyCeremony) -> String {
        let messages = PasskeyMessages { no_script: "N", unsupported: "U", cancelled: "C", registered: "R" };
        let form = PasskeyForm {
            ceremony,
            options: r#"{"challenge":"AA","name":"<\"&"}"#,
            action: "/auth/core/passkey",
            assets: "/look",
            button: Button { label: "Go on", ..Button::default() },
            messages,
        };
        passkey_form(&form, &html! { input type="hidden" name="ticket" value="t"; }).into_string()
    }

    #[test]
    fn the_form_has_what_the_script_reads() {
        let text = form(PasskeyCeremony::Create);
        assert!(text.contains(r#"data-passkey="create""#));
        assert!(form(PasskeyCeremony::Get).contains(r#"data-passkey="get""#));
        assert!(text.contains("data-passkey-options=\"{&quot;challenge&quot;:&quot;AA&quot;,"));
        assert!(!text.contains(r"<\"), "{text}");
        assert!(text.contains(r#"<input type="hidden" name="passkey" value="" autocomplete="off">"#));
        assert!(text.contains(r#"name="ticket""#));
        assert!(text.contains(&format!(r#"<script src="/look/{}" defer>"#, asset::passkey_script().name)));
        let script = asset::passkey_script().body;
        for name in ["unsupported", "cancelled", "registered"] {
            assert!(text.contains(&format!(r#"data-passkey-message="{name}" hidden"#)), "{name}");
            assert!(script.contains(&format!("\"{name}\"")), "{name}");
        }
        for name in ["data-passkey", "passkeyOptions", "passkeyMessage", r#"input[name="passkey"]"#] {
            assert!(script.contains(name), "{name}");
        }
    }

    #[test]
    fn the_script_sends_nothing_and_evaluates_nothing() {
        let script = asset::passkey_script().body;
        for forbidden in [
            "fetch(",
            "XMLHttpRequest",
            "sendBeacon",
            "WebSocket",
            "import",
            "eval",
            "Function(",
            "innerHTML",
            "http:",
            "https:",
        ] {
            assert!(!script.contains(forbidden), "{forbidden}");
        }
    }
}
