//! Runs the core: hands it what happens, does what it says.

use async_trait::async_trait;

use super::{Knock, Reply};

/// Who carries a letter to a receiver and brings the answer back.
#[async_trait]
pub trait Transport: Send + Sync + 'static {
    async fn knock(&self, knock: &Knock) -> Reply;
}

/// The engine at work.
#[derive(Debug)]
pub struct Engine;
