//! The forms of one webhook's page.

use domain::WebhookStatus;
use maud::{Markup, html};
use ui::app::parts_code;
use ui::timestamp;

use super::overlap::overlap_field;
use super::webhook::WebhookPage;
use crate::context::Context;
use crate::text::webhooks::OneWebhookText;

impl WebhookPage {
    pub(super) fn actions(&self, context: &Context) -> Markup {
        let text = OneWebhookText::of(context.lang());
        let is_active = self.row.status == WebhookStatus::Active;
        html! {
            section.card {
                h2 { (text.actions) }
                @if is_active {
                    form.stack method="post" action=(context.here(&[], [])) {
                        (context.form_token())
                        p { (text.test_text) }
                        button type="submit" class="button" name="do" value="test" { (text.test) }
                    }
                    (replay_form(context))
                } @else {
                    p.muted { (text.only_active) }
                }
                (self.pause_form(context))
                (self.url_form(context))
                (self.rotate_form(context))
                (self.delete_form(context))
            }
        }
    }

    fn pause_form(&self, context: &Context) -> Markup {
        let text = OneWebhookText::of(context.lang());
        let is_paused = matches!(self.row.status, WebhookStatus::Disabled | WebhookStatus::DisabledByService);
        html! {
            @if is_paused {
                form.stack method="post" action=(context.here(&[], [])) {
                    (context.form_token())
                    button type="submit" class="button" name="do" value="enable" { (text.enable) }
                }
            } @else {
                details.more id="pause" {
                    summary { (text.pause) }
                    form.stack method="post" action=(context.here(&[], [])) {
                        (context.form_token())
                        p { (text.pause_text) }
                        button type="submit" class="button secondary" name="do" value="pause" { (text.pause) }
                    }
                }
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
                            input #url name="url" type="text" inputmode="url" autocapitalize="none" spellcheck="false" required value=(context.typed("url").unwrap_or(&self.row.url));
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

    fn delete_form(&self, context: &Context) -> Markup {
        let text = OneWebhookText::of(context.lang());
        html! {
            details.more.danger id="delete" open[context.is_refused("delete")] {
                summary { (text.delete) }
                form.stack method="post" action=(context.here(&[], [])) {
                    (context.form_token())
                    p { (text.delete_text) " " (parts_code(&self.row.url)) "." }
                    button type="submit" class="button destructive" name="do" value="delete" { (text.delete) }
                }
            }
        }
    }
}

fn replay_form(context: &Context) -> Markup {
    let text = OneWebhookText::of(context.lang());
    html! {
        details.more id="replay" open[context.is_refused("replay")] {
            summary { (text.replay) }
            form.stack method="post" action=(context.here(&[], [])) {
                (context.form_token())
                p { (text.replay_text) }
                div.field {
                    label for="from" { (text.from) }
                    input #from name="from" type="datetime-local" value=[context.typed("from")] required;
                }
                div.field {
                    label for="to" { (text.to) }
                    input #to name="to" type="datetime-local" value=[context.typed("to")] aria-describedby="to-hint";
                    span.hint #to-hint { (text.to_hint) }
                }
                button type="submit" class="button" name="do" value="replay" { (text.replay) }
            }
        }
    }
}
