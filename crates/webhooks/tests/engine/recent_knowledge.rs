//! On a store that nodes share, nothing starts on knowledge that is older than two seconds.

use std::time::Duration;

use webhooks::engine::Input;

use super::core_world::World;

const SECOND: Duration = Duration::from_secs(1);

fn known(world: &mut World, until: Duration) {
    world.input(Input::ChangesRead { until });
}

fn shared_world() -> World {
    let mut world = World::shared();
    world.webhooks(0, 1);
    world.start();
    world
}

#[test]
fn nothing_starts_before_the_first_poll_and_more_than_two_seconds_after_the_last() {
    let mut world = shared_world();
    assert!(world.in_flight.is_empty(), "no poll is complete");
    let until = world.at();
    known(&mut world, until);
    assert_eq!(world.in_flight.len(), 1, "the handshake starts at once");
    world.accept_handshakes();
    let until = world.at();
    known(&mut world, until);
    world.wait(SECOND * 19 / 10);
    world.change(0, 1);
    assert_eq!(world.in_flight.len(), 1);
    let attempt = world.in_flight[0].1.clone();
    assert!(world.may_send(&attempt, 0));
    world.wait(SECOND / 10);
    assert!(!world.may_send(&attempt, 0), "it was decided in time, and comes too late");
    world.change(0, 1);
    assert_eq!(world.in_flight.len(), 1, "nothing else is decided");
    let until = world.at();
    known(&mut world, until);
    assert_eq!(world.in_flight.len(), 2, "at once after the poll");
    assert!(world.may_send(&attempt, 0), "nothing has changed for the one that waited");
}

#[test]
fn node_that_stood_still_starts_nothing_before_a_poll_that_began_afterwards() {
    let mut world = shared_world();
    let until = world.at();
    known(&mut world, until);
    world.accept_handshakes();
    let before = world.at() + SECOND / 2;
    // The process stands still for a minute; a poll that began before is answered afterwards, and the leases are renewed.
    world.wait(60 * SECOND);
    world.renew();
    world.change(0, 1);
    assert!(world.in_flight.is_empty());
    known(&mut world, before);
    assert!(world.in_flight.is_empty(), "the poll began before the stall");
    let until = world.at();
    known(&mut world, until);
    assert_eq!(world.in_flight.len(), 1);
    known(&mut world, before);
    world.change(0, 1);
    assert_eq!(world.in_flight.len(), 2, "an earlier poll takes nothing back");
}
