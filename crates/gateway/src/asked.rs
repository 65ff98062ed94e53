//! What every read is given: who asks, for what, and how.

use axum::http::{HeaderMap, Uri};
use domain::Caller;

#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) caller: Caller,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
}
