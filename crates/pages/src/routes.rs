//! The pages of a site are one list of routes. Tests iterate it.

use std::pin::Pin;

use axum::extract::FromRequestParts;
use axum::routing::{MethodRouter, get};

use crate::error::PageError;
use crate::form::SubmittedForm;
use crate::live;
use crate::params::Params;
use crate::request::{Format, RefusedForm};
use crate::response::Response;
use crate::shell::PageContext;

pub type PageFuture<'a> = Pin<Box<dyn Future<Output = Result<Response, PageError>> + Send + 'a>>;
pub type PageHandler<C> = for<'a> fn(&'a C) -> PageFuture<'a>;
pub type ActionHandler<C> = for<'a> fn(&'a C, &'a Params) -> PageFuture<'a>;

/// One page.
#[derive(Debug)]
pub struct Route<C> {
    pub path: &'static str,
    pub page: PageHandler<C>,
    pub action: Option<ActionHandler<C>>,
}

/// A page that is only read: its path, the type of its context, its handler.
#[macro_export]
macro_rules! page {
    ($path:literal, $context:ty, $page:path) => {{
        fn page(context: &$context) -> $crate::PageFuture<'_> {
            Box::pin($page(context))
        }
        $crate::Route { path: $path, page, action: None }
    }};
}

/// A page with forms, which are submitted to its own URL.
#[macro_export]
macro_rules! page_with_actions {
    ($path:literal, $context:ty, $page:path, $action:path) => {{
        fn page(context: &$context) -> $crate::PageFuture<'_> {
            Box::pin($page(context))
        }
        fn action<'a>(context: &'a $context, form: &'a $crate::Params) -> $crate::PageFuture<'a> {
            Box::pin($action(context, form))
        }
        $crate::Route { path: $path, page, action: Some(action) }
    }};
}

/// Answers the requests for a page.
pub fn handlers<C, S>(route: &Route<C>) -> MethodRouter<S>
where
    C: PageContext + FromRequestParts<S>,
    S: Clone + Send + Sync + 'static,
{
    let page = route.page;
    let handlers = get(async move |context: C| {
        let result = if context.format == Format::Events {
            live::events(context.clone(), page)
        } else {
            page(&context).await
        };
        context.render(result).await
    });
    let Some(action) = route.action else { return handlers };
    let path = route.path;
    handlers.post(async move |context: C, form: SubmittedForm| {
        let result = match context.accept(form).await {
            Ok(form) => match checked(&context, path, &form, action).await {
                Err(PageError::Refused(why)) if context.format == Format::Html => {
                    show_refused(context.clone(), page, RefusedForm { why, form }).await
                }
                result => result,
            },
            Err(error) => Err(error),
        };
        context.render(result).await
    })
}

async fn checked<C: PageContext>(
    context: &C,
    path: &'static str,
    form: &Params,
    action: ActionHandler<C>,
) -> Result<Response, PageError> {
    context.check_action(path, form.get("do").unwrap_or_default())?;
    action(context, form).await
}

/// The page of the form again, with the reason and what was typed.
async fn show_refused<C: PageContext>(
    mut context: C,
    page: PageHandler<C>,
    refused: RefusedForm,
) -> Result<Response, PageError> {
    let why = refused.why.clone();
    context.refused = Some(refused);
    let shown = page(&context).await;
    // A page that cannot be shown either says less than the reason.
    shown.map_err(|_| PageError::Refused(why))
}
