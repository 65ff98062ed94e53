//! The problems of the service, in the language of the page, each with a link to its page.

use maud::{Markup, html};
use operator::admin::{ProblemKind, ServiceProblem};
use ui::app::number;
use ui::{DisplayName, Severity, notice, safe_href, timestamp};

use super::text::ProblemText;
use crate::context::Context;

/// One sentence that says that everything works, or one sentence for each problem.
pub(super) fn verdict(context: &Context, problems: &[ServiceProblem]) -> Markup {
    let text = ProblemText::of(context.lang());
    if problems.is_empty() {
        return notice(Severity::Success, "verdict", &html! { (text.all_well) }, None);
    }
    let is_urgent = problems.iter().any(|problem| problem.is_urgent);
    let severity = if is_urgent { Severity::Error } else { Severity::Warning };
    match problems {
        [only] => notice(severity, "verdict", &sentence(context, only), None),
        all => html! {
            (notice(severity, "verdict", &html! { (text.not_well) }, None))
            section.card { ul.links { @for problem in all { li { (sentence(context, problem)) } } } }
        },
    }
}

fn sentence(context: &Context, problem: &ServiceProblem) -> Markup {
    let lang = context.lang();
    let text = ProblemText::of(lang);
    let count = number(lang, problem.count.unwrap_or_default());
    let subject = problem.subject.as_deref().unwrap_or_default();
    let at = problem.at.map(|at| timestamp(lang, at)).unwrap_or_default();
    let link =
        |page: &str, words: &str| html! { a href=(safe_href(&context.console_path(page))) { (words) } };
    html! {
        @match problem.kind {
            ProblemKind::UnheldShards => { (text.unheld_shards) " " (count) " / 256. " (link("doctor", text.see_doctor)) },
            ProblemKind::CallsFail => { (text.calls_fail) " " (subject) ": " (count) ". " (link(&format!("?area={subject}"), text.see_area)) },
            ProblemKind::WebhooksFail => { (text.webhooks_fail) ": " (count) ". " (link("webhooks?state=failing", text.see_webhooks)) },
            ProblemKind::DeliveriesLate => { (text.deliveries_late) " " (at) ". " (link("webhooks", text.see_webhooks)) },
            ProblemKind::CertificateEnds if problem.is_urgent => { (text.certificate_ended) " (" (DisplayName(subject)) ", " (at) "). " (link("doctor", text.see_doctor)) },
            ProblemKind::CertificateEnds => { (text.certificate_ends) " (" (DisplayName(subject)) ", " (at) "). " (link("doctor", text.see_doctor)) },
            ProblemKind::TokenEnds => { (text.token_ends) " " (DisplayName(subject)) " (" (at) "). " (link("tokens", text.see_tokens)) },
            ProblemKind::ReplicaBehind => { (text.replica_behind) " " (DisplayName(subject)) ": " (count) " s." },
            ProblemKind::VersionsDiffer => { (text.versions_differ) ": " (count) "." },
        }
    }
}
