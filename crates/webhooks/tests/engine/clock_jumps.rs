//! A wall clock that was ahead and goes back: a retry comes as long after its failure as the schedule says, not when the clock
//! shows again what it showed.

use std::time::Duration;

use bytes::Bytes;
use webhooks::egress::ReceiverResponse;

use super::core_world::{LEASE, World};

const SECOND: Duration = Duration::from_secs(1);

fn pauses() -> Vec<Duration> {
    vec![5 * SECOND, 30 * SECOND, LEASE]
}

fn refused() -> ReceiverResponse {
    ReceiverResponse { status: 500, sets_cookie: false, retry_after: None, body: Bytes::new() }
}

/// A webhook whose receiver has refused an event, by a clock that was so far ahead.
fn refused_by_clock(ahead: Duration) -> World {
    let mut world = World::with_pauses(pauses());
    world.ahead = ahead;
    world.webhooks(0, 1);
    world.start();
    world.accept_handshakes();
    world.change(0, 1);
    assert_eq!(world.in_flight.len(), 1);
    world.finish_all(SECOND / 10, &Ok(refused()));
    world
}

#[test]
fn retry_is_not_late_after_the_clock_went_back() {
    let mut world = refused_by_clock(3 * LEASE);
    world.ahead = Duration::ZERO;
    world.wait(SECOND);
    assert!(world.in_flight.is_empty(), "nor is it early");
    world.wait(5 * SECOND);
    assert_eq!(world.in_flight.len(), 1);
}

#[test]
fn later_retry_of_a_failure_before_the_clock_was_ahead_is_not_late() {
    let mut world = refused_by_clock(Duration::ZERO);
    world.ahead = 3 * LEASE;
    world.wait(SECOND);
    assert_eq!(world.in_flight.len(), 1, "it is due at once");
    world.finish_all(SECOND / 10, &Ok(refused()));
    world.ahead = Duration::ZERO;
    world.wait(SECOND);
    assert!(world.in_flight.is_empty());
    world.wait(33 * SECOND);
    assert_eq!(world.in_flight.len(), 1);
}

#[test]
fn retry_is_not_late_after_a_restart_with_the_right_clock() {
    let mut world = refused_by_clock(3 * LEASE);
    world.ahead = Duration::ZERO;
    world.restart(pauses());
    assert!(world.in_flight.is_empty());
    world.wait(6 * SECOND);
    assert_eq!(world.in_flight.len(), 1);
}
