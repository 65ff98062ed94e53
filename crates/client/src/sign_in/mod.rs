//! Signing users in: the address to send them to, the callback, tokens, and keeping them fresh.

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
