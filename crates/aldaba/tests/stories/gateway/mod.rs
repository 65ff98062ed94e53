//! The gate and the read APIs behind it.

mod addresses;
mod at_once;
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
mod quota;
mod reconcile;
mod records;
mod scopes;
mod shares;
mod tokens;
mod usage;
