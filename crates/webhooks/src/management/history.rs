//! The owner's side of the history: parses requests, checks the owner, and calls the history module.

use axum::body::Body;
use axum::http::header::{HeaderValue, LINK};
use domain::delivery::{
    DELIVERIES_PER_PAGE_DEFAULT, DELIVERIES_PER_PAGE_MAX, DeliveryCursor, DeliveryName, DeliveryPageQuery,
    DeliveryStatus, ReplayRequest,
};
use domain::{Ticks, parse_digits};
use store::Webhook;
use web::ErrorResponse;

use super::body::JsonBody;
use super::errors::invalid_parameter;
use super::history_json::{DeliveryJson, HealthJson, ReplayJson};
use super::request::ManagementRequest;
use super::{HandlerResult, Management, RouteGroup, errors, response};

impl Management {
    pub(super) async fn deliveries(&self, group: RouteGroup, request: &ManagementRequest) -> HandlerResult {
        let query = parse_page_query(request)?;
        let webhook = self.find_live(group, request).await?;
        let page = self.ports.history.deliveries(&webhook, &query).await.map_err(errors::history_error)?;
        let link = page.next.and_then(|next| self.next_link(request, &query, next));
        let deliveries: Vec<DeliveryJson> = page.deliveries.into_iter().map(DeliveryJson::from).collect();
        Ok(response::with_header(response::json(&deliveries), LINK, link))
    }

    pub(super) async fn delivery(&self, group: RouteGroup, request: &ManagementRequest) -> HandlerResult {
        let webhook = self.find_live(group, request).await?;
        let name = DeliveryName::Outgoing(request.outgoing()?);
        let delivery = self.ports.history.delivery(&webhook, name).await.map_err(errors::history_error)?;
        Ok(response::json(&DeliveryJson::from(delivery)))
    }

    pub(super) async fn health(&self, group: RouteGroup, request: &ManagementRequest) -> HandlerResult {
        let since = request.query_time("since")?;
        let webhook = self.find_owned(group, request).await?;
        let health = self.ports.history.health(&webhook, since).await.map_err(errors::history_error)?;
        Ok(response::json(&HealthJson::new(webhook.id, webhook.flags().is_active(), health)))
    }

    pub(super) async fn replay_delivery(
        &self,
        group: RouteGroup,
        request: &ManagementRequest,
    ) -> HandlerResult {
        let webhook = self.find_live(group, request).await?;
        let name = DeliveryName::Outgoing(request.outgoing()?);
        self.request_replay(request, &webhook, ReplayRequest::Delivery(name)).await
    }

    pub(super) async fn replay(
        &self,
        group: RouteGroup,
        request: &ManagementRequest,
        body: Body,
    ) -> HandlerResult {
        let mut members = JsonBody::read(body).await?;
        let from = members.time("from");
        let to = members.time_or_none("to");
        let from = members.finish(from)?;
        let webhook = self.find_live(group, request).await?;
        self.request_replay(request, &webhook, ReplayRequest::Span { from, to }).await
    }

    pub(super) async fn send_test_event(
        &self,
        group: RouteGroup,
        request: &ManagementRequest,
    ) -> HandlerResult {
        let event = request.query("event")?;
        let webhook = self.find_live(group, request).await?;
        let replay = match event {
            None => ReplayRequest::TestEvent,
            Some(name) => {
                let kind = domain::event::parse_semantic_name(webhook.resource, &name);
                let message = "event must be the semantic name of an event that the webhook subscribes to.";
                ReplayRequest::TestEventOf(kind.ok_or_else(|| invalid_parameter("event", message))?)
            }
        };
        self.request_replay(request, &webhook, replay).await
    }

    async fn request_replay(
        &self,
        request: &ManagementRequest,
        webhook: &Webhook,
        replay: ReplayRequest,
    ) -> HandlerResult {
        let requested = self.ports.history.request_replay(webhook, replay, &request.context()).await;
        let replay = requested.map_err(errors::history_error)?;
        Ok(response::accepted_json(&ReplayJson::from(&replay)))
    }

    fn next_link(
        &self,
        request: &ManagementRequest,
        query: &DeliveryPageQuery,
        next: DeliveryCursor,
    ) -> Option<HeaderValue> {
        let mut pairs = form_urlencoded::Serializer::new(String::new());
        pairs.append_pair("before", &next.to_string());
        pairs.append_pair("pageSize", &query.page_size.to_string());
        if let Some(status) = query.status {
            pairs.append_pair("status", status.as_str());
        }
        if let Some(since) = query.since {
            pairs.append_pair("since", &since.iso());
        }
        let (base, path) = (&self.settings.base_url, request.uri.path());
        HeaderValue::try_from(format!("<{base}{path}?{}>; rel=\"next\"", pairs.finish())).ok()
    }
}

pub(super) fn parse_page_query(request: &ManagementRequest) -> Result<DeliveryPageQuery, ErrorResponse> {
    let page_size = match request.query("pageSize")? {
        None => DELIVERIES_PER_PAGE_DEFAULT,
        Some(text) => {
            let size = parse_digits(&text).filter(|size| (1..=DELIVERIES_PER_PAGE_MAX).contains(size));
            size.ok_or_else(|| {
                let message = format!("pageSize must be a whole number from 1 to {DELIVERIES_PER_PAGE_MAX}.");
                invalid_parameter("pageSize", message)
            })?
        }
    };
    let before = match request.query("before")? {
        None => None,
        Some(text) => Some(parse_cursor(&text).ok_or_else(|| {
            invalid_parameter(
                "before",
                "before must come from a next link; leave it out for the newest deliveries.",
            )
        })?),
    };
    let status =
        match request.query("status")? {
            None => None,
            Some(text) => {
                let status = DeliveryStatus::parse(&text.to_ascii_lowercase());
                Some(status.ok_or_else(|| {
                    invalid_parameter("status", "status must be delivered, waiting or failed.")
                })?)
            }
        };
    let since = request.query_time("since")?;
    Ok(DeliveryPageQuery { status, since, before, page_size, ..DeliveryPageQuery::default() })
}

/// Leading zeros are accepted here: the parameter's documented pattern allows them.
pub(super) fn parse_cursor(text: &str) -> Option<DeliveryCursor> {
    let (at, sequence) = text.split_once('-')?;
    Some(DeliveryCursor { at: Ticks(parse_digits(at)?), sequence: parse_digits(sequence)? })
}
