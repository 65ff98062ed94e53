//! The limits of the two listeners.

use web::{Deadlines, ListenerLimits};

use crate::config::Config;
use crate::descriptors;

/// The limits of the public and of the operator's listener. The operator's has no limit per address, since few
/// addresses reach it, and may use file descriptors that the public one must leave alone.
pub(crate) fn listener_limits(config: &Config) -> (ListenerLimits, ListenerLimits) {
    let server = &config.server;
    let deadlines = Deadlines {
        handshake: server.header_timeout,
        header: server.header_timeout,
        body: server.body_timeout,
        write: server.write_timeout,
        idle: server.idle_timeout,
    };
    let common = ListenerLimits { deadlines, drain_timeout: server.drain, ..ListenerLimits::default() };
    let public = ListenerLimits {
        connections_max: server.connections_max,
        connections_per_address_max: server.connections_per_address_max,
        exempt_addresses: server.trusted_proxies.clone(),
        descriptors_max: Some(descriptors::public_ceiling(config, descriptors::raise_limit())),
        ..common.clone()
    };
    (public, ListenerLimits { connections_max: config.operator.connections_max, ..common })
}
