//! Clients, what users authorized them for, and subscriptions.

use domain::subscription::Products;
use domain::{CallRecord, ClientKind, Refusal, Scopes};

use super::{Columns, FromRow};
use crate::clients::from_list;
use crate::{
    Authorization, AuthorizationCode, AuthorizationEnd, AuthorizationFacts, CallCount, CallbackIdToken,
    Client, ClientAccess, Consent, EndedAuthorization, Grant, KeyInfo, KeySlot, NumberedCall, Pkce,
    RefreshToken, Status, Subscription,
};

impl FromRow for Client {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        let addresses = |column| Ok::<_, R::Error>(from_list(&row.read::<Box<str>>(column)?));
        Ok(Self {
            id: row.read("id")?,
            guid: row.read("guid")?,
            name: row.read("name")?,
            redirect_uris: addresses("redirect_uris")?,
            post_logout_uris: addresses("post_logout_uris")?,
            pkce: Pkce::from_code(row.read("pkce")?),
            consent: Consent::from_code(row.read("consent")?),
            callback_id_token: CallbackIdToken::from_code(row.read("callback_id_token")?),
            status: Status::from_code(row.read("standing")?),
            created_at: row.read("created_at")?,
            revision: row.read("revision")?,
            products: Products::from_bits(row.read("products")?),
            team: row.read("team_id")?,
            is_sandbox: row.read("sandbox")?,
            kind: ClientKind::from_code(row.read("kind")?),
            backchannel_logout_uri: row.read("backchannel_logout_uri")?,
        })
    }
}

impl FromRow for Grant {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            id: row.read("id")?,
            client: row.read("client_id")?,
            user: row.read("user_id")?,
            tenant: row.read("tenant_id")?,
            details: row.read("details")?,
            created_at: row.read("created_at")?,
            last_used_at: row.read("last_used_at")?,
            expires_at: row.read("expires_at")?,
            revoked_at: row.read("revoked_at")?,
        })
    }
}

impl FromRow for AuthorizationCode {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            client: row.read("client_id")?,
            user: row.read("user_id")?,
            tenant: row.read("tenant_id")?,
            expires_at: row.read("expires_at")?,
            details: row.read("details")?,
        })
    }
}

impl FromRow for RefreshToken {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            grant: Grant::from_row(row)?,
            expires_at: row.read("token_expires_at")?,
            is_used: row.read("is_used")?,
        })
    }
}

impl FromRow for Authorization {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        let cause =
            AuthorizationEnd::from_name(&row.read::<Option<Box<str>>>("ended_why")?.unwrap_or_default());
        Ok(Self {
            access: ClientAccess {
                user: row.read("user_id")?,
                client: row.read("client_id")?,
                tenant: row.read("tenant_id")?,
            },
            membership: row.read("membership_id")?,
            scopes: Scopes::parse(&row.read::<Box<str>>("scopes")?).scopes,
            created_at: row.read("created_at")?,
            ended: row.read::<Option<_>>("ended_at")?.map(|at| EndedAuthorization { at, cause }),
        })
    }
}

impl FromRow for AuthorizationFacts {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            authorization: Authorization::from_row(row)?,
            user: row.read::<Option<i64>>("user_standing")?.map(Status::from_code),
            membership: row.read("current_membership")?,
        })
    }
}

impl FromRow for Subscription {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            id: row.read("id")?,
            name: row.read("name")?,
            products: Products::from_bits(row.read("products")?),
            status: Status::from_code(row.read("standing")?),
            created_at: row.read("created_at")?,
            daily_quota: row.read("daily_quota")?,
            cancelled_at: row.read("cancelled_at")?,
            revision: row.read("revision")?,
            team: row.read("team_id")?,
            is_sandbox: row.read("sandbox")?,
        })
    }
}

impl FromRow for KeyInfo {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            slot: KeySlot::from_code(row.read("slot")?),
            valid_until: row.read("valid_until")?,
            last_used_at: row.read("last_used_at")?,
            is_revealable: row.read("is_revealable")?,
        })
    }
}

impl FromRow for CallCount {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            subscription: row.read("subscription_id")?,
            day: row.read("day")?,
            route: row.read("route")?,
            calls: row.read("calls")?,
            failed: row.read("failed")?,
        })
    }
}

impl FromRow for NumberedCall {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            number: row.read("no")?,
            call: CallRecord {
                at: row.read("at")?,
                method: row.read("method")?,
                route: row.read("route")?,
                status: row.read("status")?,
                latency_micros: row.read("latency_us")?,
                request_id: row.read("request_id")?,
                client: row.read("client_id")?,
                tenant: row.read("tenant_id")?,
                refusal: row.read::<Option<Box<str>>>("refusal")?.as_deref().and_then(Refusal::from_name),
                subscription: row.read("subscription_id")?,
            },
        })
    }
}
