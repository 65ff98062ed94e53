//! An attempt that was decided and may no longer be sent when its connection is open: the gate says so, and the core decides
//! again as if it had never decided.

use std::time::Duration;

use bytes::Bytes;
use domain::WebhookId;
use store::{
    AttemptPurpose, AttemptRecord, AuditContext, ChangeSet, DisabledOwners, History as _, ReplayKind,
    WebhookChange,
};
use webhooks::egress::ReceiverResponse;
use webhooks::engine::{Attempt, Input};

use super::core_world::{LEASE, TIMEOUT, World};
use super::query;
use crate::simulation::fixture::{CLIENTS, TENANTS, block_on};

const SECOND: Duration = Duration::from_secs(1);

/// A webhook with one event in flight.
fn world_with_event() -> (World, WebhookId) {
    let mut world = World::with_pauses(vec![5 * SECOND, 30 * SECOND, LEASE]);
    world.webhooks(0, 1);
    world.start();
    let webhook = world.in_flight[0].1.target.webhook();
    world.accept_handshakes();
    world.change_record(0, 1);
    (world, webhook)
}

fn refused() -> ReceiverResponse {
    ReceiverResponse { status: 500, sets_cookie: false, retry_after: None, body: Bytes::new() }
}

fn attempts(world: &World, webhook: WebhookId) -> Vec<AttemptRecord> {
    block_on(world.fixture.store.attempts(&query(webhook))).unwrap()
}

/// The attempt in flight turns out not to have been sent.
fn not_sent(world: &mut World) -> Attempt {
    let (attempt_id, attempt) = world.in_flight.remove(0);
    world.input(Input::AttemptNotSent { attempt_id });
    attempt
}

#[test]
fn event_that_was_not_sent_is_decided_again_and_leaves_no_trace() {
    let (mut world, webhook) = world_with_event();
    let sequences = world.sequences();
    for _ in 0..40 {
        not_sent(&mut world);
        assert_eq!(world.sequences(), sequences, "no pause and no limit");
    }
    world.change_record(0, 1);
    assert_eq!(world.sequences(), sequences, "the record's next event still waits");
    world.wait(SECOND);
    let attempts = attempts(&world, webhook);
    let events = attempts.iter().filter(|one| matches!(one.purpose, AttemptPurpose::Event { .. }));
    assert_eq!(events.count(), 0);
    assert_eq!(world.core.counts().failed(), 0);
    assert_eq!(block_on(world.fixture.store.lanes(webhook, 10)).unwrap(), []);
    assert_eq!(world.core.counts().in_flight(), 1);
}

#[test]
fn retry_that_was_not_sent_uses_up_none_of_the_schedule() {
    let (mut world, webhook) = world_with_event();
    let (failed, _) = world.in_flight[0];
    world.finish(failed, refused());
    world.wait(6 * SECOND);
    let lane = block_on(world.fixture.store.lanes(webhook, 10)).unwrap();
    let sequences = world.sequences();
    assert_eq!((lane.len(), sequences.len()), (1, 1));
    for _ in 0..3 {
        not_sent(&mut world);
        assert_eq!(world.sequences(), sequences);
    }
    world.wait(SECOND);
    assert_eq!(block_on(world.fixture.store.lanes(webhook, 10)).unwrap(), lane);
}

#[test]
fn handshake_that_was_not_sent_still_answers_the_owners_request() {
    let mut world = World::new();
    world.webhooks(0, 1);
    world.start();
    let webhook = world.in_flight[0].1.target.webhook();
    let (failed, _) = world.in_flight[0];
    world.finish(failed, refused());
    world.wait(10 * SECOND);
    assert!(world.in_flight.is_empty(), "the next one would be in an hour");
    let again = WebhookChange::SubscribeAgain { enabled: true, description: String::new() };
    world.change_webhook(webhook, again);
    for _ in 0..3 {
        assert_eq!(world.in_flight.len(), 1, "the owner asked for it, and it has not been made");
        assert!(not_sent(&mut world).handshake().is_some());
    }
    let (attempt_id, _) = world.in_flight[0];
    world.finish(attempt_id, refused());
    world.wait(SECOND);
    assert!(world.in_flight.is_empty(), "now it has");
    assert_eq!(attempts(&world, webhook).len(), 2);
}

