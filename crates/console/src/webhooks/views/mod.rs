//! What the pages of webhooks show.

pub(super) mod bulk;
pub(super) mod list;
pub(super) mod one;
