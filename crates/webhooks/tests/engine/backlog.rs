//! The backlog for the metrics: how many events wait and since when, and which webhooks fail.

use std::time::Duration;

use domain::TenantId;
use store::{AuditContext, Directory as _, Status};
use webhooks::egress::{EgressError, Phase};
use webhooks::engine::Backlog;

use super::core_world::{LEASE, TIMEOUT, World, accepted};
use crate::simulation::fixture::{START, TENANTS, block_on};

/// After the interval at which it is counted.
fn backlog(world: &mut World) -> Backlog {
    world.wait(Duration::from_secs(10));
    world.core.counts().backlog()
}

#[test]
fn backlog_counts_what_waits_and_what_fails() {
    let mut world = World::new();
    world.start();
    world.webhooks(0, 2);
    world.accept_handshakes();
    assert_eq!(backlog(&mut world), Backlog::default(), "all is delivered");

    let changed_at = START + world.at();
    world.change(0, 20);
    let waiting = backlog(&mut world);
    assert_eq!((waiting.events, waiting.oldest), (2 * 20, Some(changed_at)), "in flight and queued");
    assert_eq!(waiting.failing, 0);

    // The first attempts fail: their records are parked, the others are delivered.
    world.finish_all(TIMEOUT / 10, &Err(EgressError::TimedOut(Phase::Response)));
    while !world.in_flight.is_empty() {
        world.finish_all(TIMEOUT / 10, &Ok(accepted()));
    }
    let parked = backlog(&mut world);
    assert_eq!((parked.events, parked.oldest, parked.failing), (2 * 8, Some(changed_at), 2));

    world.wait(LEASE * 2);
    world.renew();
    while !world.in_flight.is_empty() {
        world.finish_all(TIMEOUT / 10, &Ok(accepted()));
    }
    assert_eq!(backlog(&mut world), Backlog::default());

    disable_tenant(&mut world);
    let suspended = backlog(&mut world);
    assert_eq!(suspended, Backlog { suspended: 2, ..Backlog::default() });
}

#[test]
fn many_webhooks_are_counted_some_at_a_time() {
    const EACH: usize = 900;
    let mut world = World::new();
    world.start();
    world.webhooks(0, EACH);
    world.webhooks(1, EACH);
    world.accept_handshakes();
    // The count under way ends, and another one begins and ends.
    backlog(&mut world);
    (0..5).for_each(|_| world.wait(Duration::from_millis(10)));

    disable_tenant(&mut world);
    let suspended = |world: &World| world.core.counts().backlog().suspended;
    assert_eq!(backlog(&mut world).suspended, 0, "the count has begun");
    let pause = world.core.next_wakeup().unwrap();
    assert!(pause <= Duration::from_millis(10), "the engine comes back to it: {pause:?}");
    world.wait(Duration::from_millis(10));
    assert_eq!(suspended(&world), EACH as u64);
}

fn disable_tenant(world: &mut World) {
    let tenant = TenantId::new(TENANTS[0]);
    let store = &world.fixture.store;
    assert!(block_on(store.set_tenant_status(&tenant, Status::Disabled, &AuditContext::default())).unwrap());
    world.read_disabled_owners();
}
