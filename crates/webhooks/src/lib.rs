//! Subscriptions of both families, and the engine that delivers to them.

pub mod egress;
pub mod engine;
