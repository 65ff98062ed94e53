//! Why a webhook is behind, in plain words, and what to do.

use domain::Ticks;
use maud::{Markup, html};
use pages::webhooks::Reader;
use pages::webhooks::diagnosis::Diagnosis;
use pages::webhooks::row::disabled_reason;
use pages::webhooks::text::diagnosis::words;
use pages::webhooks::text::suspension::suspension;
use ui::app::{State, number, state};
use ui::{Lang, duration, timestamp};
use webhooks::history::BacklogCause;

/// One cause in words.
pub(super) struct Explanation {
    pub(super) kind: State,
    /// A few words.
    pub(super) title: &'static str,
    pub(super) what: Markup,
    pub(super) to_do: &'static str,
}

/// A sentence in the language of the page.
fn pick(lang: Lang, es: &'static str, en: &'static str) -> &'static str {
    match lang {
        Lang::Es => es,
        Lang::En => en,
    }
}

fn since(lang: Lang, at: Option<Ticks>) -> Markup {
    html! { @if let Some(at) = at { " " (pick(lang, "Desde el", "Since")) " " (timestamp(lang, at)) "." } }
}

fn next_attempt(lang: Lang, at: Option<Ticks>) -> Markup {
    html! {
        @if let Some(at) = at { " " (pick(lang, "El próximo intento es el", "The next attempt is at")) " " (timestamp(lang, at)) "." }
    }
}

impl Explanation {
    pub(super) fn of(lang: Lang, cause: &BacklogCause) -> Self {
        match cause {
            BacklogCause::Ended
            | BacklogCause::Suspended { .. }
            | BacklogCause::DisabledByService { .. }
            | BacklogCause::Paused
            | BacklogCause::AwaitingContract { .. } => Self::of_stopped(lang, cause),
            BacklogCause::BreakerOpen { .. }
            | BacklogCause::LanesParked { .. }
            | BacklogCause::EventsLost { .. } => Self::of_failing(lang, cause),
            BacklogCause::SlowReceiver { .. }
            | BacklogCause::CatchingUp { .. }
            | BacklogCause::Idle
            | BacklogCause::NothingWrong => Self::of_working(lang, cause),
        }
    }

    /// Nothing is sent.
    fn of_stopped(lang: Lang, cause: &BacklogCause) -> Self {
        let say = |es, en| pick(lang, es, en);
        match cause {
            BacklogCause::Suspended { reason, since: at } => Self {
                kind: State::Bad,
                title: say("Suspendido", "Suspended"),
                what: html! { (suspension(lang, Reader::Operator, *reason)) (since(lang, *at)) },
                to_do: say(
                    "Mientras tanto no se envía nada, y no se pierde ningún evento que conserve el registro de cambios. Después continúa con el primer evento no entregado.",
                    "Nothing is sent meanwhile, and no event that the log keeps is lost. Afterwards it goes on with the first undelivered event.",
                ),
            },
            BacklogCause::DisabledByService { at, reason } => Self {
                kind: State::Bad,
                title: say("Desactivado por el servicio", "Disabled by the service"),
                what: html! { (disabled_reason(lang, reason)) (since(lang, Some(*at))) },
                to_do: say(
                    "Comprueba con quien lleva el receptor que ya contesta, y actívalo: continúa con el primer evento no entregado.",
                    "Check with the receiver's owner that it answers again, then enable it: it goes on with the first undelivered event.",
                ),
            },
            BacklogCause::Paused => Self {
                kind: State::Off,
                title: say("Pausado", "Paused"),
                what: html! {
                    (say(
                        "Lo ha pausado su aplicación, su equipo o un operador. La auditoría dice quién. Lo que ocurra mientras tanto no se entregará.",
                        "Its application, its team or an operator has paused it. The audit says who. What happens meanwhile will not be delivered.",
                    ))
                },
                to_do: say(
                    "Si ya no hace falta que esté pausado, actívalo: continúa con el siguiente evento.",
                    "If it no longer needs to be paused, enable it: it goes on with the next event.",
                ),
            },
            BacklogCause::AwaitingContract { failed_attempts, next_attempt_at } => {
                Self::of_awaiting(lang, *failed_attempts, *next_attempt_at)
            }
            _ => Self {
                kind: State::Off,
                title: say("Terminado", "Ended"),
                what: html! {
                    (say(
                        "La suscripción está cancelada o eliminada, y eso es definitivo. Ya no se envía nada.",
                        "The subscription is cancelled or deleted, and that is permanent. Nothing is sent any more.",
                    ))
                },
                to_do: say("Quien lo creó puede suscribirse otra vez.", "Its owner can subscribe again."),
            },
        }
    }

