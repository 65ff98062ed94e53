//! The records of tenants: browse, history, who was notified, edit.

use pages::Route;

use crate::context::Context;
use crate::text::{Done, Refusal};

/// What the pages of this area say after an action.
pub(crate) const DONE: &[Done] = &[];

/// Reasons of refusals of this area, in Spanish.
pub(crate) const REFUSALS: &[Refusal] = &[];

pub(crate) fn routes() -> Vec<Route<Context>> {
    vec![]
}
