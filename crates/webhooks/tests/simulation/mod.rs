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
