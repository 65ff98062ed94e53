//! The forms to ask for an application and for a redirect address.

use domain::ClientKind;
use domain::subscription::Product;
use maud::{Markup, html};
use ui::{Button, Field, RadioOption, button, client_kind_text, field, radio_option};

use super::subscriptions::product_name;
use crate::context::Context;
use crate::text::applications::ApplicationText;
use crate::text::subscriptions::SubscriptionText;

/// The kind of a new application, which never changes.
fn kind_field(context: &Context) -> Markup {
    let lang = context.lang();
    let option = |kind: ClientKind| {
        let text = client_kind_text(lang, kind);
        radio_option(&RadioOption {
            name: "kind",
            value: kind.as_str(),
            label: text.name,
            note: text.note,
            badge: None,
            error_id: None,
            is_checked: context.typed("kind").unwrap_or("web") == kind.as_str(),
        })
    };
    html! {
        fieldset {
            legend { (ApplicationText::of(lang).kind) }
            div.choices { @for kind in ClientKind::ALL { (option(kind)) } }
        }
    }
}

pub(super) fn redirect_field(context: &Context, is_required: bool) -> Markup {
    let text = ApplicationText::of(context.lang());
    html! {
        div.field {
            label for="redirect_uri" { (text.redirect) }
            input #redirect_uri name="redirect_uri" type="text" inputmode="url" autocapitalize="none" spellcheck="false" value=[context.typed("redirect_uri")] required[is_required] aria-describedby="redirect-hint";
            span.hint #redirect-hint { (text.redirect_hint) }
        }
    }
}

pub(super) fn ask_form(context: &Context) -> Markup {
    let lang = context.lang();
    let (text, products) = (ApplicationText::of(lang), SubscriptionText::of(lang));
    let values = context.values("ask");
    html! {
        form.stack method="post" action=(context.here(&[], [])) {
            (context.form_token())
            (field(&Field { name: "name", label: text.name, value: context.typed("name"), is_required: true, ..Field::default() }))
            (kind_field(context))
            // A resource server has none.
            (redirect_field(context, false))
            fieldset.stack {
                legend { (text.products) }
                @for product in Product::ALL {
                    label.check {
                        input type="checkbox" name="product" value=(product.as_str()) checked[values.is_chosen("product", product.as_str(), product == Product::Accounting)];
                        span { (product_name(products, product.as_str())) }
                    }
                }
            }
            label.check {
                input type="checkbox" name="pkce" value="true" checked[values.is_checked("pkce", true)];
                span { (text.pkce) span.hint { (text.pkce_hint) } }
            }
            label.check { input type="checkbox" name="sandbox" value="true" checked[values.is_checked("sandbox", false)]; span { (products.ask_sandbox) } }
            div.field {
                label for="note" { (text.note) }
                textarea #note name="note" rows="2" maxlength="1000" { (context.typed("note").unwrap_or_default()) }
            }
            (button(&Button { label: text.send, name_and_value: Some(("do", "ask")), ..Button::default() }))
        }
    }
}
