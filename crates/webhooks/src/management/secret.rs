//! A new secret: the old one signs beside it for a while, so that a receiver can learn the new one in peace.

use std::time::Duration;

use axum::body::Body;
use domain::{Guid, Secret};
use serde::Serialize;
use store::WebhookChange;
use utoipa::ToSchema;

use super::body::Members;
use super::call::Call;
use super::{Answer, Management, Side, answer};

pub(super) const HOURS_DEFAULT: u32 = 24;
pub(super) const HOURS_MAX: u32 = 168;

/// A secret that was replaced.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookSecretRotated)]
pub(super) struct Rotated {
    #[schema(value_type = String, format = "uuid")]
    webhook_id: Guid,
    /// Until then the old secret signs, too; null: it does not.
    #[schema(format = DateTime)]
    old_secret_until: Option<String>,
}

impl Management {
    pub(super) async fn rotate(&self, side: Side, call: &Call, body: Body) -> Answer {
        let mut members = Members::read(body).await?;
        let secret = members.secret();
        let hours = members.number_or_none("overlapHours", 0, HOURS_MAX).unwrap_or(HOURS_DEFAULT);
        let secret = Secret::new(members.finish(secret)?);
        let previous_valid_until = call.now + Duration::from_secs(u64::from(hours) * 3600);
        let webhook =
            self.change(side, call, WebhookChange::RotateSecret { secret, previous_valid_until }).await?;
        let old_secret_until = webhook.previous_secret.as_ref().map(|old| old.until.iso());
        Ok(answer::json(&Rotated { webhook_id: webhook.id, old_secret_until }))
    }
}
