//! The forms of one client.

use maud::{Markup, html};
use store::{CallbackIdToken, Consent};
use ui::{Field, Lang, field};

use super::client::ClientPage;
use super::parts::{
    Act, act, check_field, lines_field, overlap_field, products_field, revision_field, select_field,
};
use super::request::pkce_name;
use crate::applications::text::area::AreaText;
use crate::applications::text::clients::ClientText;
use crate::context::Context;
use crate::text::CommonText;

/// A resource server has no addresses, so that the field of a new client is not required.
pub(super) fn redirect_field(lang: Lang, value: &str, is_required: bool) -> Markup {
    let text = ClientText::of(lang);
    lines_field("redirect_uris", (text.redirect_uris, text.redirect_hint), value, is_required)
}

pub(super) fn backchannel_field(lang: Lang, value: &str) -> Markup {
    let text = ClientText::of(lang);
    field(&Field {
        name: "backchannel_logout_uri",
        label: text.backchannel,
        value: Some(value),
        hint: Some(text.backchannel_hint),
        ..Field::default()
    })
}

pub(super) fn pkce_field(lang: Lang, chosen: &str) -> Markup {
    let text = ClientText::of(lang);
    let options =
        [("required", text.pkce_required), ("if-sent", text.pkce_if_sent), ("ignore", text.pkce_ignore)];
    select_field("pkce", "pkce", text.pkce, &options, chosen)
}

fn id_token_field(lang: Lang, chosen: &str) -> Markup {
    let text = ClientText::of(lang);
    let word = |one| match one {
        CallbackIdToken::Auto => text.id_token_auto,
        CallbackIdToken::Always => text.id_token_always,
        CallbackIdToken::Never => text.id_token_never,
    };
    let options = CallbackIdToken::ALL.map(|one| (one.as_str(), word(one)));
    select_field("id_token", "id_token", text.id_token, &options, chosen)
}

impl ClientPage {
    pub(super) fn actions(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = ClientText::of(lang);
        let (label, what, is_dangerous, name) = if self.row.is_active {
            (text.disable, text.disable_text, true, "disable")
        } else {
            (text.enable, text.enable_text, false, "enable")
        };
        let status = Act { id: "status", name, label, what: &self.row.name, text: what, is_dangerous };
        html! {
            section.card {
                h2 { (CommonText::of(lang).actions) }
                (self.change_form(context))
                (act(context, &status, &html! {}))
            }
        }
    }

    pub(super) fn rotate_form(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = ClientText::of(lang);
        let rotate = Act {
            id: "rotate",
            name: "rotate",
            label: text.rotate,
            what: &self.row.name,
            text: text.rotate_text,
            is_dangerous: true,
        };
        act(context, &rotate, &overlap_field(lang, "secret"))
    }

    fn change_form(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, area, common) = (ClientText::of(lang), AreaText::of(lang), CommonText::of(lang));
        let client = &self.client;
        let values = context.values("change");
        let team = values.text("team", client.team.as_ref().map_or("", |team| team.as_str()));
        let (redirects, logouts) = (client.redirect_uris.join("\n"), client.post_logout_uris.join("\n"));
        html! {
            details.more #change open[values.is_refused()] {
                summary { (text.change) }
                form method="post" action=(context.path()) {
                    (context.form_token()) (revision_field(values, client.revision))
                    p { (text.change_text) }
                    (field(&Field { name: "name", label: area.name, value: Some(values.text("name", &client.name)), hint: Some(text.name_hint), is_required: true, ..Field::default() }))
                    @if client.kind.signs_users_in() {
                        (redirect_field(lang, values.text("redirect_uris", &redirects), true))
                        (lines_field("logout_uris", (text.logout_uris, text.logout_hint), values.text("logout_uris", &logouts), false))
                        (backchannel_field(lang, values.text("backchannel_logout_uri", client.backchannel_logout_uri.as_deref().unwrap_or_default())))
                    }
                    (products_field(lang, values, client.products))
                    @if !client.kind.is_public() { (pkce_field(lang, values.text("pkce", pkce_name(client.pkce)))) }
                    (id_token_field(lang, values.text("id_token", client.callback_id_token.as_str())))
                    (check_field("consent", (text.ask_consent, text.ask_consent_hint), values.is_checked("consent", client.consent == Consent::Required)))
                    (check_field("sandbox", (area.sandbox_only, area.sandbox_only_hint), values.is_checked("sandbox", client.is_sandbox)))
                    (field(&Field { name: "team", label: area.team_id, value: Some(team), hint: Some(area.team_hint), ..Field::default() }))
                    p.muted { (common.fresh_needed) }
                    button type="submit" class="button" name="do" value="change" { (common.save) }
                }
            }
        }
    }
}
