//! Teams, their members, requests, notices and sandboxes.

use domain::subscription::Products;
use domain::{ClientId, NoticeKind, NoticeObject, Secret, TenantId};

use super::{Columns, FromRow};
use crate::notices::{EndingTeamCredential, mailed};
use crate::sandboxes::from_json;
use crate::{
    KeySlot, ListedMember, Notice, NoticeReader, NoticeSettings, ReceivedRequest, ReceiverMode, RequestKind,
    RequestState, Sandbox, Status, Team, TeamMember, TeamRequest, TeamRole, WebhookFailure,
};

impl FromRow for Team {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            id: row.read("id")?,
            name: row.read("name")?,
            status: Status::from_code(row.read("standing")?),
            created_at: row.read("created_at")?,
            revision: row.read("revision")?,
        })
    }
}

/// A team, and the role of a developer in it.
impl FromRow for (Team, TeamRole) {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok((Team::from_row(row)?, TeamRole::from_code(row.read("role")?)))
    }
}

impl FromRow for TeamMember {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            team: row.read("team_id")?,
            account: row.read("account_id")?,
            role: TeamRole::from_code(row.read("role")?),
            created_at: row.read("created_at")?,
        })
    }
}

impl FromRow for ListedMember {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            member: TeamMember::from_row(row)?,
            email: row.read("email")?,
            given_name: row.read("given_name")?,
            status: Status::from_code(row.read("standing")?),
        })
    }
}

/// A sandbox tenant, a client of its team, and the products of a subscription of the team.
impl FromRow for (TenantId, Option<ClientId>, Option<Products>) {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        let products = row.read::<Option<i64>>("products")?.map(Products::from_bits);
        Ok((row.read("tenant_id")?, row.read("client_id")?, products))
    }
}

/// A client of a team, and the products of a subscription of the team.
impl FromRow for (ClientId, Option<Products>) {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok((row.read("id")?, row.read::<Option<i64>>("products")?.map(Products::from_bits)))
    }
}

impl FromRow for TeamRequest {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            id: row.read("id")?,
            team: row.read("team_id")?,
            kind: row.read_as("details", |details: Box<str>| RequestKind::from_json(&details))?,
            state: RequestState::from_code(row.read("state")?),
            note: row.read("note")?,
            asked_by: row.read("asked_by")?,
            created_at: row.read("created_at")?,
            decided_by: row.read("decided_by")?,
            decided_at: row.read("decided_at")?,
            reason: row.read("reason")?,
            result: row.read("result")?,
            revision: row.read("revision")?,
        })
    }
}

impl FromRow for Notice {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            id: row.read("id")?,
            team: row.read("team_id")?,
            kind: row.read_as("kind", NoticeKind::from_code)?,
            object: row.read_as("object", |object: Box<str>| NoticeObject::parse(&object))?,
            subject: row.read("subject")?,
            name: row.read("name")?,
            detail: row.read("detail")?,
            since: row.read("since")?,
            at: row.read("at")?,
        })
    }
}

impl FromRow for NoticeSettings {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self { mailed: mailed(row.read("muted_notices")?), read_at: row.read("read_at")? })
    }
}

impl FromRow for NoticeReader {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            account: row.read("id")?,
            email: row.read("email")?,
            given_name: row.read("given_name")?,
            lang: row.read("lang")?,
            mailed: mailed(row.read("muted_notices")?),
        })
    }
}

impl FromRow for WebhookFailure {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self { first_failed_at: row.read("first_failed_at")?, webhook: row.read("webhook")? })
    }
}

impl FromRow for EndingTeamCredential {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        let slot: i64 = row.read("slot")?;
        Ok(Self {
            team: row.read("team_id")?,
            subject: row.read("id")?,
            name: row.read("name")?,
            slot: (slot != 0).then(|| KeySlot::from_code(slot)),
            ends_at: row.read("ends_at")?,
        })
    }
}

/// A sandbox, and its sealed password.
impl FromRow for (Sandbox, Vec<u8>) {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        let sandbox = Sandbox {
            team: row.read("team_id")?,
            tenant: row.read("tenant_id")?,
            tenant_status: row.read::<Option<i64>>("tenant_standing")?.map(Status::from_code),
            user: row.read("user_id")?,
            email: row.read("email")?,
            password: Secret::new(""),
            receiver: row.read("receiver")?,
            receiver_mode: ReceiverMode::from_code(row.read("receiver_mode")?),
            created_at: row.read("created_at")?,
            loaded_at: row.read("loaded_at")?,
        };
        Ok((sandbox, row.read("password")?))
    }
}

impl FromRow for ReceivedRequest {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            number: row.read("number")?,
            at: row.read("at")?,
            webhook: row.read("webhook")?,
            event: row.read("event")?,
            method: row.read("method")?,
            target: row.read("target")?,
            headers: from_json(&row.read::<Box<str>>("headers")?),
            body: row.read("body")?,
            problem: row.read("problem")?,
            verified: from_json(&row.read::<Box<str>>("verified")?),
            status: row.read("status")?,
        })
    }
}
