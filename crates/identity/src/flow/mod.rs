//! The way of a sign-in: a ticket carries the request from page to page, and one function decides what
//! comes next. Every page returns to it.

pub(crate) mod step;
pub(crate) mod ticket;

#[cfg(test)]
mod tests;
