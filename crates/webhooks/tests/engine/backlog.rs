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

    let tenant = TenantId::new(TENANTS[0]);
    assert!(
        block_on(world.fixture.store.set_tenant_status(&tenant, Status::Disabled, &AuditContext::default()))
            .unwrap()
    );
    world.read_disabled_owners();
    let suspended = backlog(&mut world);
    assert_eq!(suspended, Backlog { suspended: 2, ..Backlog::default() });
}

#[test]
fn many_webhooks_are_counted_some_at_a_time() {
    const MANY: u64 = 2500;
    let mut world = World::new();
    world.start();
    world.webhooks(0, usize::try_from(MANY).unwrap());
    world.accept_handshakes();
    world.change(0, 1);
    assert_eq!(backlog(&mut world), Backlog::default(), "the count has begun");
    for _ in 0..2 {
        let pause = world.core.next_wakeup().unwrap();
        assert!(pause <= Duration::from_millis(10), "the engine comes back to it: {pause:?}");
        assert_eq!(world.core.counts().backlog().events, 0);
        world.wait(pause);
    }
    assert_eq!(world.core.counts().backlog().events, MANY);
}
