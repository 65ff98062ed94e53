//! The owner's side of the history: parses requests, checks the owner, and calls the history module.

use axum::body::Body;
use axum::http::header::{HeaderValue, LINK};
use domain::Ticks;
use domain::delivery::{
    DELIVERIES_PER_PAGE_DEFAULT, DELIVERIES_PER_PAGE_MAX, DeliveryCursor, DeliveryName, DeliveryPageQuery,
    DeliveryStatus, ReplayRequest,
};
use store::Webhook;
use web::Refusal;

use super::body::Members;
use super::call::Call;
use super::history_json::{DeliveryJson, HealthJson, ReplayJson};
use super::refusal::bad;
use super::{Answer, Management, Side, answer, refusal};
use crate::history::Requester;

impl Management {
    pub(super) async fn deliveries(&self, side: Side, call: &Call) -> Answer {
        let query = parse_page_query(call)?;
        let webhook = self.live(side, call).await?;
        let page = self.ports.history.deliveries(&webhook, &query).await.map_err(refusal::history)?;
        let link = page.next.and_then(|next| self.next_link(call, &query, next));
        let deliveries: Vec<DeliveryJson> = page.deliveries.into_iter().map(DeliveryJson::from).collect();
        Ok(answer::with_header(answer::json(&deliveries), LINK, link))
    }

    pub(super) async fn delivery(&self, side: Side, call: &Call) -> Answer {
        let webhook = self.live(side, call).await?;
        let name = DeliveryName::Outgoing(call.outgoing()?);
        let delivery = self.ports.history.delivery(&webhook, name).await.map_err(refusal::history)?;
        Ok(answer::json(&DeliveryJson::from(delivery)))
    }

    pub(super) async fn health(&self, side: Side, call: &Call) -> Answer {
        let since = call.query_time("since")?;
        let webhook = self.owned(side, call).await?;
        let health = self.ports.history.health(&webhook, since).await.map_err(refusal::history)?;
        Ok(answer::json(&HealthJson::new(webhook.id, webhook.flags().is_active(), health)))
    }

    pub(super) async fn replay_one(&self, side: Side, call: &Call) -> Answer {
        let webhook = self.live(side, call).await?;
        let name = DeliveryName::Outgoing(call.outgoing()?);
        self.request_replay(call, &webhook, ReplayRequest::Delivery(name)).await
    }

    pub(super) async fn replay(&self, side: Side, call: &Call, body: Body) -> Answer {
        let mut members = Members::read(body).await?;
        let from = members.time("from");
        let to = members.time_or_none("to");
        let from = members.finish(from)?;
        let webhook = self.live(side, call).await?;
        self.request_replay(call, &webhook, ReplayRequest::Span { from, to }).await
    }

    pub(super) async fn test(&self, side: Side, call: &Call) -> Answer {
        let webhook = self.live(side, call).await?;
        self.request_replay(call, &webhook, ReplayRequest::TestEvent).await
    }

    async fn request_replay(&self, call: &Call, webhook: &Webhook, request: ReplayRequest) -> Answer {
        let requester = Requester::Owner(&call.caller.user);
        let requested = self.ports.history.request_replay(webhook, request, requester, &call.context()).await;
        let replay = requested.map_err(refusal::history)?;
        Ok(answer::accepted(&ReplayJson::from(&replay)))
    }

    fn next_link(&self, call: &Call, query: &DeliveryPageQuery, next: DeliveryCursor) -> Option<HeaderValue> {
        let mut pairs = form_urlencoded::Serializer::new(String::new());
        pairs.append_pair("before", &next.to_string());
        pairs.append_pair("pageSize", &query.page_size.to_string());
        if let Some(status) = query.status {
            pairs.append_pair("status", status.as_str());
        }
        if let Some(since) = query.since {
            pairs.append_pair("since", &since.iso());
        }
        let (base, path) = (&self.settings.base_url, call.uri.path());
        HeaderValue::try_from(format!("<{base}{path}?{}>; rel=\"next\"", pairs.finish())).ok()
    }
}

fn parse_page_query(call: &Call) -> Result<DeliveryPageQuery, Refusal> {
    let page_size = match call.query("pageSize")? {
        None => DELIVERIES_PER_PAGE_DEFAULT,
        Some(text) => {
            let size = text.parse().ok().filter(|size| (1..=DELIVERIES_PER_PAGE_MAX).contains(size));
            size.ok_or_else(|| {
                let message = format!("pageSize must be a whole number from 1 to {DELIVERIES_PER_PAGE_MAX}.");
                bad("pageSize", message)
            })?
        }
    };
    let before = match call.query("before")? {
        None => None,
        Some(text) => Some(parse_cursor(&text).ok_or_else(|| {
            bad("before", "before must come from a next link; leave it out for the newest deliveries.")
        })?),
    };
    let status = match call.query("status")? {
        None => None,
        Some(text) => {
            let status = DeliveryStatus::parse(&text.to_ascii_lowercase());
            Some(status.ok_or_else(|| bad("status", "status must be delivered, waiting or failed."))?)
        }
    };
    Ok(DeliveryPageQuery { status, since: call.query_time("since")?, before, page_size })
}

/// Leading zeros are accepted here: the parameter's documented pattern allows them.
fn parse_cursor(text: &str) -> Option<DeliveryCursor> {
    let (at, sequence) = text.split_once('-')?;
    Some(DeliveryCursor {
        at: Ticks(at.parse().ok().filter(|at| *at >= 0)?),
        sequence: sequence.parse().ok()?,
    })
}
