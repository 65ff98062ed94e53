//! What the operator's API needs from its neighbours. The program supplies it, so that this crate imports none of them.

use std::sync::Arc;

use async_trait::async_trait;
use domain::delivery::{
    DeliveryName, DeliveryPage, DeliveryPageQuery, DeliveryView, HistoryError, ReplayRequest, ReplayView,
    WebhookHealth,
};
use domain::signing_key::SigningKeyInfo;
use domain::{Guid, Realm, Secret, Ticks, WebhookId, WebhookStatus};
use store::{Account, AuditContext, Invitation, LogEvent, Mail, NodeDetails, StoreError, Webhook};

use crate::error::AdminError;
use crate::operations::backups::{BackupContent, BackupList, BackupName, BackupRun};
use crate::operations::doctor::Examination;

pub type HistoryResult<T> = Result<T, HistoryError<StoreError>>;

/// The history of any webhook: its deliveries, health and replays.
#[async_trait]
pub trait WebhookHistory: Send + Sync + 'static {
    /// Over the last 24 hours.
    async fn health(&self, webhook: WebhookId) -> HistoryResult<WebhookHealth>;

    async fn deliveries(&self, webhook: WebhookId, query: &DeliveryPageQuery) -> HistoryResult<DeliveryPage>;

    async fn delivery(&self, webhook: WebhookId, name: DeliveryName) -> HistoryResult<DeliveryView>;

    /// The deliveries of these events to this webhook, in their order.
    async fn deliveries_of(
        &self,
        webhook: &Webhook,
        status: WebhookStatus,
        events: &[LogEvent],
    ) -> HistoryResult<Vec<DeliveryView>>;

    /// Newest first.
    async fn replays(&self, webhook: WebhookId) -> HistoryResult<Vec<ReplayView>>;

    /// Starts a replay, or sends a test event, for the operator.
    async fn request_replay(
        &self,
        webhook: WebhookId,
        request: ReplayRequest,
        context: &AuditContext,
    ) -> HistoryResult<ReplayView>;
}

/// The sample data of sandboxes.
pub trait SampleData: Send + Sync + 'static {
    /// Changes for the ingest API, one per line; a company comes first. The same every time.
    fn lines(&self) -> Vec<String>;
}

/// Where the pages of the accounts are, and the mails that lead there.
pub trait AccountLinks: Send + Sync + 'static {
    /// The link that accepts an invitation.
    fn invitation_url(&self, realm: Realm, token: &Secret) -> Secret;

    /// The mail that carries the link; none where no mail server is configured.
    fn invitation_mail(&self, invitation: &Invitation, url: &Secret, now: Ticks) -> Option<Mail>;

    /// The link that sets a new password.
    fn reset_url(&self, realm: Realm, token: &Secret) -> Secret;

    /// The mail that carries it; none where no mail server is configured.
    fn reset_mail(&self, account: &Account, url: &Secret, now: Ticks) -> Option<Mail>;

    /// The mail that tells a person that their second factors were reset; none where no mail server is configured.
    fn second_factor_mail(&self, account: &Account, now: Ticks) -> Option<Mail>;
}

/// The keys that sign tokens.
#[async_trait]
pub trait SigningKeyRing: Send + Sync + 'static {
    /// Oldest first; as this node knows them, which is at most seconds old.
    fn list(&self) -> Vec<SigningKeyInfo>;

    /// Adds the next key, of which there is one at a time. `at_once`: the new key signs now, and every older key is withdrawn.
    async fn rotate(&self, at_once: bool, context: &AuditContext) -> Result<SigningKeyInfo, RotationError>;
}

/// Why the signing keys were not rotated.
#[derive(Debug)]
pub enum RotationError {
    /// The next key exists already and signs from this time on.
    NextExists(Ticks),
    Store(StoreError),
    Failed(String),
}

/// The node that runs this code.
#[async_trait]
pub trait ThisNode: Send + Sync + 'static {
    fn id(&self) -> Guid;

    fn details(&self) -> NodeDetails;

    /// When the newest backup in its backup directory was made.
    async fn last_backup_at(&self) -> Option<Ticks>;
}

/// How the service is installed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Installation {
    /// Where clients reach the service.
    pub base_url: String,
    /// Whether the address is more than this machine's own.
    pub is_public: bool,
    /// The mail server's host, where one is configured.
    pub mail_server: Option<String>,
}

/// The backups of this node's backup directory.
#[async_trait]
pub trait Backups: Send + Sync + 'static {
    async fn list(&self) -> Result<BackupList, AdminError>;

    /// Takes the one place for a backup and a free name. Nothing is written before [`ReservedBackup::start`].
    async fn reserve(&self, by: &AuditContext) -> Result<Box<dyn ReservedBackup>, AdminError>;

    async fn open(&self, name: &BackupName) -> Result<BackupContent, AdminError>;
}

/// A backup that nobody else can start now. Dropping it gives the place back.
pub trait ReservedBackup: Send {
    fn name(&self) -> &BackupName;

    /// Makes it in the background.
    fn start(self: Box<Self>) -> BackupRun;
}

/// Examines the installation.
#[async_trait]
pub trait Doctor: Send + Sync + 'static {
    /// Takes two seconds at most; the result of the last few seconds is returned again.
    async fn examine(&self) -> Arc<Examination>;
}
