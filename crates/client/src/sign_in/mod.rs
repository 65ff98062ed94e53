//! Signing users in with OpenID Connect: the authorization request, the callback, tokens and their renewal.

mod authorize;
mod callback;
mod discovery;
mod id_token;
mod provider;
mod session;
mod tokens;

pub use authorize::{AuthorizationRequest, PendingSignIn, StartedSignIn};
pub use callback::CallbackError;
pub use id_token::{IdTokenError, Identity};
pub use provider::{CompletedSignIn, SignIn, SignInBuilder};
pub use session::{Session, StaticToken, TokenSource};
pub use tokens::{MemoryTokens, TokenStore, Tokens};
