//! The audit, who read what, and the search over everything.

use pages::Route;

use crate::actions::Action;
use crate::context::Context;
use crate::text::Done;

/// What the forms of this area do.
pub(crate) const ACTIONS: &[Action] = &[];

/// What the pages of this area say after an action.
pub(crate) const DONE: &[Done] = &[];

pub(crate) fn routes() -> Vec<Route<Context>> {
    vec![]
}
