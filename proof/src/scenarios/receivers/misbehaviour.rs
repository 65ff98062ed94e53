//! Receivers that misbehave, each in its own way and all at once, beside receivers that do not.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::attempts::{self, AttemptFindings};
use super::behaviour::{BEHAVIOURS, Behaviour, floods};
use super::bench::{ATTEMPT_MAX, Bench, MemoryWatch, RECOVERY_MAX, tell_load};
use super::latency::{self, latencies};
use super::raw::{RawReceiver, Surroundings, open_canary};
use crate::background::Background;
use crate::load::LoadSettings;
use crate::{Fallible, Options, Part};

/// Webhooks whose receivers behave well all the time.
const GOOD: usize = 5;
/// Each webhook has up to eight attempts at once, each with a buffer of 64 KiB and 16 KiB of the answer. Forty of them come
/// to 25 MiB; the rest is for the allocator.
const GROWTH_MAX_MIB: f64 = 64.0;
const LOAD: LoadSettings = LoadSettings {
    writers: 4,
    records_per_writer: 5,
    changes_per_second: 10,
    reads_per_second: 10,
    refreshes_per_second: 0,
};

/// A node, good receivers, and others that are about to misbehave.
struct Field {
    bench: Bench,
    bad: Vec<(RawReceiver, &'static Behaviour)>,
    ids: Vec<String>,
    strays: Arc<Mutex<usize>>,
    _background: Background,
}

/// Every way to misbehave, once.
pub(super) async fn each(options: &Options) -> Fallible<Part> {
    let is_tried = |behaviour: &&Behaviour| !options.is_bounded || behaviour.is_in_short_form;
    let behaviours: Vec<&Behaviour> = BEHAVIOURS.iter().filter(is_tried).collect();
    // Long enough for an attempt that times out, a pause, and another.
    let span = options.span(Duration::from_secs(40), Duration::from_secs(7));
    let tried = format!(
        "One node, {} webhooks whose receivers misbehave for {} s, each in another way, beside {GOOD} whose receivers answer. \
         10 changes a second go to all of them. Then all behave.",
        behaviours.len(),
        span.as_secs()
    );
    let field = Field::start(options, &behaviours).await?;
    field.run(options, Part::new("misbehaving receivers", tried), span).await
}

/// Those that send without end, each many times.
pub(super) async fn many_floods(options: &Options) -> Fallible<Part> {
    let copies = options.count(8, 1);
    let behaviours: Vec<&Behaviour> = floods().flat_map(|behaviour| vec![behaviour; copies]).collect();
    let span = options.span(Duration::from_secs(30), Duration::from_secs(3));
    let tried = format!(
        "{} webhooks whose receivers send without end for {} s: bodies of 10 GiB, compressed bombs, headers and interim answers, \
         as fast as they can, beside {GOOD} whose receivers answer.",
        behaviours.len(),
        span.as_secs()
    );
    let field = Field::start(options, &behaviours).await?;
    field.run(options, Part::new("answers without end", tried), span).await
}

impl Field {
    async fn start(options: &Options, behaviours: &[&'static Behaviour]) -> Fallible<Self> {
        let bench = Bench::start(options, true, LOAD).await?;
        let loopback = Ipv4Addr::LOCALHOST;
        let (elsewhere, strays) = open_canary(SocketAddr::from((loopback, 0))).await?;
        let background = Background::start()?;
        let surroundings = Surroundings {
            receivers: &bench.receivers,
            authority: &bench.authority,
            elsewhere,
            runtime: background.handle(),
        };
        let mut bad = Vec::new();
        for (place, behaviour) in behaviours.iter().enumerate() {
            let receiver = RawReceiver::open(loopback, GOOD + place, Some(behaviour), &surroundings).await?;
            bad.push((receiver, *behaviour));
        }
        let mut urls = bench.receivers.urls(GOOD);
        urls.extend(bad.iter().map(|(receiver, _)| receiver.url()));
        let ids = bench.subscribe(&urls).await?;
        Ok(Self { bench, bad, ids, strays, _background: background })
    }

    async fn run(&self, options: &Options, mut part: Part, span: Duration) -> Fallible<Part> {
        let (bench, webhooks) = (&self.bench, self.ids.len());
        let quiet_span = options.span(Duration::from_secs(15), Duration::from_secs(3));
        let quiet = bench.quietly(quiet_span, webhooks).await?;
        let is_good = |webhook| webhook < GOOD;
        let quiet = latencies(&quiet.ledger.acknowledged(), &bench.receivers.arrivals(), is_good);
        let memory = MemoryWatch::start(&bench.node)?;
        let began = Instant::now();
        for (receiver, behaviour) in &self.bad {
            receiver.behave(Some(behaviour));
        }
        let load = bench
            .under_load(async || {
                tokio::time::sleep(span).await;
                Ok(())
            })
            .await?;
        self.tell_attempts(&mut part).await?;
        memory.stop(&mut part, GROWTH_MAX_MIB).await?;
        self.tell_contacts(&mut part);
        let misbehaved = began.elapsed();
        for (receiver, _) in &self.bad {
            receiver.behave(None);
        }
        let findings = bench.settle(&load, webhooks).await;
        let arrivals = bench.receivers.arrivals();
        tell_load(&mut part, &load, arrivals.len());
        let during = latencies(&load.ledger.acknowledged(), &arrivals, is_good);
        latency::tell(&mut part, &quiet, &during);
        latency::explain(&load.ledger.acknowledged(), &arrivals, is_good, &quiet);
        findings.tell(&mut part, misbehaved + RECOVERY_MAX);
        part.none("connections to where redirects lead", *self.strays.lock());
        part.none("bodies that are no event", bench.receivers.unreadable());
        Ok(part)
    }

    /// What the history says of every misbehaving receiver.
    async fn tell_attempts(&self, part: &mut Part) -> Fallible<()> {
        let (bench, mut all) = (&self.bench, AttemptFindings::default());
        let mut without_attempts = 0;
        for ((receiver, behaviour), id) in self.bad.iter().zip(&self.ids[GOOD..]) {
            let Some(reason) = behaviour.reason else { continue };
            let operator_url = &bench.target.operator_url;
            let seen = attempts::wait_for(&bench.service, operator_url, id, 1).await?;
            let findings = attempts::judge(&seen, &[reason], ATTEMPT_MAX);
            if findings.badly_explained > 0 || seen.is_empty() {
                eprintln!("    {}: {:?}", behaviour.name, attempts::reasons(&seen));
            }
            without_attempts += usize::from(seen.is_empty() || receiver.contacts().connections == 0);
            all.add(&findings);
        }
        part.tell("failed attempts in the history", all.attempts);
        part.none("misbehaving receivers without a failed attempt", without_attempts);
        part.none("failed attempts without the reason in words", all.badly_explained);
        part.within("longest attempt", all.longest, ATTEMPT_MAX);
        part.none("attempts that took longer", all.too_long);
        Ok(())
    }

    /// What the misbehaving receivers saw.
    fn tell_contacts(&self, part: &mut Part) {
        let contacts: Vec<_> = self.bad.iter().map(|(receiver, _)| receiver.contacts()).collect();
        let held = contacts.iter().map(|one| one.longest_held).max().unwrap_or_default();
        part.within("longest connection to a receiver whose answer does not end", held, ATTEMPT_MAX);
        part.tell(
            "connections to misbehaving receivers",
            contacts.iter().map(|one| one.connections).sum::<usize>(),
        );
        let sent = contacts.iter().map(|one| one.bytes_sent_max).max().unwrap_or_default();
        // 256 KiB that are read, and what fits into the buffers of both sides.
        part.at_most(
            "most that a receiver could send over one connection",
            sent as f64 / 1024.0 / 1024.0,
            1.0,
            "MiB",
        );
    }
}
