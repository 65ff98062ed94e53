//! Wires the history of webhooks: one module behind the owner's API, the operator's API and the command line.

use std::sync::Arc;
use std::time::Duration;

use ::webhooks::EngineNotifier;
use ::webhooks::history::{History, HistoryPorts};
use async_trait::async_trait;
use domain::delivery::{
    DeliveryName, DeliveryPage, DeliveryPageQuery, DeliveryView, ReplayRequest, ReplayView, WebhookHealth,
};
use domain::{WebhookId, WebhookStatus};
use operator::admin::{Admin, Authority, CallLimits, WebhookAdmin};
use operator::ports::{HistoryResult, WebhookHistory};
use store::{AuditContext, LogEvent, Store, Webhook};

use super::{BasePorts, account_links};
use crate::config::Config;

/// `notifier`: the delivery engine, or nobody where it runs in another process.
pub(crate) fn history(
    base: &BasePorts,
    store: Arc<dyn Store>,
    notifier: Arc<dyn EngineNotifier>,
    retry_window: Duration,
) -> History {
    History::new(HistoryPorts { store, clock: base.clock.clone(), notifier }, retry_window)
}

/// The operator's administration; each request acts with an authority of its own.
pub(crate) fn admin(config: &Config, base: &BasePorts, store: Arc<dyn Store>) -> Admin {
    Admin {
        store,
        clock: base.clock.clone(),
        random: base.random.clone(),
        links: account_links(config, base),
        limits: call_limits(config),
        is_local: config.egress.loopback,
        authority: Authority::default(),
    }
}

/// The limits of subscriptions, as the gateway applies them: 0 is no limit.
pub(super) fn call_limits(config: &Config) -> CallLimits {
    let (rate, quota) = (config.gateway.rate_per_minute, config.gateway.quota_per_day);
    CallLimits { rate_per_minute: (rate > 0).then_some(rate), calls_per_day: (quota > 0).then_some(quota) }
}

/// The operator's administration of webhooks.
pub(crate) fn webhook_admin(base: &BasePorts, store: Arc<dyn Store>, history: History) -> WebhookAdmin {
    WebhookAdmin { store, clock: base.clock.clone(), history: Arc::new(OperatorHistory(history)) }
}

/// For programs that only write to the store: the running service learns of a change from the store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoEngine;

#[async_trait]
impl EngineNotifier for NoEngine {
    async fn webhook_changed(&self, _: WebhookId) {}
}

/// The history without an owner check.
struct OperatorHistory(History);

#[async_trait]
impl WebhookHistory for OperatorHistory {
    async fn health(&self, webhook: WebhookId) -> HistoryResult<WebhookHealth> {
        let webhook = self.0.webhook(webhook).await?;
        self.0.health(&webhook, None).await
    }

    async fn deliveries(&self, webhook: WebhookId, query: &DeliveryPageQuery) -> HistoryResult<DeliveryPage> {
        let webhook = self.0.webhook(webhook).await?;
        self.0.deliveries(&webhook, query).await
    }

    async fn delivery(&self, webhook: WebhookId, name: DeliveryName) -> HistoryResult<DeliveryView> {
        let webhook = self.0.webhook(webhook).await?;
        self.0.delivery(&webhook, name).await
    }

    async fn deliveries_of(
        &self,
        webhook: &Webhook,
        status: WebhookStatus,
        events: &[LogEvent],
    ) -> HistoryResult<Vec<DeliveryView>> {
        self.0.deliveries_of(webhook, status, events).await
    }

    async fn replays(&self, webhook: WebhookId) -> HistoryResult<Vec<ReplayView>> {
        let webhook = self.0.webhook(webhook).await?;
        self.0.replays(&webhook).await
    }

    async fn request_replay(
        &self,
        webhook: WebhookId,
        request: ReplayRequest,
        context: &AuditContext,
    ) -> HistoryResult<ReplayView> {
        let webhook = self.0.webhook(webhook).await?;
        self.0.request_replay(&webhook, request, context).await
    }
}
