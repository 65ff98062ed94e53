//! The gate and the read APIs behind it.

mod addresses;
mod conditional;
mod context;
mod elsewhere;
mod encodings;
mod endings;
mod family;
mod feed;
mod floor;
mod freshness;
mod isolation;
mod keys;
mod limits;
mod nodes;
mod outage;
mod paging;
mod payroll;
mod payroll_filter;
mod payroll_order;
mod reconcile;
mod records;
mod scopes;
mod tokens;
