//! A thousand receivers of which three in ten always misbehave, in changing groups, beside some that never do.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::runtime::Handle;

use super::behaviour::{Act, Behaviour};
use super::bench::{Bench, MemoryWatch, RECOVERY_MAX, tell_load};
use super::latency::{self, latencies};
use super::raw::{RawReceiver, Surroundings};
use crate::load::LoadSettings;
use crate::service::EMAIL;
use crate::{Fallible, Options, Part};

/// Of ten receivers these never misbehave, and so many of the others do at any time.
const NEVER_OF_TEN: usize = 4;
const AT_ONCE_OF_TEN: usize = 3;
/// Each group shares one receiver of three with the next.
const STEP: usize = 2;
/// A receiver misbehaves in two rounds one after the other at most.
const ROUNDS_IN_A_ROW: u32 = 2;
const LOAD: LoadSettings = LoadSettings {
    writers: 2,
    records_per_writer: 10,
    changes_per_second: 2,
    reads_per_second: 10,
    refreshes_per_second: 0,
};
/// A thousand webhooks, each with eight attempts at once that have a buffer of up to 64 KiB, could take 500 MiB; short
/// answers take much less.
const GROWTH_MAX_MIB: f64 = 256.0;

/// What a group does, in turn.
static TURNS: [Behaviour; 4] = [
    turn("hangs", Act::Hang, Some("")),
    turn("resets the connection", Act::Reset { after_request: true }, Some("")),
    turn("answers 500", Act::Answer(b"HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n"), Some("")),
    turn("answers after 3 s", Act::Slow(Duration::from_secs(3)), None),
];

const fn turn(name: &'static str, act: Act, reason: Option<&'static str>) -> Behaviour {
    Behaviour { name, act, reason, is_in_short_form: true }
}

pub(super) async fn run(options: &Options) -> Fallible<Part> {
    let (applications, webhooks) = (options.count(10, 5), options.count(1000, 50));
    let rounds = options.count(12, 4);
    let round = options.span(Duration::from_secs(10), Duration::from_secs(3));
    let quiet_span = options.span(Duration::from_secs(30), Duration::from_secs(5));
    let tried = format!(
        "{webhooks} webhooks of {applications} applications, each with a receiver at an address of its own; 2 changes a second go to all. \
         Three receivers in ten misbehave at once: for {} s they hang, then others reset connections, others answer 500, others answer \
         after 3 s, and so on for {rounds} rounds. Four in ten never misbehave.",
        round.as_secs()
    );
    let bench = Bench::start(options, true, LOAD).await?;
    let receivers = open(&bench, webhooks).await?;
    subscribe(&bench, &receivers, applications).await?;
    let mut part = Part::new("crowd", tried);
    let is_good = |webhook: usize| webhook % 10 < NEVER_OF_TEN;
    let quiet = bench.quietly(quiet_span, webhooks).await?;
    let quiet = latencies(&quiet.ledger.acknowledged(), &bench.receivers.arrivals(), is_good);
    let memory = MemoryWatch::start(&bench.node)?;
    let load = bench
        .under_load(async || {
            for number in 0..rounds {
                let behaviour = &TURNS[number % TURNS.len()];
                for receiver in &receivers {
                    receiver.behave(is_misbehaving(receiver.webhook, number).then_some(behaviour));
                }
                tokio::time::sleep(round).await;
            }
            Ok(())
        })
        .await?;
    for receiver in &receivers {
        receiver.behave(None);
    }
    let contacts: usize = receivers.iter().map(|receiver| receiver.contacts().connections).sum();
    part.tell("connections to misbehaving receivers", contacts);
    let findings = bench.settle(&load, webhooks).await;
    memory.stop(&mut part, GROWTH_MAX_MIB).await?;
    let arrivals = bench.receivers.arrivals();
    tell_load(&mut part, &load, arrivals.len());
    let during = latencies(&load.ledger.acknowledged(), &arrivals, is_good);
    latency::tell(&mut part, &quiet, &during);
    latency::explain(&load.ledger.acknowledged(), &arrivals, is_good, &quiet);
    findings.tell(&mut part, round * ROUNDS_IN_A_ROW + RECOVERY_MAX);
    Ok(part)
}

/// Whether a receiver misbehaves in a round.
fn is_misbehaving(webhook: usize, round: usize) -> bool {
    let others = 10 - NEVER_OF_TEN;
    let place = webhook % 10;
    place >= NEVER_OF_TEN
        && (place - NEVER_OF_TEN + others * STEP - (round * STEP) % others) % others < AT_ONCE_OF_TEN
}

async fn open(bench: &Bench, webhooks: usize) -> Fallible<Vec<RawReceiver>> {
    let nowhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 9));
    let surroundings = Surroundings {
        receivers: &bench.receivers,
        authority: &bench.authority,
        elsewhere: nowhere,
        runtime: Handle::current(),
    };
    let mut all = Vec::with_capacity(webhooks);
    for webhook in 0..webhooks {
        let [.., high, low] = u32::try_from(webhook)?.to_be_bytes();
        let address = Ipv4Addr::new(127, 77, high, low);
        all.push(RawReceiver::open(address, webhook, None, &surroundings).await?);
    }
    Ok(all)
}

/// Each application has as many webhooks; one may have a hundred by default.
async fn subscribe(bench: &Bench, receivers: &[RawReceiver], applications: usize) -> Fallible<()> {
    let (service, target) = (&bench.service, &bench.target);
    for own in receivers.chunks(receivers.len() / applications) {
        let application = service.add_application(&target.operator_url).await?;
        let tokens = application.sign_in(&service.http, &target.public_url, EMAIL).await?;
        let urls: Vec<String> = own.iter().map(RawReceiver::url).collect();
        service.subscribe(&target.public_url, &tokens.access, &urls).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_of_ten_misbehave_in_every_round_and_each_of_the_six_others_in_some() {
        let mut has_misbehaved = [false; 10];
        for round in 0..12 {
            let group: Vec<usize> = (0..10).filter(|webhook| is_misbehaving(*webhook, round)).collect();
            assert_eq!(group.len(), AT_ONCE_OF_TEN, "{round}: {group:?}");
            for webhook in group {
                has_misbehaved[webhook] = true;
                let in_a_row =
                    (round..round + 12).take_while(|round| is_misbehaving(webhook, *round)).count();
                assert!(in_a_row <= ROUNDS_IN_A_ROW as usize, "{webhook} from {round} on");
            }
        }
        assert_eq!(has_misbehaved, [false, false, false, false, true, true, true, true, true, true]);
    }
}
