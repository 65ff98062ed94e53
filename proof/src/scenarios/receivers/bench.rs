//! One node with its webhooks, the load on it, and its memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::task::JoinHandle;

use super::certificates::Authority;
use crate::checker::Findings;
use crate::load::{Load, LoadSettings, Target};
use crate::process::{Node, NodeSettings, PAUSE, resident_mib};
use crate::receivers::Receivers;
use crate::service::Service;
use crate::sign_in::Tokens;
use crate::{Fallible, Options, Part};

/// An attempt ends at the default time-out, 5 s; the rest is for a busy machine.
pub(super) const ATTEMPT_MAX: Duration = Duration::from_secs(6);
/// Short pauses between attempts, the last of which repeats: otherwise the proof waits for hours.
const SCHEDULE: &str = "500ms,1s,2s";
/// From when a receiver behaves until it gets something: an attempt that still hangs, the last pause with its jitter, and
/// the rest for a busy machine.
pub(super) const RECOVERY_MAX: Duration = Duration::from_secs(12);
const SETTLE_MAX: Duration = Duration::from_secs(90);

pub(super) struct Bench {
    pub(super) service: Arc<Service>,
    pub(super) node: Node,
    pub(super) target: Target,
    pub(super) receivers: Receivers,
    pub(super) authority: Authority,
    pub(super) tokens: Tokens,
    pub(super) load: LoadSettings,
}

impl Bench {
    /// `allows_loopback`: receivers may be on this machine, without TLS and on any port.
    pub(super) async fn start(
        options: &Options,
        allows_loopback: bool,
        load: LoadSettings,
    ) -> Fallible<Self> {
        let mut service = Service::new(options, "")?;
        let authority = Authority::new()?;
        let file = service.folder().join("authorities.pem");
        std::fs::write(&file, &authority.pem)?;
        let settings = if allows_loopback {
            service.settings()
        } else {
            NodeSettings::default().set("gateway.rate_per_minute", "0")
        };
        let settings = settings
            .set("delivery.schedule", SCHEDULE)
            .set("egress.ca_file", file.to_str().ok_or("the folder's name is not UTF-8")?);
        let node = service.start(&settings).await?;
        let (target, receivers) = (node.target(), Receivers::open().await?);
        let tokens = service.prepare(&target).await?;
        Ok(Self { service: Arc::new(service), node, target, receivers, authority, tokens, load })
    }

    pub(super) async fn subscribe(&self, urls: &[String]) -> Fallible<Vec<String>> {
        self.service.subscribe(&self.target.public_url, &self.tokens.access, urls).await
    }

    /// Something happens under load; what is still to be delivered then is not waited for.
    pub(super) async fn under_load(&self, happens: impl AsyncFnOnce() -> Fallible<()>) -> Fallible<Load> {
        self.receivers.clear();
        let (targets, tokens) = (vec![self.target.clone()], [self.tokens.clone()]);
        let mut load = Load::start(&self.service, targets, &tokens, &self.load)?;
        let happened = happens().await;
        load.stop().await?;
        happened?;
        match load.ledger.count() {
            0 => Err(format!("the load did nothing: {}", load.seen.changes.reasons()).into()),
            _ => Ok(load),
        }
    }

    pub(super) async fn settle(&self, load: &Load, webhooks: usize) -> Findings {
        load.settle(&self.receivers, webhooks, SETTLE_MAX).await
    }

    /// Loads without faults; returns when everything has arrived.
    pub(super) async fn quietly(&self, span: Duration, webhooks: usize) -> Fallible<Load> {
        let load = self
            .under_load(async || {
                tokio::time::sleep(span).await;
                Ok(())
            })
            .await?;
        let lost = self.settle(&load, webhooks).await.lost;
        if lost > 0 {
            return Err(format!("{lost} events were lost without any fault").into());
        }
        Ok(load)
    }
}

/// Writes what the calls and the deliveries of a load were.
pub(super) fn tell_load(part: &mut Part, load: &Load, deliveries: usize) {
    let (changes, reads) = (&load.seen.changes, &load.seen.reads);
    part.tell(
        "calls",
        format!("{} changes and {} reads; {deliveries} deliveries", changes.done(), reads.done()),
    );
    part.none("calls that failed although they were repeated", changes.failed() + reads.failed());
}

/// Looks at the memory of a process until it is stopped.
pub(super) struct MemoryWatch {
    before_mib: f64,
    is_over: Arc<AtomicBool>,
    peak_mib: JoinHandle<f64>,
}

impl MemoryWatch {
    pub(super) fn start(node: &Node) -> Fallible<Self> {
        let (process, before_mib) = (node.id(), node.resident_mib()?);
        let is_over = Arc::new(AtomicBool::new(false));
        let watched = is_over.clone();
        let peak_mib = tokio::spawn(async move {
            let mut peak = before_mib;
            while !watched.load(Ordering::Relaxed) {
                // A node that has ended is found by everything else.
                peak = peak.max(resident_mib(process).unwrap_or_default());
                tokio::time::sleep(PAUSE).await;
            }
            peak
        });
        Ok(Self { before_mib, is_over, peak_mib })
    }

    /// Writes how much the memory grew, which must be bounded.
    pub(super) async fn stop(self, part: &mut Part, growth_max_mib: f64) -> Fallible<()> {
        self.is_over.store(true, Ordering::Relaxed);
        let peak = self.peak_mib.await?;
        part.tell("memory of the node before", format!("{:.1} MiB", self.before_mib));
        part.at_most("growth of its memory", peak - self.before_mib, growth_max_mib, "MiB");
        Ok(())
    }
}
