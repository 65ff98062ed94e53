//! A call as it comes from the gate: who asks, for what, and how. Names, header and query are read here, once.

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::{HeaderMap, Uri};
use domain::{Caller, Guid, Ticks, WebhookId};
use store::{AuditContext, WebhookOwner};
use web::ErrorResponse;

use super::refusal::{bad, no_delivery, no_webhook};

const CONTEXT: &str = "context";

#[derive(Debug)]
pub struct Call {
    pub caller: Arc<Caller>,
    /// What the names in the path's braces stand for, decoded.
    pub names: Vec<(String, String)>,
    pub uri: Uri,
    pub headers: HeaderMap,
    pub now: Ticks,
    pub address: IpAddr,
    pub request_id: String,
}

/// What of a call its answer is given its form by.
pub(super) struct Asked {
    pub(super) is_read: bool,
    pub(super) headers: HeaderMap,
    pub(super) webhook: Option<WebhookId>,
    pub(super) request_id: String,
}

impl Call {
    pub(super) fn asked(&self, is_read: bool) -> Asked {
        let (headers, request_id) = (self.headers.clone(), self.request_id.clone());
        Asked { is_read, headers, webhook: self.webhook().ok(), request_id }
    }

    /// The webhook that the address names. What is no GUID is nobody's.
    pub(super) fn webhook(&self) -> Result<WebhookId, ErrorResponse> {
        let text = self.name("webhookId").or_else(|| self.name("id"));
        text.and_then(Guid::parse).ok_or_else(no_webhook)
    }

    pub(super) fn outgoing(&self) -> Result<Guid, ErrorResponse> {
        self.name("outgoingId").and_then(Guid::parse).ok_or_else(no_delivery)
    }

    fn name(&self, name: &str) -> Option<&str> {
        self.names.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn owner(&self) -> WebhookOwner {
        WebhookOwner { tenant: self.caller.tenant.clone(), client: self.caller.client.clone() }
    }

    pub(super) fn context(&self) -> AuditContext {
        AuditContext { address: self.address.to_string(), request_id: self.request_id.clone() }
    }

    /// Webhooks belong to no company: the header says `none`, or is not there.
    pub(super) fn check_context(&self) -> Result<(), ErrorResponse> {
        let is_none = |value: &[u8]| {
            let value = value.trim_ascii();
            value.is_empty() || value.eq_ignore_ascii_case(b"none")
        };
        if self.headers.get_all(CONTEXT).iter().all(|value| is_none(value.as_bytes())) {
            return Ok(());
        }
        Err(bad(
            CONTEXT,
            "The header context must be none here, or be left out: webhooks are of all companies.",
        ))
    }

    /// The value of a parameter of the query, whatever the case of its name.
    pub(super) fn query(&self, name: &'static str) -> Result<Option<String>, ErrorResponse> {
        let pairs = form_urlencoded::parse(self.uri.query().unwrap_or_default().as_bytes());
        let mut values = pairs.filter(|(given, _)| given.eq_ignore_ascii_case(name));
        let first = values.next().map(|(_, value)| value.into_owned());
        if values.next().is_some() {
            return Err(bad(name, format!("{name} came more than once.")));
        }
        Ok(first)
    }

    /// A moment in the query.
    pub(super) fn query_time(&self, name: &'static str) -> Result<Option<Ticks>, ErrorResponse> {
        let Some(text) = self.query(name)? else { return Ok(None) };
        let at = Ticks::parse_iso(&text);
        at.map(Some).ok_or_else(|| bad(name, format!("{name} must be a time as in 2026-11-15T08:30:00Z.")))
    }
}
