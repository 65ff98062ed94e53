//! Rotation of a webhook's secret: the old secret keeps signing beside the new one for an overlap.

use std::time::Duration;

use axum::body::Body;
use domain::{Guid, Secret};
use serde::Serialize;
use utoipa::ToSchema;

use super::body::JsonBody;
use super::request::ManagementRequest;
use super::{HandlerResult, Management, RouteGroup, errors, response};

pub(super) const HOURS_DEFAULT: u32 = 24;
pub(super) const HOURS_MAX: u32 = 168;

/// The result of a rotation.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookSecretRotated)]
pub(super) struct RotatedSecretJson {
    #[schema(value_type = String, format = "uuid")]
    webhook_id: Guid,
    /// Until then the old secret signs too; null where it does not.
    #[schema(format = DateTime)]
    old_secret_until: Option<String>,
}

impl Management {
    pub(super) async fn rotate(
        &self,
        group: RouteGroup,
        request: &ManagementRequest,
        body: Body,
    ) -> HandlerResult {
        let mut members = JsonBody::read(body).await?;
        let secret = members.secret();
        let hours = members.number_or_none("overlapHours", 0, HOURS_MAX).unwrap_or(HOURS_DEFAULT);
        let secret = Secret::new(members.finish(secret)?);
        let overlap = Duration::from_secs(u64::from(hours) * 3600);
        let webhook = self.find_owned(group, request).await?;
        let rotated = self.rotate_secret(&webhook, secret, (request.now, overlap), &request.context()).await;
        let webhook = rotated.map_err(|error| errors::action_error(&error, "secret"))?;
        let old_secret_until = webhook.previous_secret.as_ref().map(|old| old.until.iso());
        Ok(response::json(&RotatedSecretJson { webhook_id: webhook.id, old_secret_until }))
    }
}
