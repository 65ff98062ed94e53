//! Ten thousand connections and a hundred thousand webhooks.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{Bed, IN_FLIGHT_MAX, Maximum, ratio, tell_failures};
use crate::ledger::Ledger;
use crate::load::{change_line, new_run};
use crate::process::PAUSE;
use crate::receivers::Receivers;
use crate::service::{COMPANY, EMAIL};
use crate::{Fallible, Options, Part};

/// How long one event may take to a hundred thousand webhooks.
const ALL_TIMEOUT: Duration = Duration::from_secs(180);

impl Bed {
    pub(super) async fn connections(&self, options: &Options, max: &Maximum) -> Fallible<Part> {
        let count = options.count(10_000, 1_000);
        let span = options.span(Duration::from_secs(20), Duration::from_secs(2));
        let mut part = Part::new(
            "many connections",
            format!(
                "{count} connections that have made a call each stay open, beside 20 % of the maximum for {} s.",
                span.as_secs()
            ),
        );
        let address = self.target.public_url.trim_start_matches("http://").to_owned();
        let (before, mut open) = (self.node.resident_mib()?, Vec::with_capacity(count));
        for _ in 0..count {
            let mut stream = TcpStream::connect(&address).await?;
            stream.write_all(b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n").await?;
            open.push(stream);
        }
        let seen = self.traffic.offered(max.rate * 0.2, span, IN_FLIGHT_MAX).await?;
        let mut answered = 0;
        for stream in &mut open {
            answered += usize::from(is_answered(stream).await);
        }
        tell_failures(&seen);
        part.none("connections without an answer", count - answered);
        part.none("calls that failed, were refused or not begun", seen.not_done());
        part.at_most("p99 beside the p99 of 5 % of the load", ratio(&seen, &max.quiet), 2.0, "×");
        part.at_most(
            "memory for a connection",
            (self.node.resident_mib()? - before) * 1024.0 / count as f64,
            64.0,
            "KiB",
        );
        Ok(part)
    }

    pub(super) async fn many_webhooks(&self, options: &Options, max: &Maximum) -> Fallible<Part> {
        let count = options.count(100_000, 500);
        let span = options.span(Duration::from_secs(20), Duration::from_secs(2));
        let mut part = Part::new(
            "many webhooks",
            format!(
                "{count} webhooks of the same tenant, all accepted and idle, beside 20 % of the maximum for {} s. Then one event that all of them want.",
                span.as_secs()
            ),
        );
        let from = Instant::now();
        let idle = Receivers::open().await?;
        self.subscribe_idle(&idle, count).await?;
        part.tell("until all were subscribed and accepted", format!("{:.0} s", from.elapsed().as_secs_f64()));
        part.none("webhooks without a handshake", count.saturating_sub(idle.handshakes()));
        let seen = self.traffic.offered(max.rate * 0.2, span, IN_FLIGHT_MAX).await?;
        tell_failures(&seen);
        part.none("calls that failed, were refused or not begun", seen.not_done());
        part.at_most("p99 beside the p99 of 5 % of the load", ratio(&seen, &max.quiet), 2.0, "×");
        part.tell("memory of the node", format!("{:.0} MiB", self.node.resident_mib()?));
        self.tell_deliveries(&mut part).await;
        self.tell_event_for_all(&mut part, &idle, count).await?;
        Ok(part)
    }

    /// One event for all of the webhooks that were idle so far.
    async fn tell_event_for_all(&self, part: &mut Part, idle: &Receivers, count: usize) -> Fallible<()> {
        let (record, change) = ("disabled-once", Ledger::next_change());
        let disable = json!({
            "area": "accounting", "resource": "customers", "company": COMPANY, "action": "disable",
            "correlationId": record, "user": "maria", "sourceInterface": "ERP", "sourceAction": change.to_string(),
        });
        let lines = format!("{}\n{disable}", change_line(record, change));
        let key = format!("{}-all", new_run());
        self.service.send_lines(&self.target.operator_url, &lines, &key).await?.expect(200)?;
        let from = Instant::now();
        while idle.count() < count && from.elapsed() < ALL_TIMEOUT {
            tokio::time::sleep(PAUSE).await;
        }
        let took = from.elapsed();
        let ids: HashSet<String> = idle.arrivals().into_iter().map(|arrival| arrival.outgoing_id).collect();
        part.none("webhooks that did not get the event", count.saturating_sub(ids.len()));
        part.tell("until all had it", format!("{:.1} s", took.as_secs_f64()));
        Ok(())
    }

    /// Webhooks for events that do not happen; each application has a bounded number, so that several share them.
    async fn subscribe_idle(&self, idle: &Receivers, count: usize) -> Fallible<()> {
        let each = 2_000;
        for from in (0..count).step_by(each) {
            let application = self.service.add_application(&self.target.operator_url).await?;
            let tokens = application.sign_in(&self.service.http, &self.target.public_url, EMAIL).await?;
            let (service, target) = (&self.service, &self.target);
            let subscribed = (from..(from + each).min(count)).map(|number| {
                let (token, url) = (tokens.access.clone(), format!("{}?n={number}", idle.url(0)));
                async move {
                    service
                        .subscribe_one(
                            &target.public_url,
                            &token,
                            &url,
                            &["Svc.ACC.Customers.CustomerDisabled"],
                        )
                        .await
                }
            });
            let mut running = futures_util::stream::iter(subscribed).buffer_unordered(32);
            while let Some(done) = running.next().await {
                done?;
            }
        }
        let started = Instant::now();
        while idle.handshakes() < count && started.elapsed() < Duration::from_secs(300) {
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }
}

async fn is_answered(stream: &mut TcpStream) -> bool {
    let mut start = [0; 12];
    let read = tokio::time::timeout(Duration::from_secs(5), stream.read_exact(&mut start)).await;
    matches!(read, Ok(Ok(_))) && &start == b"HTTP/1.1 200"
}
