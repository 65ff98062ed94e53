//! The logout token: a signed statement that a session has ended.

use std::time::Duration;

use domain::Ticks;
use domain::secret::base64url;
use serde::Serialize;
use store::Logout;

use crate::Identity;
use crate::jwt;
use crate::keys::KeyError;

/// The `typ` of the header: nothing else accepts the token, and a client accepts nothing else.
const TYP: &str = "logout+jwt";
/// The specification recommends two minutes at most.
const TTL: Duration = Duration::from_mins(2);

#[derive(Debug, Serialize)]
struct LogoutClaims<'a> {
    iss: &'a str,
    aud: &'a str,
    iat: i64,
    exp: i64,
    jti: String,
    sub: &'a str,
    sid: String,
    events: Events,
}

#[derive(Debug, Serialize)]
struct Events {
    #[serde(rename = "http://schemas.openid.net/event/backchannel-logout")]
    logout: Empty,
}

#[derive(Debug, Serialize)]
struct Empty {}

/// The claims of a token that is issued now. There is no `nonce`, so that it cannot be taken for an id_token.
fn logout_claims<'a>(
    issuer: &'a str,
    logout: &'a Logout,
    (sid, jti): (String, String),
    now: Ticks,
) -> LogoutClaims<'a> {
    LogoutClaims {
        iss: issuer,
        aud: logout.client.as_str(),
        iat: now.unix_seconds(),
        exp: (now + TTL).unix_seconds(),
        jti,
        sub: logout.user.as_str(),
        sid,
        events: Events { logout: Empty {} },
    }
}

impl Identity {
    /// A new token for each attempt: one that was refused or lost may have expired, and a client may have seen its `jti`.
    pub(super) fn logout_token(&self, logout: &Logout) -> Result<String, KeyError> {
        let mut unique = [0; 16];
        self.random.fill(&mut unique);
        let ids = (self.sid(logout.session, &logout.client), base64url(&unique));
        jwt::sign_as(&self.keys, TYP, &logout_claims(&self.settings.issuer, logout, ids, self.clock.now()))
    }
}

#[cfg(test)]
mod tests {
    use domain::{AccountId, ClientId, Guid};
    use serde_json::json;
    use store::LOGOUT_LIFE;

    use super::*;

    #[test]
    fn token_has_the_claims_of_the_specification_and_no_others() {
        let ended = Ticks::from_unix_seconds(1_700_000_000);
        let logout = Logout {
            id: Guid::from_bytes([1; 16]),
            client: ClientId::new("erp"),
            user: AccountId::new("maria"),
            session: Guid::from_bytes([2; 16]),
            created_at: ended,
            expires_at: ended + LOGOUT_LIFE,
        };
        // An attempt that is made an hour after the end of the session.
        let now = Ticks::from_unix_seconds(1_700_003_600);
        let claims = logout_claims("https://id.example", &logout, ("s".into(), "j".into()), now);
        let expected = json!({
            "iss": "https://id.example", "aud": "erp", "iat": 1_700_003_600, "exp": 1_700_003_720, "jti": "j",
            "sub": "maria", "sid": "s", "events": {"http://schemas.openid.net/event/backchannel-logout": {}},
        });
        assert_eq!(serde_json::to_value(&claims).unwrap(), expected);
    }
}
