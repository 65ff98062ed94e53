//! The audit, who read what, and the search over everything.

mod http_audit;
mod http_reads;
mod http_search;
mod kinds;
mod links;
mod notes;
mod text;
mod view_audit;
mod view_reads;
mod view_search;

use pages::Route;

use crate::actions::Action;
use crate::context::Context;
use crate::routes::page;
use crate::text::Done;

pub(crate) use kinds::{actor_text, kind_text};
pub(crate) use notes::note_text;

/// What the forms of this area do.
pub(crate) const ACTIONS: &[Action] = &[];

/// What the pages of this area say after an action.
pub(crate) const DONE: &[Done] = &[];

pub(crate) fn routes() -> Vec<Route<Context>> {
    vec![
        page!("audit", http_audit::list),
        page!("reads", http_reads::list),
        page!("search", http_search::search),
    ]
}