    /// The receiver has not consented yet.
    fn of_awaiting(lang: Lang, failed_attempts: u32, next_attempt_at: Option<Ticks>) -> Self {
        let say = |es, en| pick(lang, es, en);
        Self {
            kind: State::Waiting,
            title: say("Esperando el contrato", "Awaiting contract"),
            what: html! {
                (say(
                    "El receptor tiene que contestar con un 200 al Acknowledge, y todavía no lo ha hecho. Intentos fallidos:",
                    "The receiver has to answer the Acknowledge with 200, and has not done so yet. Failed attempts:",
                ))
                " " (failed_attempts) "." (next_attempt(lang, next_attempt_at))
            },
            to_do: say(
                "Mira en las entregas qué contesta, y díselo a quien lleva el receptor. Si se acaba el plazo, el servicio desactiva el webhook.",
                "See in the deliveries what it answers, and tell the receiver's owner. If it does not answer in time, the service disables the webhook.",
            ),
        }
    }

    /// Something does not arrive.
    fn of_failing(lang: Lang, cause: &BacklogCause) -> Self {
        let say = |es, en| pick(lang, es, en);
        match cause {
            BacklogCause::BreakerOpen { failures_in_a_row } => Self {
                kind: State::Bad,
                title: say("El receptor falla una y otra vez", "The receiver keeps failing"),
                what: html! {
                    (say("Fallos seguidos:", "Failures in a row:")) " " (failures_in_a_row)
                    (say(
                        " o más. El servicio no lee eventos nuevos para él y los intenta de uno en uno, para no sobrecargarlo.",
                        " or more. The service reads no new events for it and tries only one at a time, so as not to overload it.",
                    ))
                },
                to_do: say(
                    "En cuanto el receptor acepte un evento, todo lo que espera se envía seguido. Si no va a volver pronto, páusalo.",
                    "As soon as the receiver accepts one event, everything that is waiting is sent. If it will not come back soon, pause it.",
                ),
            },
            BacklogCause::LanesParked { lanes, oldest_failure, next_attempt_at, last_failure } => Self {
                kind: State::Bad,
                title: say("Hay registros que esperan un reintento", "Records are waiting for a retry"),
                what: html! {
                    (say("Registros cuyo siguiente evento ha fallado:", "Records whose next event has failed:")) " " (number(lang, *lanes)) ". "
                    (say("Sus eventos posteriores esperan detrás de ese, en orden.", "Their later events wait behind that one, in order."))
                    @if let Some(at) = oldest_failure { " " (say("El primer fallo fue el", "The first failure was at")) " " (timestamp(lang, *at)) "." }
                    (next_attempt(lang, *next_attempt_at))
                    @if let Some(reason) = last_failure {
                        " " (say("El último fallo:", "The last failure:")) " "
                        @match Diagnosis::of_reason(reason) {
                            Diagnosis::Unknown => span lang="en" { (reason) "." },
                            known => (words(lang, known).what),
                        }
                    }
                },
                to_do: say(
                    "Mira en las entregas fallidas qué contesta el receptor y díselo a quien lo lleva. Cuando lo arregle, los eventos llegan solos.",
                    "See in the failed deliveries what the receiver answers, and tell its owner. Once it is fixed, the events arrive by themselves.",
                ),
            },
            cause => Self {
                kind: State::Bad,
                title: say("Algunos eventos no se entregarán nunca", "Some events will never be delivered"),
                what: html! {
                    (say(
                        "Llevaban sin entregarse más tiempo del que se conservan en el registro de cambios.",
                        "They had been undelivered for longer than the log keeps events.",
                    ))
                    @if let BacklogCause::EventsLost { at } = cause { (since(lang, Some(*at))) }
                },
                to_do: say(
                    "Di a quien lleva el receptor que lea las listas del recurso para ponerse al día.",
                    "Tell the receiver's owner to read the resource's lists to catch up.",
                ),
            },
        }
    }

