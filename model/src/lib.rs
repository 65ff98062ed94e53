//! Small models of the delivery engine's rules, each explored state by state in its tests. The simulation
//! (`crates/webhooks/tests/simulation`) runs the engine itself through random faults; a model has only the rules, and the
//! checker takes every possible order of steps and faults.
//!
//! | Module | Rules | In the code |
//! |---|---|---|
//! | [`authorization`] | access that ends and stands again, how nodes learn of it, suspension, the end of a webhook | `webhooks::engine`: `suspension`, `polling` (signals and polls), `core` (`can_start`), `shard_assignment` (reload); `store`: `invalidation` (the version that moves before a change is answered), `authorizations`, `webhooks::decide` |
//! | [`delivery`] | a webhook's cursor, lanes, breaker and checkpoints; disabling and enabling | `webhooks::engine`: `webhook_state` (window, cursor), `lanes`, `failures` (parking, breaker, disabling), `log_reader`, `checkpoint`, `shard_assignment` (reload); `store::webhooks`: `checkpoint_writes` (what a checkpoint writes), `decide` (what the owner's change does) |
//! | [`leases`] | leases, fences, asking for a shard and giving it, orderly stop | `webhooks::engine`: `shard_leases` (renewal), `shard_assignment` (giving), `core` (`can_start`), `driver` (stop); `store::webhooks::leases` (`rebalance`), `checkpoint_writes` (the fence) |
//!
//! How the rules of the models correspond to the promises of `docs/delivery.md`:
//!
//! | Promise | Rules |
//! |---|---|
//! | At least once | [`delivery::NOTHING_LOST`], [`checker::SETTLES`]: from every state, without further failures, everything is delivered and no lane is left |
//! | In order per record | [`delivery::IN_ORDER`] |
//! | From the next event on, after the owner's disabling | [`delivery::DROPPED_STAYS_DROPPED`] |
//! | Nothing without access | [`authorization::NOTHING_WITHOUT_ACCESS`], [`authorization::ENDED_FOR_GOOD`], [`authorization::DISABLED_BY_OWNER`] |
//! | What happens without access is sent when access stands again | [`authorization::KEPT_FOR_LATER`], [`authorization::NOTHING_LOST`], [`authorization::IN_ORDER`], [`checker::SETTLES`]; [`authorization::DISABLED_WITHOUT_ACCESS_ONLY`] |
//! | Many nodes | [`leases::ONE_SENDER`], [`leases::FORMER_HOLDER_REFUSED`], and [`checker::SETTLES`]: the shard of a node that has crashed is taken by another |
//!
//! What is left out: the bytes of a delivery, replays, retention, the retry schedule (an attempt may be made at any time, and
//! any attempt of a lane may be the last of its window), slots and shares of owners, and more than one webhook or shard.
//!
//! Each model has a list of faults, and a test that plants each of them: the checker must find it, and break the rule that the
//! fault is against. So a model in which a rule became empty by mistake does not pass.
//!
//! The checker is our own: `stateright` checks "eventually" only where the states have no cycles, and has
//! no "from every state it can be reached", which is what progress means here; and it brings a web server.
#![allow(clippy::trivially_copy_pass_by_ref, reason = "the size of a model is no matter")]

pub mod authorization;
pub mod bits;
pub mod checker;
pub mod delivery;
pub mod leases;
