//! The forms of one webhook's page.

use domain::WebhookStatus;
use maud::{Markup, html};
use pages::webhooks::forms::{delete_form, pause_form, replay_form, test_form};
use pages::webhooks::text::webhooks::OneWebhookText;
use ui::timestamp;

use super::overlap::overlap_field;
use super::webhook::WebhookPage;
use crate::context::Context;

impl WebhookPage {
    pub(super) fn actions(&self, context: &Context) -> Markup {
        let text = OneWebhookText::of(context.lang());
        let is_active = self.row.status == WebhookStatus::Active;
        html! {
            section.card {
                h2 { (text.actions) }
                @if is_active {
                    (test_form(context))
                    (replay_form(context))
                } @else {
                    p.muted { (text.only_active) }
                }
                (pause_form(context, self.row.status))
                (self.url_form(context))
                (self.rotate_form(context))
                (delete_form(context, &self.row.url))
            }
        }
    }

    fn url_form(&self, context: &Context) -> Markup {
        let text = OneWebhookText::of(context.lang());
        html! {
            details.more id="change-url" open[context.is_refused("change_url")] {
                summary { (text.change_url) }
                @if self.can_change_url {
                    form.stack method="post" action=(context.here(&[], [])) {
                        (context.form_token())
                        p { (text.change_url_text) }
                        div.field {
                            label for="url" { (text.new_url) }
                            input #url name="url" type="text" inputmode="url" placeholder="https://hooks.example.com/aldaba" autocapitalize="none" spellcheck="false" required value=(context.typed("url").unwrap_or(&self.row.url));
                        }
                        button type="submit" class="button" name="do" value="change_url" { (text.change_url) }
                    }
                } @else {
                    p { (text.fixed_url) }
                }
            }
        }
    }

    fn rotate_form(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = OneWebhookText::of(lang);
        html! {
            @if let Some(until) = self.previous_secret_until_at { p { (text.both_secrets) " " (timestamp(lang, until)) "." } }
            details.more.danger id="rotate" open[context.is_refused("rotate")] {
                summary { (text.rotate) }
                form.stack method="post" action=(context.here(&[], [])) {
                    (context.form_token())
                    p { (text.rotate_text) }
                    div.field {
                        label for="secret" { (text.secret) }
                        input #secret name="secret" type="text" maxlength="256" autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="secret-hint";
                        span.hint #secret-hint { (text.secret_hint) }
                    }
                    (overlap_field(lang, "secret"))
                    button type="submit" class="button destructive" name="do" value="rotate" { (text.rotate) }
                }
            }
        }
    }
}
