//! The sign-in flow: a ticket carries the pending request from page to page, and one function decides the next
//! step. Every page returns to that function.

pub(crate) mod step;
pub(crate) mod ticket;
pub(crate) mod ticket_keys;

#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod ticket_tests;
