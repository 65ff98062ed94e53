//! Signing users in: the address to send them to, the callback, tokens, and keeping them fresh.

mod authorize;
mod callback;
mod id_token;
mod keys;
mod provider;
mod session;
mod tokens;

pub use authorize::{Ask, Pending, Started};
pub use callback::CallbackFault;
pub use id_token::{IdTokenFault, Identity};
pub use provider::{SignIn, SignInBuilder, SignedIn};
pub use session::{Session, StaticToken, TokenSource};
pub use tokens::{MemoryTokens, TokenStore, Tokens};
