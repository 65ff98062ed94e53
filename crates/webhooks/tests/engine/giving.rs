//! A shard that another node asks for is given, however much goes on in it.

use std::collections::VecDeque;

use store::{Deliveries as _, LeaseRenewal, shard_of};
use webhooks::engine::{Command, Input};

use super::core_world::{LEASE, TIMEOUT, World, accepted};
use crate::simulation::fixture::block_on;

/// Changes arrive before every answer of the store.
#[test]
fn asked_shard_is_given_while_changes_go_on() {
    let mut world = World::new();
    world.start();
    world.webhooks(0, 1);
    world.finish_all(TIMEOUT / 10, &Ok(accepted()));
    world.change(0, 1);
    let webhook = world.in_flight[0].1.target.webhook();
    world.finish_all(TIMEOUT / 10, &Ok(accepted()));
    let renewal = LeaseRenewal::new(domain::Guid::from_bytes([1; 16]), LEASE);
    let shards = block_on(world.fixture.store.renew_shard_leases(&renewal)).unwrap().held;
    let (until, asked) = (world.at() + LEASE, vec![shard_of(webhook)]);
    let mut commands =
        VecDeque::from(world.commands(Input::ShardsLeased { shards, until, asked, given: Vec::new() }));
    for _ in 0..50 {
        world.add_change(0);
        let heads = block_on(world.fixture.store.log_heads()).unwrap();
        commands.extend(world.commands(Input::HeadsRead(heads)));
        let Some(command) = commands.pop_front() else { continue };
        if matches!(command, Command::GiveShards(_)) {
            return;
        }
        assert!(!matches!(command, Command::Send { .. }), "nothing starts in a shard that is asked for");
        let input = world.execute(command);
        commands.extend(world.commands(input));
    }
    panic!("the shard is not given");
}
