//! The field that says how long a replaced key or secret stays valid.

use maud::{Markup, html};
use ui::Lang;

use crate::text::subscriptions::SubscriptionText;

/// How long the present key or secret stays valid.
pub(crate) fn overlap_field(lang: Lang, id: &str) -> Markup {
    let text = SubscriptionText::of(lang);
    html! {
        div.field {
            label for={ "overlap-" (id) } { (text.overlap) }
            select id={ "overlap-" (id) } name="overlap" {
                option value="day" { (text.day) }
                option value="hour" { (text.hour) }
                option value="week" { (text.week) }
                option value="none" { (text.overlap_none) }
            }
        }
    }
}
