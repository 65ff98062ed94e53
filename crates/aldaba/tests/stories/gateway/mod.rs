//! The gate and the read APIs behind it.

mod addresses;
mod conditional;
mod context;
mod endings;
mod family;
mod feed;
mod isolation;
mod keys;
mod limits;
mod nodes;
mod paging;
mod payroll;
mod payroll_filter;
mod payroll_order;
mod reconcile;
mod records;
mod scopes;
mod tokens;
