//! The way of an attempt: its task begins, its connection opens, its request leaves, arrives and is answered.

use std::time::Duration;

use webhooks::engine::{Attempt, Input};

use super::node::TIMEOUT;
use super::receiver::{Behaviour, accepts, timed_out};
use super::world::{SimEvent, World};

impl World {
    /// Opens a connection, which may take long.
    pub(crate) fn begin(&mut self, node: usize, incarnation: u32, attempt_id: u64, attempt: Attempt) {
        if self.may_send(node, incarnation, attempt_id, &attempt, self.at) {
            let is_slow = !self.is_recovering && !self.has_reliable_store && self.random.percent(10);
            let pause = if is_slow { self.random.span(0..4000) } else { self.random.span(0..3) };
            let begun = self.at;
            self.after(pause, SimEvent::Transmit { node, incarnation, attempt_id, attempt, begun });
        }
    }

    pub(crate) fn transmit(
        &mut self,
        node: usize,
        incarnation: u32,
        attempt_id: u64,
        attempt: Attempt,
        begun: Duration,
    ) {
        if self.may_send(node, incarnation, attempt_id, &attempt, begun) {
            let key = (node, incarnation, attempt_id);
            self.oracle.attempt_started(&self.fixture.store, &attempt, self.at, key);
            let pause = self.random.span(0..40);
            self.after(pause, SimEvent::Arrive { node, incarnation, attempt_id, attempt, begun });
        }
    }

    /// What the driver asks before it opens a connection and before it sends: if the answer is no, the core learns it.
    fn may_send(
        &mut self,
        node: usize,
        incarnation: u32,
        attempt_id: u64,
        attempt: &Attempt,
        begun: Duration,
    ) -> bool {
        let own = &self.nodes[node];
        let Some(core) = own.core.as_ref().filter(|_| own.incarnation == incarnation) else { return false };
        let may_send = core.gate().may_send(attempt, begun, self.at, own.access_version);
        if !may_send {
            let input = Box::new(Input::AttemptNotSent { attempt_id });
            self.after(Duration::ZERO, SimEvent::Input { node, incarnation, input });
        }
        may_send
    }

    /// A request arrives, even if the node that sent it has crashed meanwhile.
    pub(crate) fn request_arrives(
        &mut self,
        node: usize,
        incarnation: u32,
        attempt_id: u64,
        attempt: &Attempt,
        begun: Duration,
    ) {
        let request = attempt.sign(self.nodes[node].moment(self.at).wall, TIMEOUT).unwrap();
        self.oracle.request_arrived(&self.fixture.store, attempt, &request);
        let behaviour = self.behaviours.get(&attempt.target.url).copied().unwrap_or(Behaviour::Healthy);
        let (exchange, pause) = behaviour.respond(attempt, &request, &mut self.random);
        let left = (begun + TIMEOUT).saturating_sub(self.at);
        let (mut exchange, pause) = if pause < left { (exchange, pause) } else { (timed_out(), left) };
        exchange.timing.total = (self.at + pause).saturating_sub(begun);
        if accepts(attempt, &request, &exchange) {
            self.oracle.event_accepted(&self.fixture.store, attempt, self.at);
        }
        let exchange = Box::new(exchange);
        self.after(pause, SimEvent::Respond { node, incarnation, attempt_id, exchange });
    }
}
