//! The doctor's page.

use pages::{PageContext, PageError, Response};

use super::views::doctor::DoctorPage;
use crate::context::Context;

pub(crate) async fn doctor(context: &Context) -> Result<Response, PageError> {
    let examination = context.operations().examine().await;
    Ok(context.show(&DoctorPage { report: examination.report(context.lang()), examination }))
}
