//! The forms to ask for an application and for a redirect address.

use domain::subscription::Product;
use maud::{Markup, html};
use ui::{Button, Field, button, client_kind_field, field};

use super::subscriptions::product_name;
use crate::context::Context;
use crate::text::applications::ApplicationText;
use crate::text::subscriptions::SubscriptionText;

pub(super) fn redirect_field(context: &Context, is_required: bool) -> Markup {
    let text = ApplicationText::of(context.lang());
    html! {
        div.field {
            label for="redirect_uri" { (text.redirect) }
            input #redirect_uri name="redirect_uri" type="text" inputmode="url" placeholder="https://app.example.com/callback" autocapitalize="none" spellcheck="false" value=[context.typed("redirect_uri")] required[is_required] aria-describedby="redirect-hint";
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
            (client_kind_field(context.lang(), ApplicationText::of(context.lang()).kind, context.typed("kind")))
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
