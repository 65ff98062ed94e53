//! What the browser brings back, and whether it belongs to what was begun.

use super::authorize::PendingSignIn;

const PARAMETER_BYTES_MAX: usize = 16 * 1024;

/// Why a callback is not followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallbackError {
    /// Another browser's callback, or a forged one. Do nothing with it.
    #[error("its state is not the one that was sent; forget this request and begin anew")]
    State,
    /// The answer of another identity provider.
    #[error("it comes from the issuer {found:?}; forget this request and begin anew")]
    Issuer { found: String },
    /// The user said no, or the request could not be met.
    #[error("{error}: {description}")]
    Denied { error: String, description: String },
    #[error("the parameter {0} is missing; begin anew")]
    Missing(&'static str),
    #[error("the parameter {0} came twice; begin anew")]
    Repeated(&'static str),
    #[error("it is longer than any callback; begin anew")]
    TooLong,
}

/// The parameters of a callback that belongs to what was begun.
#[derive(Debug)]
pub(super) struct CallbackParameters {
    pub(super) code: String,
    pub(super) id_token: Option<String>,
}

impl CallbackParameters {
    /// `query`: a whole address, its query, or the body of a `form_post`.
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
        // Nothing is believed, not even a refusal, before it is known whose it is.
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