    /// Events are delivered, or there is nothing to deliver.
    fn of_working(lang: Lang, cause: &BacklogCause) -> Self {
        let say = |es, en| pick(lang, es, en);
        match cause {
            BacklogCause::SlowReceiver { p95_milliseconds } => Self {
                kind: State::Waiting,
                title: say("El receptor tarda en contestar", "The receiver is slow to answer"),
                what: html! {
                    (say("Una de cada veinte respuestas tarda más de", "One in twenty responses takes longer than"))
                    " " (number(lang, u64::from(*p95_milliseconds))) "\u{a0}ms."
                },
                to_do: say(
                    "Di a quien lleva el receptor que conteste con un 200 nada más recibir el evento y lo procese después.",
                    "Tell the receiver's owner to answer 200 as soon as the event has come, and to process it afterwards.",
                ),
            },
            BacklogCause::CatchingUp { delivered_per_minute, minutes_left } => Self {
                kind: State::Waiting,
                title: say("Se está poniendo al día", "It is catching up"),
                what: html! {
                    (say("Entregas por minuto, en los últimos diez minutos:", "Deliveries per minute, over the last ten minutes:"))
                    " " (number(lang, *delivered_per_minute)) "."
                    @if let Some(minutes) = minutes_left {
                        " " (say("A este ritmo le faltan", "At this pace it takes")) " " (duration(lang, minutes.saturating_mul(60))) "."
                    }
                },
                to_do: say("No hace falta hacer nada.", "You need not do anything."),
            },
            BacklogCause::Idle => Self {
                kind: State::Waiting,
                title: say(
                    "Hay eventos en espera y no se envía nada",
                    "Events are waiting and nothing is sent",
                ),
                what: html! {
                    (say(
                        "No falla ninguna entrega, pero hace más de un minuto que no se entrega nada. Los nodos pueden estar ocupados, o ninguno se ocupa de este webhook.",
                        "No delivery is failing, but nothing has been delivered for more than a minute. The nodes may be busy, or none handles this webhook.",
                    ))
                },
                to_do: say(
                    "Espera unos segundos y recarga la página. Si sigue igual, mira en el resumen si todos los nodos responden.",
                    "Wait a few seconds and reload the page. If nothing changes, see on the overview whether all nodes respond.",
                ),
            },
            _ => Self {
                kind: State::Ok,
                title: say("Todo va bien", "Everything works"),
                what: html! {
                    (say(
                        "No falla ninguna entrega y no espera ningún evento más de lo normal.",
                        "No delivery is failing, and no event has been waiting longer than usual.",
                    ))
                },
                to_do: say("No hace falta hacer nada.", "You need not do anything."),
            },
        }
    }

    pub(super) fn markup(&self, to_do: &str) -> Markup {
        html! {
            div {
                p { (state(self.kind, self.title)) }
                p { (self.what) }
                p.muted { (to_do) ": " (self.to_do) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::Suspension;

    use super::*;

    #[test]
    fn every_cause_is_explained_in_both_languages() {
        let at = Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap();
        let all = [
            BacklogCause::Ended,
            BacklogCause::Suspended { reason: Suspension::TenantDisabled, since: Some(at) },
            BacklogCause::DisabledByService { at, reason: "x".into() },
            BacklogCause::Paused,
            BacklogCause::AwaitingContract { failed_attempts: 2, next_attempt_at: Some(at) },
            BacklogCause::BreakerOpen { failures_in_a_row: 16 },
            BacklogCause::LanesParked {
                lanes: 3,
                oldest_failure: Some(at),
                next_attempt_at: Some(at),
                last_failure: Some("the response status was 503; expected a 2xx status".into()),
            },
            BacklogCause::SlowReceiver { p95_milliseconds: 2_500 },
            BacklogCause::CatchingUp { delivered_per_minute: 30, minutes_left: Some(90) },
            BacklogCause::Idle,
            BacklogCause::EventsLost { at },
            BacklogCause::NothingWrong,
        ];
        let mut titles = std::collections::HashSet::new();
        for cause in &all {
            let [es, en] = [Lang::Es, Lang::En].map(|lang| Explanation::of(lang, cause));
            assert_ne!(es.what.0, en.what.0, "{cause:?}");
            assert_ne!(es.to_do, en.to_do, "{cause:?}");
            assert!(titles.insert(en.title), "{cause:?}: {}", en.title);
        }
    }
}
