//! The notices of a developer's team, what the developer has read of them, and which of them come as mail.

use domain::{NoticeKinds, Ticks};
use store::{NoticePage, NoticeQuery, NoticeSettings};

use super::DeveloperAdmin;
use crate::admin::{AdminError, Result};

impl DeveloperAdmin {
    /// Newest first.
    pub async fn notices(&self, team: &str, query: &NoticeQuery) -> Result<NoticePage> {
        let member = self.require_member(team).await?;
        Ok(self.admin.store.list_notices(&member.team, query).await?)
    }

    /// How many notices the developer has not read, up to `store::UNREAD_NOTICES_MAX`.
    pub async fn unread_notices(&self, team: &str) -> Result<usize> {
        // One query for every page: of a team that is not theirs there are none.
        Ok(self.admin.store.unread_notices(&domain::TeamId::new(team), &self.developer).await?)
    }

    /// Marks the notices up to a time as read.
    pub async fn mark_notices_read(&self, team: &str, up_to: Ticks) -> Result<()> {
        let member = self.require_member(team).await?;
        // Nobody has read what is still to come.
        let up_to = up_to.min(self.admin.now());
        let is_member = self.admin.store.mark_notices_read(&member.team, &self.developer, up_to).await?;
        if is_member { Ok(()) } else { Err(no_team(team)) }
    }

    pub async fn notice_preferences(&self, team: &str) -> Result<NoticeSettings> {
        let member = self.require_member(team).await?;
        let settings = self.admin.store.notice_settings(&member.team, &self.developer).await?;
        settings.ok_or_else(|| no_team(team))
    }

    /// Sets which kinds of notices the developer gets as mail.
    pub async fn set_notice_preferences(&self, team: &str, mailed: NoticeKinds) -> Result<()> {
        let member = self.require_member(team).await?;
        let (store, context) = (&self.admin.store, &self.context);
        let is_member = store.set_notice_preferences(&member.team, &self.developer, mailed, context).await?;
        if is_member { Ok(()) } else { Err(no_team(team)) }
    }
}

fn no_team(team: &str) -> AdminError {
    AdminError::NotFound(format!("team \"{team}\""))
}
