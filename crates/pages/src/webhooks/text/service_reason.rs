//! Reasons that the service keeps in English, in the language of the page.

use domain::service_reason::{DisabledReason, HostMismatch};
use ui::Lang;

use super::diagnosis::words;
use crate::webhooks::diagnosis::Diagnosis;

/// Why the service disabled a webhook, in whole sentences; none for a text that another version has written.
pub fn disabled(lang: Lang, reason: &str) -> Option<String> {
    let with_last = |first: &str, last: &str| match Diagnosis::of_reason(last) {
        Diagnosis::Unknown => first.to_owned(),
        known => format!("{first} {}", words(lang, known).what),
    };
    Some(match (DisabledReason::parse(reason)?, lang) {
        (DisabledReason::DeliveriesFailed { last }, Lang::Es) => {
            with_last("Las entregas han fallado durante todo el plazo de reintentos.", last)
        }
        (DisabledReason::DeliveriesFailed { last }, Lang::En) => {
            with_last("Deliveries have failed for the whole retry window.", last)
        }
        (DisabledReason::HandshakeNotAccepted { last }, Lang::Es) => {
            with_last("El receptor no ha aceptado el contrato dentro del plazo.", last)
        }
        (DisabledReason::HandshakeNotAccepted { last }, Lang::En) => {
            with_last("The receiver has not accepted the contract in time.", last)
        }
        (DisabledReason::NoAccess, Lang::Es) => {
            "La aplicación ha estado sin acceso durante más tiempo del que se conservan los eventos.".into()
        }
        (DisabledReason::NoAccess, Lang::En) => {
            "The application has had no access for longer than events are kept.".into()
        }
    })
}

/// Why a receiver may not be its owner's.
pub fn host_mismatch(lang: Lang, why: &str) -> Option<String> {
    let HostMismatch { host, caller } = HostMismatch::parse(why)?;
    Some(match lang {
        Lang::Es => format!("El servidor {host} no está en {caller}, que es desde donde se hizo la llamada."),
        Lang::En => format!("The host {host} is not at {caller}, where the call came from."),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_reasons_are_translated_and_others_are_not() {
        let last = "the response status was 503; expected a 2xx status";
        let failed = DisabledReason::DeliveriesFailed { last }.to_string();
        let (es, en) = (disabled(Lang::Es, &failed).unwrap(), disabled(Lang::En, &failed).unwrap());
        assert!(
            es.starts_with("Las entregas han fallado")
                && es.contains(words(Lang::Es, Diagnosis::ReceiverUnavailable).what)
        );
        assert!(en.starts_with("Deliveries have failed") && !en.contains(';'), "{en}");
        let strange = DisabledReason::HandshakeNotAccepted { last: "the moon was full" }.to_string();
        assert_eq!(
            disabled(Lang::En, &strange).unwrap(),
            "The receiver has not accepted the contract in time."
        );
        for reason in [failed, strange, DisabledReason::NoAccess.to_string()] {
            assert_ne!(disabled(Lang::Es, &reason), disabled(Lang::En, &reason), "{reason}");
        }
        assert_eq!(disabled(Lang::Es, "no delivery succeeded"), None);
        let why = HostMismatch { host: "hooks.example", caller: [192, 0, 2, 7].into() }.to_string();
        let es = host_mismatch(Lang::Es, &why).unwrap();
        assert!(es.contains("hooks.example") && es.contains("192.0.2.7"), "{es}");
        assert_eq!(host_mismatch(Lang::Es, "another text"), None);
    }
}
