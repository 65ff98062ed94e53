//! The metrics of outgoing mail.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use web::Metrics;

#[derive(Clone, Debug, Default)]
pub(super) struct MailMetrics {
    sent: Counter,
    failures: Counter,
    waiting: Gauge,
}

impl MailMetrics {
    pub(super) fn register(metrics: &Metrics) -> Self {
        let mail = Self::default();
        metrics.with_registry(|registry| {
            registry.register("mails_sent", "Mails that the mail server took", mail.sent.clone());
            registry.register("mail_failures", "Attempts to send a mail that failed", mail.failures.clone());
            let help = "Mails that are neither sent nor expired, of all nodes";
            registry.register("mails_waiting", help, mail.waiting.clone());
        });
        mail
    }

    pub(super) fn sent(&self) {
        self.sent.inc();
    }

    pub(super) fn failed(&self) {
        self.failures.inc();
    }

    pub(super) fn set_waiting(&self, count: u64) {
        self.waiting.set(i64::try_from(count).unwrap_or(i64::MAX));
    }
}
