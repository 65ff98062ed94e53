//! Events of one record stay in order when their webhook's state is replaced while one of them is in flight.

use std::time::Duration;

use bytes::Bytes;
use domain::WebhookId;
use store::WebhookChange;
use webhooks::egress::ReceiverResponse;

use super::core_world::{LEASE, World, accepted};

const SECOND: Duration = Duration::from_secs(1);

fn refused() -> ReceiverResponse {
    ReceiverResponse { status: 500, sets_cookie: false, retry_after: None, body: Bytes::new() }
}

/// A webhook that has accepted the handshake.
fn world_with_webhook() -> (World, WebhookId) {
    let mut world = World::with_pauses(vec![5 * SECOND, LEASE]);
    world.webhooks(0, 1);
    world.start();
    let webhook = world.in_flight[0].1.target.webhook();
    world.accept_handshakes();
    (world, webhook)
}

#[test]
fn record_waits_for_an_attempt_from_before_its_webhook_was_disabled_and_enabled() {
    let (mut world, webhook) = world_with_webhook();
    world.change_record(0, 1);
    let (before, _) = world.in_flight[0];
    let first = world.sequences()[0];
    world.change_webhook(webhook, WebhookChange::Disable);
    world.change_webhook(webhook, WebhookChange::Enable);
    world.change_record(0, 1);
    world.change_record(0, 1);
    assert_eq!(world.sequences(), [first], "the receiver may still get the earlier event");
    world.change_record(0, 2);
    assert_eq!(world.sequences(), [first, first + 3], "other records go on");
    // Time for a checkpoint, which frees what idle webhooks do not need.
    let (other, _) = world.in_flight[1];
    world.finish(other, accepted());
    world.wait(SECOND);
    assert_eq!(world.sequences(), [first]);
    world.finish(before, accepted());
    assert_eq!(world.sequences(), [first + 1]);
    let (next, _) = world.in_flight[0];
    world.finish(next, accepted());
    assert_eq!(world.sequences(), [first + 2]);
}

#[test]
fn record_waits_through_several_changes_and_when_nothing_else_is_in_flight() {
    let (mut world, webhook) = world_with_webhook();
    world.change_record(0, 1);
    let (before, _) = world.in_flight[0];
    let first = world.sequences()[0];
    for _ in 0..3 {
        world.change_webhook(webhook, WebhookChange::Disable);
        world.change_webhook(webhook, WebhookChange::Enable);
        world.wait(SECOND);
    }
    world.change_record(0, 1);
    world.wait(SECOND);
    assert_eq!(world.sequences(), [first]);
    world.finish(before, refused());
    assert_eq!(world.sequences(), [first + 1], "the dropped event is not retried");
}

#[test]
fn lane_waits_for_an_attempt_from_before_a_change_of_the_url() {
    let (mut world, webhook) = world_with_webhook();
    world.change_record(0, 1);
    let (failed, _) = world.in_flight[0];
    let first = world.sequences()[0];
    world.finish(failed, refused());
    world.wait(6 * SECOND);
    assert_eq!(world.sequences(), [first], "the retry");
    let (before, _) = world.in_flight[0];
    world.change_webhook(webhook, WebhookChange::ChangeUrl("https://other.example/hook".into()));
    let handshake = world.in_flight.iter().find(|(_, attempt)| attempt.handshake().is_some()).unwrap().0;
    world.finish(handshake, accepted());
    world.wait(60 * SECOND);
    assert_eq!(world.sequences(), [first], "one attempt at a time, also at another address");
    world.finish(before, accepted());
    assert_eq!(world.sequences(), [first], "at the new address");
    assert_eq!(world.in_flight[0].1.target.url, "https://other.example/hook");
}
