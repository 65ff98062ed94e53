//! Subscriptions of both families and the engine that delivers to them. It may use the store, the web and the
//! domain, and none of its neighbours; so far there is the way out to the receivers.

pub mod egress;
