//! What can be done to a webhook, apart from HTTP: the owner's API and the developer portal call the same functions. Whoever
//! calls has checked that the webhook is the caller's.

use std::time::Duration;

use domain::receiver_url::ReceiverUrl;
use domain::webhook::Family;
use domain::{ErrorCode, Guid, Secret, TenantId, Ticks};
use store::{
    AuditContext, NewWebhook, StoreError, SubscribeOutcome, Webhook, WebhookChange, WebhookChangeOutcome,
};

use super::Management;
use crate::AddressedReceiver;
use crate::egress::EgressError;

/// The largest secret that signs deliveries.
pub const SECRET_BYTES_MAX: usize = 256;
/// For how long a replaced secret signs, too: by default, and at most.
pub const OVERLAP_DEFAULT: Duration = Duration::from_hours(24);
pub const OVERLAP_MAX: Duration = Duration::from_hours(168);

/// Why nothing was done.
#[derive(Debug, thiserror::Error)]
pub enum ActionError {
    #[error("there is no such webhook")]
    NotFound,
    #[error("the webhook has been deleted; deletion is permanent")]
    Deleted,
    #[error("the webhook has been unsubscribed permanently; subscribe again to get a new webhook")]
    Unsubscribed,
    #[error("another webhook of yours would then be identical; change or delete that one")]
    Duplicate,
    /// The contract of invoicing has no such operation.
    #[error("the address of an invoicing subscription cannot be changed; delete it and subscribe again")]
    FixedUrl,
    /// What is wrong with the form of the URL: it follows the URL's name.
    #[error("the address {0}")]
    InvalidUrl(String),
    /// The host resolves to a forbidden address.
    #[error("the address is not accepted: {0}")]
    RefusedAddress(String),
    /// The host does not resolve.
    #[error("the address is not accepted: {0}")]
    UnresolvedHost(String),
    #[error("the address cannot be resolved now: its name servers do not answer; try again")]
    NameServersSilent,
    #[error("the address cannot be resolved now; try again")]
    NotResolvedNow,
    #[error(
        "the address is not accepted: it is of the built-in receivers, and only webhooks of a sandbox can use the receiver of \
         that sandbox; send the address of a server of your own"
    )]
    ReservedAddress,
    #[error("there are already {0} webhooks, the maximum; delete one that is not needed")]
    TooManyWebhooks(usize),
    #[error("a secret has 1 to {SECRET_BYTES_MAX} bytes")]
    InvalidSecret,
    #[error("the old secret may sign for {} hours more at most", OVERLAP_MAX.as_secs() / 3600)]
    OverlapTooLong,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ActionError {
    /// The code of the error in APIs.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound => ErrorCode::NotFound,
            Self::Deleted => ErrorCode::Deleted,
            Self::Unsubscribed => ErrorCode::Unsubscribed,
            Self::Duplicate => ErrorCode::Exists,
            Self::FixedUrl => ErrorCode::NotOffered,
            Self::InvalidUrl(_) => ErrorCode::InvalidUrl,
            Self::RefusedAddress(_) => ErrorCode::RefusedAddress,
            Self::UnresolvedHost(_) | Self::NameServersSilent | Self::NotResolvedNow => {
                ErrorCode::UnresolvedHost
            }
            Self::ReservedAddress => ErrorCode::ReservedAddress,
            Self::TooManyWebhooks(_) => ErrorCode::TooManyWebhooks,
            Self::InvalidSecret | Self::OverlapTooLong => ErrorCode::InvalidMember,
            Self::Store(_) => ErrorCode::ServiceUnavailable,
        }
    }

    pub(super) fn ended(webhook: &Webhook) -> Self {
        if webhook.deleted_at.is_some() { Self::Deleted } else { Self::Unsubscribed }
    }
}

pub type ActionResult = Result<Webhook, ActionError>;

impl Management {
    /// Subscribes a webhook. `url` is its URL: its address is checked first.
    pub(super) async fn subscribe_at(
        &self,
        url: &ReceiverUrl,
        new: NewWebhook,
        context: &AuditContext,
    ) -> ActionResult {
        self.check_address(url, &new.owner.tenant).await?;
        self.create(new, context).await
    }

    /// Stores a webhook whose address has been checked. Once this returns, the engine knows of it.
    pub(super) async fn create(&self, new: NewWebhook, context: &AuditContext) -> ActionResult {
        let tenant = self.ports.store.find_tenant(&new.owner.tenant).await?;
        let is_sandbox = tenant.is_some_and(|tenant| tenant.sandbox_of.is_some());
        let settings = &self.settings;
        let webhooks_max = if is_sandbox { settings.sandbox_webhooks_max } else { settings.webhooks_max };
        match self.ports.store.subscribe(new, webhooks_max, context).await? {
            SubscribeOutcome::Created(webhook) | SubscribeOutcome::Existing(webhook) => {
                self.ports.notifier.webhook_changed(webhook.id).await;
                Ok(webhook)
            }
            SubscribeOutcome::LimitReached => Err(ActionError::TooManyWebhooks(webhooks_max)),
        }
    }

