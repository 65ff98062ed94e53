//! What the engine needs from outside: a store, a clock, random numbers and a transport to receivers.

use std::sync::Arc;

use async_trait::async_trait;
use domain::{Clock, Random};
use store::{ChangeLog, Deliveries, Maintenance, Nodes};

use crate::egress::{Egress, Exchange, MaySend, OutboundRequest};

/// Sends a request to a receiver and returns its response, or why there is none.
#[async_trait]
pub trait Transport: Send + Sync + 'static {
    /// Asks `may_send` as late as possible, before the first byte; if it says no, nothing is sent, and the result is
    /// [`EgressError::NotAllowed`](crate::egress::EgressError::NotAllowed).
    async fn send(&self, request: OutboundRequest, may_send: &MaySend<'_>) -> Exchange;
}

#[async_trait]
impl Transport for Egress {
    async fn send(&self, request: OutboundRequest, may_send: &MaySend<'_>) -> Exchange {
        self.send_if(request, may_send).await
    }
}

/// The parts of a store that the engine uses.
pub trait EngineStore: Deliveries + ChangeLog + Nodes + Maintenance {}

impl<T: Deliveries + ChangeLog + Nodes + Maintenance + ?Sized> EngineStore for T {}

pub struct Ports<S: ?Sized> {
    pub store: Arc<S>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub transport: Arc<dyn Transport>,
}

impl<S: ?Sized> Clone for Ports<S> {
    fn clone(&self) -> Self {
        let Self { store, clock, random, transport } = self;
        Self {
            store: store.clone(),
            clock: clock.clone(),
            random: random.clone(),
            transport: transport.clone(),
        }
    }
}

impl<S: ?Sized> std::fmt::Debug for Ports<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ports")
    }
}
