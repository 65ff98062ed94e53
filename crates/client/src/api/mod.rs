//! Reading records: lists as streams, single records, the filter of payroll companies, and the change feed.

mod change_feed;
mod client;
pub mod filter;
mod list;
mod records;

pub use change_feed::{Feed, FeedChange};
pub use client::{Api, ApiBuilder};
pub(crate) use client::{Call, none_if_not_found};
pub use list::{List, Page, Snapshot};
pub(crate) use records::number;
pub use records::{Account, Company, Customer, PayrollCompany, Record, State};

/// A boxed stream of results.
pub type BoxStream<T> = futures_util::stream::BoxStream<'static, Result<T, crate::Error>>;
