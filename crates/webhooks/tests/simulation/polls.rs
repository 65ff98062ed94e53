//! What a node reads besides its core's commands: polls for changes, and the disabled owners after a change of access.

use std::time::Duration;

use store::Deliveries as _;
use webhooks::engine::Input;

use super::fixture::block_on;
use super::world::{SimEvent, World};

const POLL_EVERY: Duration = Duration::from_millis(900);
/// When a poll without an answer is given up.
const READ_TIMEOUT: Duration = Duration::from_secs(2);

impl World {
    /// What the real engine polls for signals that were lost. Its inputs arrive in order, perhaps late.
    pub(crate) fn poll(&mut self, node: usize, incarnation: u32) {
        let at = self.at;
        let own = &mut self.nodes[node];
        if own.incarnation != incarnation {
            return;
        }
        let has_answer = !own.is_cut_off(at) && at >= own.polls_hang_until;
        let is_reliable = self.is_recovering || self.has_reliable_store;
        let takes = if !has_answer {
            READ_TIMEOUT
        } else if !is_reliable && self.random.percent(10) {
            self.random.span(0..1900)
        } else {
            self.random.span(0..10)
        };
        let own = &mut self.nodes[node];
        own.poll_ends_at = at + takes;
        self.after(takes.max(POLL_EVERY), SimEvent::Poll { node, incarnation });
        if !has_answer {
            return;
        }
        let store = &self.fixture.store;
        let own = &mut self.nodes[node];
        let changed =
            block_on(store.changed_webhooks(own.changes_read_upto.unwrap_or(u64::MAX >> 1))).unwrap();
        own.changes_read_upto = Some(changed.last_change);
        let access_version = own.access_version;
        let mut inputs: Vec<Input> = changed.webhooks.into_iter().map(Input::WebhookChanged).collect();
        let disabled = block_on(store.disabled_owners()).unwrap();
        inputs.push(Input::DisabledOwnersRead { disabled, access_version });
        inputs.push(Input::ChangesRead { until: at });
        inputs.push(Input::HeadsRead(block_on(store.log_heads()).unwrap()));
        for input in inputs {
            self.after(takes, SimEvent::Input { node, incarnation, input: Box::new(input) });
        }
    }

    /// The listener reads the disabled owners after a change of access; never beside a poll.
    pub(crate) fn read_owners(&mut self, node: usize, incarnation: u32) {
        let own = &self.nodes[node];
        if own.incarnation != incarnation || own.is_cut_off(self.at) {
            return;
        }
        if own.poll_ends_at > self.at {
            let pause = own.poll_ends_at.saturating_sub(self.at);
            return self.after(pause, SimEvent::ReadOwners { node, incarnation });
        }
        let access_version = own.access_version;
        let disabled = block_on(self.fixture.store.disabled_owners()).unwrap();
        let input = Box::new(Input::DisabledOwnersRead { disabled, access_version });
        self.after(Duration::ZERO, SimEvent::Input { node, incarnation, input });
    }
}
