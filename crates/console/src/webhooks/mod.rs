//! Webhooks and deliveries of all tenants.

use pages::Route;

use crate::actions::Action;
use crate::context::Context;
use crate::text::{Done, Refusal};

/// What the forms of this area do.
pub(crate) const ACTIONS: &[Action] = &[];

/// What the pages of this area say after an action.
pub(crate) const DONE: &[Done] = &[];

/// Reasons of refusals of this area, in Spanish.
pub(crate) const REFUSALS: &[Refusal] = &[];

pub(crate) fn routes() -> Vec<Route<Context>> {
    vec![]
}
