//! What every read is given: who asks, for what, how and when.

use std::sync::Arc;

use axum::http::{HeaderMap, Uri};
use domain::{Caller, Ticks};

#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) caller: Arc<Caller>,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) now: Ticks,
}
