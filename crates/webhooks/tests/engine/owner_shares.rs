//! One owner cannot take all delivery slots: deliveries to another one start at once.

use webhooks::egress::{EgressError, Phase};

use super::core_world::{SLOTS, TIMEOUT, World, accepted};

/// Owner 0 has 100 webhooks, owner 1 has one.
fn two_owners() -> World {
    let mut world = World::new();
    world.start();
    world.webhooks(0, 100);
    world.webhooks(1, 1);
    world.accept_handshakes();
    assert!(world.in_flight.is_empty());
    world
}

#[test]
fn owner_with_100_hanging_webhooks_does_not_delay_another() {
    let mut world = two_owners();
    world.change(0, 8);
    assert_eq!(world.in_flight_of(0), SLOTS / 2, "its share, as long as nobody else waits");
    world.change(1, 1);
    assert_eq!(world.in_flight_of(1), 1, "no time has passed, and no attempt has ended");

    // The same where all these webhooks are known to be slow.
    let timed_out = Err(EgressError::TimedOut(Phase::Response));
    for _ in 0..20 {
        world.finish_all(TIMEOUT, &timed_out);
    }
    assert!(world.in_flight_of(0) > 0, "there is still work");
    world.change(1, 1);
    assert_eq!(world.in_flight_of(1), 1);
}

#[test]
fn slow_webhook_is_not_delayed_by_100_slow_ones_of_another_owner() {
    let mut world = two_owners();
    world.change(1, 1);
    let timed_out = Err(EgressError::TimedOut(Phase::Response));
    world.finish_all(TIMEOUT, &timed_out);
    world.change(0, 8);
    while world.in_flight_of(0) > SLOTS / 8 {
        world.finish_all(TIMEOUT, &timed_out);
    }
    assert_eq!(world.in_flight_of(0), SLOTS / 8, "half of the slots for slow webhooks");
    world.change(1, 1);
    assert_eq!(world.in_flight_of(1), 1);
}

#[test]
fn webhook_with_slow_successes_holds_one_slot() {
    let mut world = two_owners();
    world.change(1, 40);
    assert_eq!(world.in_flight_of(1), 8);
    world.finish_all(TIMEOUT / 6, &Ok(accepted()));
    assert_eq!(world.in_flight_of(1), 8, "a sixth of the timeout is not slow");
    world.finish_all(TIMEOUT * 3 / 5, &Ok(accepted()));
    assert_eq!(world.in_flight_of(1), SLOTS / 8, "slow ones share a quarter of the slots");
    world.finish_all(TIMEOUT * 9 / 10, &Ok(accepted()));
    assert_eq!(world.in_flight_of(1), 1);
    world.finish_all(TIMEOUT * 9 / 10, &Ok(accepted()));
    assert_eq!(world.in_flight_of(1), 1, "it has been slow again");
    world.finish_all(TIMEOUT / 10, &Ok(accepted()));
    assert_eq!(world.in_flight_of(1), 8, "a fast success ends it");
}

#[test]
fn webhook_is_slow_before_its_first_attempt_has_timed_out() {
    let mut world = two_owners();
    world.change(1, 1);
    world.wait(TIMEOUT / 6);
    world.change(1, 1);
    world.wait(TIMEOUT / 6);
    assert_eq!(world.in_flight_of(1), 2, "the first has taken a third of the timeout, the second a sixth");
    world.change(1, 40);
    assert_eq!(world.in_flight_of(1), 2 + SLOTS / 8, "new ones get half of the slots for slow webhooks");
    world.finish_all(TIMEOUT / 10, &Ok(accepted()));
    assert_eq!(world.in_flight_of(1), 8, "a fast success ends it");
}

#[test]
fn hanging_webhooks_of_an_owner_do_not_delay_a_slow_one_of_another() {
    let mut world = two_owners();
    world.change(1, 1);
    world.finish_all(TIMEOUT, &Err(EgressError::TimedOut(Phase::Response)));
    world.change(0, 8);
    assert_eq!(world.in_flight_of(0), SLOTS / 2);
    world.wait(TIMEOUT / 2);
    world.change(1, 1);
    assert_eq!(
        world.in_flight_of(1),
        1,
        "more than a quarter of the slots hang, and none of them is its own"
    );
}

#[test]
fn fast_success_does_not_hide_attempts_that_hang() {
    let mut world = two_owners();
    world.change(1, 1);
    let hanging = world.in_flight[0].0;
    world.wait(TIMEOUT / 4);
    world.change(1, 1);
    let fast = world.in_flight.iter().find(|(id, _)| *id != hanging).unwrap().0;
    world.finish(fast, accepted());
    world.change(1, 40);
    assert_eq!(world.in_flight_of(1), 1 + SLOTS / 8, "it is slow as long as an attempt hangs");
}
