//! Parses the callback of a sign-in and checks that it belongs to the pending sign-in.

use super::authorize::PendingSignIn;

const PARAMETER_BYTES_MAX: usize = 16 * 1024;

/// Why a callback is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallbackError {
    /// The state differs: the callback belongs to another browser or is forged.
    #[error("its state is not the one that was sent; ignore this callback and start the sign-in again")]
    State,
    /// The callback comes from another identity provider.
    #[error("it comes from the issuer {found:?}; ignore this callback and start the sign-in again")]
    Issuer {
        /// The parameter `iss`.
        found: String,
    },
    /// The identity provider reports an OAuth error; for example, the user declined.
    #[error("{error}: {description}")]
    Denied {
        /// The OAuth error code, such as `access_denied`.
        error: String,
        /// The description of the error; may be empty.
        description: String,
    },
    /// A required parameter is missing.
    #[error("the parameter {0} is missing; start the sign-in again")]
    Missing(&'static str),
    /// A parameter appears more than once.
    #[error("the parameter {0} appears twice; start the sign-in again")]
    Repeated(&'static str),
    /// The callback is longer than any valid one.
    #[error("it is longer than any valid callback; start the sign-in again")]
    TooLong,
}

/// The parameters of a callback that belongs to the pending sign-in.
#[derive(Debug)]
pub(super) struct CallbackParameters {
    pub(super) code: String,
    pub(super) id_token: Option<String>,
}

impl CallbackParameters {
    /// `query` is a whole URL, its query, or the body of a `form_post`.
    pub(super) fn parse(query: &str, pending: &PendingSignIn, issuer: &str) -> Result<Self, CallbackError> {
        if query.len() > PARAMETER_BYTES_MAX {
            return Err(CallbackError::TooLong);
        }
        let query = query.split_once('?').map_or(query, |(_, query)| query);
        let query = query.split('#').next().unwrap_or_default();
        let pairs: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let find = |name: &'static str| {
            let mut found = pairs.iter().filter(|(known, _)| known == name).map(|(_, value)| value.clone());
            match (found.next(), found.next()) {
                (_, Some(_)) => Err(CallbackError::Repeated(name)),
                (first, None) => Ok(first),
            }
        };
        // Check the sender first: even an error must not be trusted before.
        if find("state")?.is_none_or(|state| state != pending.state) {
            return Err(CallbackError::State);
        }
        let found = find("iss")?.ok_or(CallbackError::Missing("iss"))?;
        if found != issuer {
            return Err(CallbackError::Issuer { found });
        }
        if let Some(error) = find("error")? {
            let description = find("error_description")?.unwrap_or_default();
            return Err(CallbackError::Denied { error, description });
        }
        let code = find("code")?.ok_or(CallbackError::Missing("code"))?;
        Ok(Self { code, id_token: find("id_token")? })
    }
}
