//! The forms of one webhook's page that portal and console share.

use domain::WebhookStatus;
use maud::{Markup, html};
use ui::app::parts_code;

use super::text::webhooks::OneWebhookText;
use crate::PageContext;

/// Sends a generated event.
pub fn test_form<C: PageContext>(context: &C) -> Markup {
    let text = OneWebhookText::of(context.lang());
    html! {
        form.stack method="post" action=(context.here(&[], [])) {
            (context.form_token())
            p { (text.test_text) }
            button type="submit" class="button" name="do" value="test" { (text.test) }
        }
    }
}

/// Pauses it, or enables it again.
pub fn pause_form<C: PageContext>(context: &C, status: WebhookStatus) -> Markup {
    let text = OneWebhookText::of(context.lang());
    let is_paused = matches!(status, WebhookStatus::Disabled | WebhookStatus::DisabledByService);
    html! {
        @if is_paused {
            form.stack method="post" action=(context.here(&[], [])) {
                (context.form_token())
                button type="submit" class="button" name="do" value="enable" { (text.enable) }
            }
        } @else {
            details.more.danger id="pause" {
                summary { (text.pause) }
                form.stack method="post" action=(context.here(&[], [])) {
                    (context.form_token())
                    p { (text.pause_text) }
                    button type="submit" class="button destructive" name="do" value="pause" { (text.pause) }
                }
            }
        }
    }
}

pub fn delete_form<C: PageContext>(context: &C, url: &str) -> Markup {
    let text = OneWebhookText::of(context.lang());
    html! {
        details.more.danger id="delete" open[context.is_refused("delete")] {
            summary { (text.delete) }
            form.stack method="post" action=(context.here(&[], [])) {
                (context.form_token())
                p { (text.delete_text) " " (parts_code(url)) "." }
                button type="submit" class="button destructive" name="do" value="delete" { (text.delete) }
            }
        }
    }
}

/// Sends the events of a span of time again.
pub fn replay_form<C: PageContext>(context: &C) -> Markup {
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