    /// Resumes or pauses deliveries.
    pub async fn set_enabled(
        &self,
        webhook: &Webhook,
        enabled: bool,
        context: &AuditContext,
    ) -> ActionResult {
        let change = if enabled { WebhookChange::Enable } else { WebhookChange::Disable };
        self.apply(webhook, change, context).await
    }

    /// Sends the webhook's events to another URL, which must accept a new handshake; none is lost meanwhile.
    pub async fn change_url(&self, webhook: &Webhook, url: &str, context: &AuditContext) -> ActionResult {
        let url = match self.built_in_receivers.parse(url) {
            Some(url) => url,
            None => ReceiverUrl::parse(url, self.settings.is_local).map_err(ActionError::InvalidUrl)?,
        };
        self.change_parsed_url(webhook, &url, context).await
    }

    pub(super) async fn change_parsed_url(
        &self,
        webhook: &Webhook,
        url: &ReceiverUrl,
        context: &AuditContext,
    ) -> ActionResult {
        if webhook.flags().is_final() {
            return Err(ActionError::ended(webhook));
        }
        if webhook.family() == Family::Invoicing {
            return Err(ActionError::FixedUrl);
        }
        self.check_address(url, &webhook.owner.tenant).await?;
        self.apply(webhook, WebhookChange::ChangeUrl(url.as_str().to_owned()), context).await
    }

    /// A new secret; deliveries are signed with the old one, too, for `overlap`.
    pub async fn rotate_secret(
        &self,
        webhook: &Webhook,
        secret: Secret,
        (now, overlap): (Ticks, Duration),
        context: &AuditContext,
    ) -> ActionResult {
        if !(1..=SECRET_BYTES_MAX).contains(&secret.reveal().len()) {
            return Err(ActionError::InvalidSecret);
        }
        if overlap > OVERLAP_MAX {
            return Err(ActionError::OverlapTooLong);
        }
        let change = WebhookChange::RotateSecret { secret, previous_valid_until: now + overlap };
        self.apply(webhook, change, context).await
    }

    /// Deletes the webhook for good.
    pub async fn delete_webhook(&self, webhook: &Webhook, context: &AuditContext) -> ActionResult {
        self.apply(webhook, WebhookChange::Delete, context).await
    }

    /// Once this returns, the engine starts nothing that does not know of the change.
    pub(super) async fn apply(
        &self,
        webhook: &Webhook,
        change: WebhookChange,
        context: &AuditContext,
    ) -> ActionResult {
        let owner = Some(&webhook.owner);
        match self.ports.store.change_webhook(webhook.id, owner, change, context).await? {
            WebhookChangeOutcome::Changed(webhook) => {
                self.ports.notifier.webhook_changed(webhook.id).await;
                Ok(webhook)
            }
            WebhookChangeOutcome::Ended(webhook) => Err(ActionError::ended(&webhook)),
            WebhookChangeOutcome::Duplicate => Err(ActionError::Duplicate),
            WebhookChangeOutcome::Unknown => Err(ActionError::NotFound),
        }
    }

    /// Refuses a built-in receiver to all but the webhooks of its sandbox.
    async fn check_built_in(&self, receiver: Option<Guid>, tenant: &TenantId) -> Result<(), ActionError> {
        let sandbox = match receiver.filter(|_| self.settings.is_sandbox_open) {
            Some(id) => self.ports.store.find_sandbox_by_receiver(id).await?,
            None => None,
        };
        let is_own = sandbox.is_some_and(|sandbox| sandbox.tenant == *tenant);
        if is_own { Ok(()) } else { Err(ActionError::ReservedAddress) }
    }

    /// Refuses a URL whose host resolves to a forbidden address or does not resolve, and the built-in receiver of another
    /// tenant.
    pub(super) async fn check_address(
        &self,
        url: &ReceiverUrl,
        tenant: &TenantId,
    ) -> Result<(), ActionError> {
        if let AddressedReceiver::BuiltIn(receiver) = self.built_in_receivers.receiver_of(url) {
            return self.check_built_in(receiver, tenant).await;
        }
        let Err(failure) = self.ports.egress.check(url).await else { return Ok(()) };
        Err(match &failure {
            // Which address it is, and in which network, is not the subscriber's business.
            EgressError::Refused { .. } => ActionError::RefusedAddress(failure.to_string()),
            EgressError::Unresolved { .. } => ActionError::UnresolvedHost(failure.to_string()),
            EgressError::TimedOut(_) => ActionError::NameServersSilent,
            other => {
                tracing::warn!(failure = %other, "the host of a receiver could not be resolved");
                ActionError::NotResolvedNow
            }
        })
    }
}
