//! The engine's main test: a deterministic simulation with thousands of seeds and every kind of fault.
//! `ALDABA_SEED=n` runs one seed; `ALDABA_SEEDS=n` runs that many.

mod attempts;
mod faults;
pub(crate) mod fixture;
mod node;
mod oracle;
mod polls;
pub(crate) mod random;
mod receiver;
mod silence;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use node::{TIMEOUT, WINDOW};
use receiver::Behaviour;
use world::World;

const SEEDS: u64 = 2000;
const THREADS: u64 = 2;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

#[test]
fn under_any_faults_no_event_is_lost_reordered_or_sent_to_the_wrong_receiver() {
    if let Some(seed) = number("ALDABA_SEED") {
        World::new(seed).run();
        return;
    }
    let seeds = number("ALDABA_SEEDS").unwrap_or(SEEDS);
    let next = AtomicU64::new(0);
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds {
                return;
            }
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| World::new(seed).run())) {
                eprintln!("repeat with: ALDABA_SEED={seed} cargo test -p aldaba-webhooks simulation");
                next.store(seeds, Ordering::Relaxed);
                std::panic::resume_unwind(panic);
            }
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
}

#[test]
fn same_seed_gives_same_run() {
    for seed in 0..20 {
        assert_eq!(World::new(seed).run(), World::new(seed).run(), "seed {seed}");
    }
}

#[test]
fn webhook_whose_receiver_always_fails_is_disabled_when_the_window_ends() {
    let behaviours = [
        Behaviour::NeverResponds,
        Behaviour::RespondsWith(500),
        Behaviour::RespondsWith(401),
        Behaviour::RespondsWith(302),
        Behaviour::Busy,
        Behaviour::SetsCookies,
    ];
    for (seed, behaviour) in (0..48).zip(behaviours.into_iter().cycle()) {
        for more_events in [false, true] {
            let (webhook, first_failed_at) = World::new(seed).run_with_behaviour(behaviour, more_events);
            let case = format!("seed {seed}, {behaviour:?}, {more_events}");
            let disabled = webhook.disabled.unwrap_or_else(|| panic!("{case}: never disabled"));
            let window = disabled.at.since(first_failed_at.expect("a lane"));
            assert!(window >= WINDOW, "{case}: after {window:?}");
            // The last attempt starts at the end of the window and may take its whole timeout. Where a receiver never
            // responds, its records share one slot, and each must have had enough attempts.
            if behaviour != Behaviour::NeverResponds || !more_events {
                assert!(window < WINDOW + TIMEOUT + Duration::from_secs(1), "{case}: after {window:?}");
            }
        }
    }
}

#[test]
fn webhook_whose_receiver_succeeds_is_not_disabled() {
    for seed in 0..20 {
        for behaviour in [Behaviour::Healthy, Behaviour::Slow] {
            let (webhook, _) = World::new(seed).run_with_behaviour(behaviour, true);
            assert!(webhook.disabled.is_none(), "seed {seed}, {behaviour:?}: {:?}", webhook.disabled);
        }
    }
}

#[test]
fn retry_window_starts_anew_after_a_suspension() {
    for seed in 0..20 {
        assert_eq!(World::new(seed).run_with_suspension(), [false, false, true], "seed {seed}");
    }
}

#[test]
fn webhook_suspended_for_longer_than_the_retention_is_disabled() {
    let retention = Duration::from_secs(60);
    for seed in 0..20 {
        let before = World::new(seed).run_suspended_for(retention, Duration::from_secs(58));
        assert_eq!(before, None, "seed {seed}");
        let after = World::new(seed).run_suspended_for(retention, Duration::from_secs(64));
        assert!(after.is_some_and(|why| why.contains("no access")), "seed {seed}");
    }
}
