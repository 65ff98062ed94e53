//! The context of a request for a page: who asks, and in which role.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use domain::OperatorRole;
use operator::admin::{Admin, Authority, OperationsAdmin, Permission};
use pages::{Format, PageError, PageRequest, Response};

use crate::Console;

/// A signed-in operator's request for a page.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    request: PageRequest,
    pub(crate) console: Arc<Console>,
    /// Counted for pages with a navigation alone.
    pub(crate) pending_requests: usize,
}

impl Deref for Context {
    type Target = PageRequest;

    fn deref(&self) -> &PageRequest {
        &self.request
    }
}

impl DerefMut for Context {
    fn deref_mut(&mut self) -> &mut PageRequest {
        &mut self.request
    }
}

impl FromRequestParts<Arc<Console>> for Context {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, console: &Arc<Console>) -> Result<Self, Response> {
        match Self::build(parts, console).await {
            Ok(context) => Ok(context),
            Err(error) => Err(console.anonymous_error(parts, error).await),
        }
    }
}

impl Context {
    async fn build(parts: &mut Parts, console: &Arc<Console>) -> Result<Self, PageError> {
        let request = PageRequest::read(parts, &console.site).await?;
        let pending_requests = if request.format == Format::Html {
            console.ports.admin.count_pending_requests().await?
        } else {
            0
        };
        Ok(Self { request, console: console.clone(), pending_requests })
    }

    /// Who acts, and in which role: every function that changes something begins by asking it.
    pub(crate) fn authority(&self) -> Authority {
        Authority::new(self.visitor.audit.clone(), self.role())
    }

    /// The administration on behalf of the visitor.
    pub(crate) fn admin(&self) -> Admin {
        self.console.ports.admin.acting(self.authority())
    }

    /// The service itself: configuration, backups, doctor.
    pub(crate) fn operations(&self) -> OperationsAdmin {
        self.console.ports.operations.acting(self.authority())
    }

    pub(crate) fn role(&self) -> OperatorRole {
        self.visitor.account.role.unwrap_or(OperatorRole::Viewer)
    }

    /// Whether pages show the forms for this; the functions behind them check it themselves.
    pub(crate) fn may(&self, permission: Permission) -> bool {
        permission.is_given_to(self.role())
    }

    /// The path of a page: `tenants`, for example.
    pub(crate) fn console_path(&self, page: &str) -> String {
        format!("{}/{page}", self.console.base_path())
    }
}
