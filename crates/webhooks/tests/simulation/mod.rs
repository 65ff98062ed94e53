//! The engine's main test: thousands of seeds, each a world of its own in which everything goes wrong that can.
//! `ALDABA_SEED=n` runs one of them; `ALDABA_SEEDS=n` that many.

mod chance;
mod machine;
mod oracle;
mod receiver;
mod stage;
mod troubles;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use machine::{TIMEOUT, WINDOW};
use receiver::Mood;
use world::World;

const SEEDS: u64 = 2000;
const THREADS: u64 = 2;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

#[test]
fn whatever_goes_wrong_nothing_is_lost_reordered_or_told_to_a_stranger() {
    if let Some(seed) = number("ALDABA_SEED") {
        World::new(seed).live();
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
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| World::new(seed).live())) {
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
fn a_seed_gives_the_same_run_again() {
    for seed in 0..20 {
        assert_eq!(World::new(seed).live(), World::new(seed).live(), "seed {seed}");
    }
}

#[test]
fn who_never_takes_anything_is_given_up_exactly_when_the_window_ends() {
    let moods = [
        Mood::Dead,
        Mood::Refuses(500),
        Mood::Refuses(401),
        Mood::Refuses(302),
        Mood::Busy,
        Mood::SetsCookies,
    ];
    for (seed, mood) in (0..48).zip(moods.into_iter().cycle()) {
        for goes_on in [false, true] {
            let (webhook, first_failed_at) = World::new(seed).live_with(mood, goes_on);
            let what = format!("seed {seed}, {mood:?}, {goes_on}");
            let disabled = webhook.disabled.unwrap_or_else(|| panic!("{what}: never given up"));
            let window = disabled.at.since(first_failed_at.expect("a lane"));
            assert!(window >= WINDOW, "{what}: after {window:?}");
            // The last attempt begins at the end of the window, and may take its whole time. Where a receiver never
            // answers, its records share one slot, and each must have been tried often enough.
            if mood != Mood::Dead || !goes_on {
                assert!(window < WINDOW + TIMEOUT + Duration::from_secs(1), "{what}: after {window:?}");
            }
        }
    }
}

#[test]
fn who_takes_something_in_the_end_is_not_given_up() {
    for seed in 0..20 {
        for mood in [Mood::Well, Mood::Slow] {
            let (webhook, _) = World::new(seed).live_with(mood, true);
            assert!(webhook.disabled.is_none(), "seed {seed}, {mood:?}: {:?}", webhook.disabled);
        }
    }
}
