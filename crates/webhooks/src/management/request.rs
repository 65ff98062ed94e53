//! A request that has passed the gate: its caller, path parameters, headers and query.

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::{HeaderMap, Uri};
use domain::{Caller, ErrorCode, Guid, Ticks, WebhookId};
use store::{Actor, AuditContext, WebhookOwner};
use web::ErrorResponse;

use super::errors::{delivery_not_found, invalid_parameter, webhook_not_found};

const CONTEXT: &str = "context";

#[derive(Debug)]
pub struct ManagementRequest {
    pub caller: Arc<Caller>,
    /// The path parameters, decoded.
    pub path_params: Vec<(String, String)>,
    pub uri: Uri,
    pub headers: HeaderMap,
    pub now: Ticks,
    pub address: IpAddr,
    pub request_id: String,
}

/// What the form of a response depends on.
pub(super) struct ResponseContext {
    pub(super) is_read: bool,
    pub(super) headers: HeaderMap,
    pub(super) webhook: Option<WebhookId>,
    pub(super) request_id: String,
}

impl ManagementRequest {
    pub(super) fn response_context(&self, is_read: bool) -> ResponseContext {
        let (headers, request_id) = (self.headers.clone(), self.request_id.clone());
        ResponseContext { is_read, headers, webhook: self.webhook().ok(), request_id }
    }

    /// The webhook that the path names; anything but a GUID names none.
    pub(super) fn webhook(&self) -> Result<WebhookId, ErrorResponse> {
        let text = self.path_param("webhookId").or_else(|| self.path_param("id"));
        text.and_then(Guid::parse).ok_or_else(webhook_not_found)
    }

    pub(super) fn outgoing(&self) -> Result<Guid, ErrorResponse> {
        self.path_param("outgoingId").and_then(Guid::parse).ok_or_else(delivery_not_found)
    }

    fn path_param(&self, name: &str) -> Option<&str> {
        self.path_params.iter().find(|(param, _)| param == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn owner(&self) -> WebhookOwner {
        WebhookOwner { tenant: self.caller.tenant.clone(), client: self.caller.client.clone() }
    }

    /// The user for whom the client acts; the entry names the client, too.
    pub(super) fn context(&self) -> AuditContext {
        AuditContext {
            actor: Actor::User(self.caller.user.clone()),
            address: self.address.to_string(),
            request_id: self.request_id.clone(),
        }
    }

    /// Webhooks belong to no company: the header `context` must be `none` or absent.
    pub(super) fn check_context(&self) -> Result<(), ErrorResponse> {
        let is_none = |value: &[u8]| {
            let value = value.trim_ascii();
            value.is_empty() || value.eq_ignore_ascii_case(b"none")
        };
        if self.headers.get_all(CONTEXT).iter().all(|value| is_none(value.as_bytes())) {
            return Ok(());
        }
        let message = "The header context must be none here, or be left out: webhooks belong to no company.";
        let mut error = invalid_parameter(CONTEXT, message);
        error.problem.code = ErrorCode::InvalidContext;
        Err(error)
    }

    /// A query parameter; its name is compared without case.
    pub(super) fn query(&self, name: &'static str) -> Result<Option<String>, ErrorResponse> {
        let pairs = form_urlencoded::parse(self.uri.query().unwrap_or_default().as_bytes());
        let mut values = pairs.filter(|(given, _)| given.eq_ignore_ascii_case(name));
        let first = values.next().map(|(_, value)| value.into_owned());
        if values.next().is_some() {
            return Err(invalid_parameter(name, format!("{name} was sent more than once.")));
        }
        Ok(first)
    }

    /// A time in the query.
    pub(super) fn query_time(&self, name: &'static str) -> Result<Option<Ticks>, ErrorResponse> {
        let Some(text) = self.query(name)? else { return Ok(None) };
        let at = Ticks::parse_iso(&text);
        at.map(Some).ok_or_else(|| {
            invalid_parameter(name, format!("{name} must be a time as in 2026-11-15T08:30:00Z."))
        })
    }
}