#[test]
fn replay_that_was_not_sent_is_sent_later_and_counts_once() {
    let (mut world, webhook) = world_with_event();
    let (attempt_id, _) = world.in_flight[0];
    world.finish(attempt_id, super::core_world::accepted());
    world.wait(SECOND);
    let context = AuditContext::default();
    block_on(world.fixture.store.request_replay(webhook, ReplayKind::Test, (0, 0), &context)).unwrap();
    world.input(Input::WebhookChanged(webhook));
    for _ in 0..3 {
        assert_eq!(world.in_flight.len(), 1);
        not_sent(&mut world);
    }
    let (attempt_id, _) = world.in_flight[0];
    world.finish(attempt_id, super::core_world::accepted());
    world.wait(SECOND);
    assert!(world.in_flight.is_empty());
    let attempts = attempts(&world, webhook);
    assert_eq!(attempts.iter().filter(|one| one.purpose == AttemptPurpose::Test).count(), 1);
}

#[test]
fn nothing_is_sent_once_access_has_changed_in_this_process_until_the_core_has_applied_it() {
    let (mut world, _) = world_with_event();
    let attempt = world.in_flight[0].1.clone();
    assert!(world.may_send(&attempt, 0));
    assert!(!world.may_send(&attempt, 1), "the version moved after the decision");
    world.input(Input::Committed(ChangeSet { access_version: 1, ..ChangeSet::default() }));
    assert!(!world.may_send(&attempt, 1), "the owners are not read");
    let disabled = DisabledOwners::default();
    world.input(Input::DisabledOwnersRead { disabled, access_version: 1 });
    assert!(world.may_send(&attempt, 1), "the change did not concern it");
}

#[test]
fn nothing_is_sent_to_a_webhook_that_has_been_suspended_since() {
    let (mut world, _) = world_with_event();
    let attempt = world.in_flight[0].1.clone();
    let clients = vec![domain::ClientId::new(CLIENTS[0])];
    let disabled = DisabledOwners { clients, ..DisabledOwners::default() };
    world.input(Input::DisabledOwnersRead { disabled, access_version: 0 });
    assert!(!world.may_send(&attempt, 0));
    not_sent(&mut world);
    assert!(world.in_flight.is_empty());
    world.read_disabled_owners();
    assert_eq!(world.in_flight.len(), 1);
    assert!(!world.may_send(&attempt, 0), "access stands again, for another attempt");
    assert!(world.may_send(&world.in_flight[0].1, 0));
}

#[test]
fn nothing_is_sent_to_a_webhook_that_has_changed_since() {
    let (mut world, webhook) = world_with_event();
    let attempt = world.in_flight[0].1.clone();
    world.change_webhook(webhook, WebhookChange::ChangeUrl("https://other.example/hook".into()));
    assert!(!world.may_send(&attempt, 0));
    let (tenant, client) = (TENANTS[0], CLIENTS[0]);
    world.fixture.withdraw(tenant, client);
    let handshake = world.in_flight.last().unwrap().1.clone();
    assert!(handshake.handshake().is_some() && world.may_send(&handshake, 0));
    world.commands(Input::WebhookChanged(webhook));
    assert!(!world.may_send(&handshake, 0), "before it is reloaded");
}

#[test]
fn nothing_is_sent_after_a_stall_of_the_process() {
    let (world, _) = world_with_event();
    let (begun, attempt) = (world.at(), world.in_flight[0].1.clone());
    let gate = world.core.gate();
    assert!(gate.may_send(&attempt, begun, begun + TIMEOUT, 0), "it may take long to connect");
    assert!(!gate.may_send(&attempt, begun, begun + TIMEOUT + SECOND, 0), "its time is over");
    let late = begun + LEASE.checked_sub(TIMEOUT).unwrap();
    assert!(!gate.may_send(&attempt, late, late, 0), "the lease would end before the attempt");
}
