//! How long webhooks are silent while nodes crash, stop and start: the oldest event that a healthy receiver has waited for.

use std::time::Duration;

use super::node::Node;
use super::receiver::Behaviour;
use super::world::{SimEvent, World};

const WEBHOOKS: usize = 24;
/// What a crash may cost with a time-out of 5 s: the lease, and half a second to take over and to catch up.
const CRASH_SILENCE_MAX: Duration = Duration::from_secs(8);
/// What an orderly stop or a new node may cost.
const HANDOVER_SILENCE_MAX: Duration = Duration::from_millis(1700);
const SEEDS: u64 = 12;

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Three nodes that have shared the shards, healthy receivers, a store that never fails, and changes all the time.
fn three_nodes(seed: u64) -> World {
    let mut world = World::new(seed);
    world.nodes = (1..=3).map(Node::new).collect();
    world.has_reliable_store = true;
    for node in 0..3 {
        world.after(Duration::ZERO, SimEvent::Start { node });
    }
    for number in 0..WEBHOOKS {
        world.subscribe_at(&format!("https://receiver.example/{number}"));
    }
    world.run_until(seconds(2));
    world.after(Duration::ZERO, SimEvent::Change);
    world.run_until(seconds(40));
    let held = world.shards_held();
    assert!(held.iter().all(|held| (85..=86).contains(held)), "seed {seed}: {held:?}");
    let settling = world.longest_wait_except("");
    assert!(settling < HANDOVER_SILENCE_MAX, "seed {seed}: {settling:?} while the nodes shared the shards");
    world
}

fn crash(world: &mut World, node: usize) {
    world.nodes[node].crash();
}

#[test]
fn a_node_in_a_crash_loop_silences_its_webhooks_once_and_the_others_never() {
    for seed in 0..SEEDS {
        for lives in [1, 3, 6, 12, 20] {
            let mut world = three_nodes(seed);
            world.oracle.forget_waits();
            crash(&mut world, 2);
            let mut at = seconds(40);
            while at < seconds(40) + CRASH_SILENCE_MAX {
                at += seconds(1);
                world.run_until(at);
                world.after(Duration::ZERO, SimEvent::Start { node: 2 });
                at += seconds(lives);
                world.run_until(at);
                crash(&mut world, 2);
            }
            let first = world.longest_wait_except("");
            assert!(
                first < CRASH_SILENCE_MAX,
                "seed {seed}, lives {lives} s: {first:?} after the first crash"
            );
            world.oracle.forget_waits();
            for _ in 0..6 {
                world.after(seconds(1), SimEvent::Start { node: 2 });
                at += seconds(1 + lives);
                world.run_until(at);
                crash(&mut world, 2);
            }
            let later = world.longest_wait_except("");
            assert!(
                later < seconds(1),
                "seed {seed}, lives {lives} s: {later:?} while the node starts again and again"
            );
        }
    }
}

#[test]
fn orderly_stops_one_after_the_other_hand_over_within_a_second() {
    for seed in 0..SEEDS {
        for is_slow in [false, true] {
            let mut world = three_nodes(seed);
            if is_slow {
                world.behaviours.insert("https://receiver.example/0".into(), Behaviour::NeverResponds);
            }
            world.oracle.forget_waits();
            for node in 0..3 {
                world.stop(node);
                let at = world.at + seconds(3);
                world.run_until(at);
                world.after(Duration::ZERO, SimEvent::Start { node });
                let at = world.at + seconds(5);
                world.run_until(at);
            }
            let longest = world.longest_wait_except("https://receiver.example/0");
            assert!(longest < HANDOVER_SILENCE_MAX, "seed {seed}, slow receiver {is_slow}: {longest:?}");
        }
    }
}

#[test]
fn crashes_of_two_of_three_nodes_cost_one_lease() {
    for seed in 0..SEEDS {
        let mut world = three_nodes(seed);
        world.oracle.forget_waits();
        crash(&mut world, 0);
        crash(&mut world, 1);
        world.run_until(seconds(55));
        assert_eq!(world.shards_held()[2], 256, "seed {seed}");
        let longest = world.longest_wait_except("");
        assert!(longest < CRASH_SILENCE_MAX, "seed {seed}: {longest:?}");
        world.oracle.forget_waits();
        for node in 0..2 {
            world.after(Duration::ZERO, SimEvent::Start { node });
        }
        world.run_until(seconds(100));
        let held = world.shards_held();
        assert!(held.iter().all(|held| (85..=86).contains(held)), "seed {seed}: {held:?}");
        let longest = world.longest_wait_except("");
        assert!(longest < HANDOVER_SILENCE_MAX, "seed {seed}: {longest:?} while they came back");
    }
}
