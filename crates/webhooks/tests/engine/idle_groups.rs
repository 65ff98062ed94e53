//! Idle webhooks read on as groups, and each gets what it wants.

use std::collections::VecDeque;
use std::time::Duration;

use domain::event::EventKind;
use domain::{TenantId, WebhookId};
use store::{
    AttemptTiming, AuditContext, Deliveries as _, Directory as _, Status, WebhookChange, Webhooks as _,
};
use webhooks::egress::Exchange;
use webhooks::engine::{Command, Input};

use super::core_world::{World, accepted};
use crate::simulation::fixture::{TENANTS, block_on, resources};

/// More than one checkpoint writes.
const MANY: usize = 250;

struct IdleWorld {
    world: World,
    idle: Vec<WebhookId>,
}

impl IdleWorld {
    /// One webhook wants every event, many only deletions.
    fn new() -> Self {
        let mut world = World::new();
        world.start();
        world.webhooks(0, 1);
        let deletions = [EventKind::Deleted].into_iter().collect();
        let idle = world.webhooks_for(0, MANY, deletions);
        world.accept_handshakes();
        // Their handshakes ended at different places of the log: one more event brings them together.
        let mut world = Self { world, idle };
        world.change_unwanted();
        world.deliver();
        world
    }

    fn change_unwanted(&mut self) {
        self.world.change_record(0, 1);
    }

    fn delete(&mut self) {
        self.world.delete_record(0, 1);
    }

    /// Delivers until nothing is in flight; returns how many attempts there were.
    fn deliver(&mut self) -> usize {
        let mut sent = 0;
        while !self.world.in_flight.is_empty() {
            sent += self.world.in_flight.len();
            self.world.finish_all(Duration::from_millis(1), &Ok(accepted()));
        }
        sent
    }

    /// The cursors that are in the store.
    fn cursors(&self, webhooks: &[WebhookId]) -> Vec<u64> {
        let find = |id: &WebhookId| block_on(self.world.fixture.store.find_webhook(*id)).unwrap().unwrap();
        webhooks.iter().map(|id| find(id).cursor.unwrap()).collect()
    }

    fn head(&self) -> u64 {
        self.heads().iter().find(|(tenant, _)| tenant.as_str() == TENANTS[0]).unwrap().1
    }

    fn heads(&self) -> Vec<(TenantId, u64)> {
        block_on(self.world.fixture.store.log_heads()).unwrap()
    }

    /// Time for so many rounds of checkpoints.
    fn wait(&mut self, rounds: usize) {
        (0..rounds).for_each(|_| self.world.wait(Duration::from_millis(300)));
    }
}

#[test]
fn event_that_they_do_not_want_is_read_once_and_written_later() {
    let mut world = IdleWorld::new();
    world.wait(10);
    let before = world.head();
    assert_eq!(world.cursors(&world.idle), vec![before; MANY]);

    world.change_unwanted();
    assert_eq!(world.deliver(), 1, "only the webhook that wants it gets it");
    assert!(world.cursors(&world.idle).contains(&before), "not all are written at once");
    world.wait(10);
    assert_eq!(world.cursors(&world.idle), vec![world.head(); MANY]);
    let heads = world.heads();
    let commands = world.world.commands(Input::HeadsRead(heads));
    assert!(commands.iter().all(|command| !matches!(command, Command::Checkpoint(_))), "{commands:?}");
}

#[test]
fn webhook_that_reads_while_its_group_does_joins_it_again() {
    let mut world = IdleWorld::new();
    assert_eq!(world.world.core.readers(), 0, "all are idle");
    world.world.add_change(0);
    let heads = world.heads();
    let reads = world.world.commands(Input::HeadsRead(heads));
    assert!(matches!(reads[..], [Command::ReadTail { .. }]), "{reads:?}");
    let loaded_anew = world.idle[0];
    world.world.input(Input::WebhookChanged(loaded_anew));
    for read in reads {
        let read = world.world.execute(read);
        world.world.input(read);
    }
    assert_eq!(world.deliver(), 1);
    // It may have arrived before its group; at the next event both are at the same place.
    world.change_unwanted();
    assert_eq!(world.deliver(), 1);
    assert_eq!(world.world.core.readers(), 0);
}

#[test]
fn webhooks_join_their_group_again_after_an_event_for_all_under_traffic() {
    let mut world = IdleWorld::new();
    world.delete();
    // As many rounds as the slots need for all. The log grows in each.
    for _ in 0..MANY / 10 {
        world.change_unwanted();
        world.world.finish_all(Duration::from_millis(1), &Ok(accepted()));
    }
    assert!(world.world.core.readers() <= 1, "only the webhook that gets each event reads by itself");
    world.deliver();
    world.change_unwanted();
    assert_eq!(world.deliver(), 1);
    assert_eq!(world.world.core.readers(), 0);
}

