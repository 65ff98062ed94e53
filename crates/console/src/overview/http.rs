//! The handlers of the overview.

use pages::{PageContext, PageError, Response};

use super::view::OverviewPage;
use crate::context::Context;

pub(crate) async fn overview(context: &Context) -> Result<Response, PageError> {
    let stats = context.admin().stats().await?;
    Ok(context.show(&OverviewPage {
        failing: stats.failing,
        events_waiting: stats.events_waiting,
        nodes: stats.nodes,
    }))
}