/// The log grows before every answer of the store and of a receiver.
#[test]
fn webhooks_join_their_group_again_although_the_log_has_grown_when_a_read_ends() {
    let mut world = IdleWorld::new();
    world.delete();
    let mut commands = VecDeque::new();
    let mut sent = VecDeque::from(std::mem::take(&mut world.world.in_flight));
    for _ in 0..6 * MANY {
        world.world.add_change(0);
        let heads = world.heads();
        commands.extend(world.world.commands(Input::HeadsRead(heads)));
        if let Some((attempt_id, _)) = sent.pop_front() {
            let exchange =
                Exchange { result: Ok(accepted()), timing: AttemptTiming::default(), reused: false };
            commands.extend(world.world.commands(Input::AttemptFinished { attempt_id, exchange }));
        }
        match commands.pop_front() {
            Some(Command::Send { attempt_id, attempt }) => sent.push_back((attempt_id, attempt)),
            Some(command) => {
                let input = world.world.execute(command);
                commands.extend(world.world.commands(input));
            }
            None => {}
        }
    }
    let readers = world.world.core.readers();
    assert!(readers <= 1, "{readers} read by themselves, and one of them gets each event");
}

#[test]
fn group_whose_read_failed_reads_again() {
    let mut world = IdleWorld::new();
    world.world.fixture.apply_record_change(TENANTS[0], resources()[0], 1, r#""action":"delete""#);
    let heads = world.heads();
    for command in world.world.commands(Input::HeadsRead(heads)) {
        let Command::ReadTail { key, after, serial, .. } = command else { panic!("{command:?}") };
        world.world.input(Input::TailRead { key, after, serial, read: Err(()) });
    }
    assert_eq!(world.deliver(), 0);
    world.wait(1);
    assert_eq!(world.deliver(), 1 + MANY);
}

#[test]
fn event_that_they_want_reaches_each_of_them_once() {
    let mut world = IdleWorld::new();
    for _ in 0..3 {
        world.change_unwanted();
        world.deliver();
        world.delete();
        assert_eq!(world.deliver(), 1 + MANY);
        world.change_unwanted();
        assert_eq!(world.deliver(), 1);
    }
    world.wait(10);
    assert_eq!(world.cursors(&world.idle), vec![world.head(); MANY]);
}

#[test]
fn restarted_node_sends_nothing_twice_and_misses_nothing() {
    let mut world = IdleWorld::new();
    world.delete();
    assert_eq!(world.deliver(), 1 + MANY);
    world.change_unwanted();
    world.deliver();
    world.wait(1);
    world.world.restart(vec![Duration::from_secs(60)]);
    assert_eq!(world.deliver(), 0);
    world.delete();
    assert_eq!(world.deliver(), 1 + MANY);
}

#[test]
fn suspended_webhooks_keep_their_place() {
    let mut world = IdleWorld::new();
    world.wait(10);
    let before = world.head();
    let set = |world: &mut IdleWorld, status| {
        let (tenant, by) = (TenantId::new(TENANTS[0]), AuditContext::default());
        let store = &world.world.fixture.store;
        assert!(block_on(store.set_tenant_status(&tenant, status, &by)).unwrap());
        world.world.read_disabled_owners();
    };
    set(&mut world, Status::Disabled);
    assert_eq!(world.world.core.readers(), 0, "the growing log does not concern them");
    world.change_unwanted();
    world.delete();
    assert_eq!(world.deliver(), 0);
    world.wait(10);
    assert_eq!(world.cursors(&world.idle), vec![before; MANY]);
    set(&mut world, Status::Active);
    assert_eq!(world.deliver(), 2 + MANY, "each gets what came meanwhile");
}

#[test]
fn webhook_that_its_owner_disables_goes_on_from_the_next_event() {
    let mut world = IdleWorld::new();
    world.wait(10);
    let (disabled, before) = (world.idle[0], world.head());
    world.world.change_webhook(disabled, WebhookChange::Disable);
    world.change_unwanted();
    world.delete();
    assert_eq!(world.deliver(), 2 + MANY - 1);
    world.wait(10);
    assert_eq!(world.cursors(&[disabled]), [before]);
    world.world.change_webhook(disabled, WebhookChange::Enable);
    assert_eq!(world.deliver(), 0, "nothing of what came meanwhile");
    world.change_unwanted();
    world.deliver();
    world.delete();
    assert_eq!(world.deliver(), 1 + MANY);
}

#[test]
fn deleted_webhook_gets_nothing_more() {
    let mut world = IdleWorld::new();
    let deleted = world.idle[0];
    world.world.change_webhook(deleted, WebhookChange::Delete);
    world.change_unwanted();
    world.deliver();
    world.delete();
    assert_eq!(world.deliver(), MANY);
}
