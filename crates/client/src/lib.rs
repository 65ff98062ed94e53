//! The Rust client of Aldaba: sign users in, read records, subscribe to webhooks and receive them. It verifies
//! signatures, refreshes tokens, follows pages and retries calls, so that applications need not.
//!
//! # In five minutes
//!
//! Everything below runs against `aldaba dev`, which prints all the values that you need.
//!
//! **Sign a user in.** Redirect the browser to a URL with a state, a nonce and a PKCE challenge, and store the pending
//! sign-in in the browser's session:
//!
//! ```
//! use aldaba_client::Secret;
//! use aldaba_client::sign_in::{AuthorizationRequest, SignIn};
//!
//! let sign_in = SignIn::new(
//!     "http://127.0.0.1:8080", // {auth_url}
//!     "client_id",
//!     Secret::new("client_secret"),
//!     "http://localhost:8765/callback",
//! )?;
//! let started = sign_in.start(&AuthorizationRequest::accounting().with_scopes_of(&AuthorizationRequest::payroll()));
//! println!("open {}", started.url);
//! # Ok::<(), aldaba_client::Error>(())
//! ```
//!
//! When the browser returns, [`finish`](sign_in::SignIn::finish) checks state, issuer, nonce and `c_hash`, exchanges the
//! code, and verifies the id_token with the published keys of the identity provider. Then a
//! [`Session`](sign_in::Session) provides access tokens and renews them, once for all concurrent callers:
//!
//! ```no_run
//! # use aldaba_client::{Error, sign_in::{PendingSignIn, Session, SignIn}};
//! # async fn example(sign_in: SignIn, pending: PendingSignIn, address: &str) -> Result<Session, Error> {
//! let signed_in = sign_in.finish(&pending, address).await?;
//! let session = Session::in_memory(sign_in, signed_in.tokens);
//! # Ok(session)
//! # }
//! ```
//!
//! To keep tokens across restarts, implement a [`TokenStore`](sign_in::TokenStore).
//!
//! **Read.** Lists are streams of typed records; [`Record`](api::Record) is the type for resources whose members the
//! contract does not define:
//!
//! ```no_run
//! use aldaba_client::api::{Api, filter};
//! use aldaba_client::{Area, Error, Resource, Secret, Ticks, TryStreamExt};
//!
//! # async fn example(session: aldaba_client::sign_in::Session) -> Result<(), Error> {
//! let api = Api::new("http://127.0.0.1:8080", Secret::new("subscription key"), session)?;
//! let companies: Vec<_> = api.companies().stream().try_collect().await?;
//! let company = &companies[0].correlation_id;
//! let customer = api.customer(company, "some id").await?; // None if it does not exist
//!
//! let since = Ticks::parse_iso("2026-11-01").unwrap();
//! let recent = api.payroll_companies().filter(&filter::last_update().after(since)).stream();
//!
//! let journals = Resource::find(Area::Accounting, "journals").unwrap();
//! let mut all = api.records(journals, company).stream();
//! while let Some(journal) = all.try_next().await? {
//!     println!("{} {:?}", journal.correlation_id, journal.fields);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Responses 429 and 503 are retried after `Retry-After`, within a [`RetryPolicy`]; a refused token is renewed once.
//! Every [`Error`] says what failed, where, and what to do.
//!
//! **Subscribe**, and wait until the receiver has accepted the handshake:
//!
//! ```no_run
//! # use std::time::Duration;
//! # use aldaba_client::{Error, Resource, Secret, api::Api, webhooks::Subscription};
//! # async fn example(api: Api) -> Result<(), Error> {
//! let customers = Resource::customers();
//! let subscription = Subscription::to_all(customers, "Panel", "https://panel.example/hooks", Secret::new("s3cret"));
//! let id = api.webhooks(customers).subscribe(&subscription).await?;
//! api.webhooks(customers).wait_until_active(id, Duration::from_secs(30)).await?;
//! # Ok(())
//! # }
//! ```
//!
//! **Receive.** [`ReceiverLayer`](receiver::ReceiverLayer) answers 401 to wrong signatures, answers handshakes, and
//! passes on a typed [`Event`](receiver::Event); the [`Inbox`](receiver::Inbox) processes each event once:
//!
//! ```
//! use std::sync::Arc;
//! use aldaba_client::Secret;
//! use aldaba_client::receiver::{Event, Inbox, MemoryInboxStore, ReceiverLayer};
//!
//! let inbox = Arc::new(Inbox::new(MemoryInboxStore::default()));
//! let receiver = ReceiverLayer::new(Secret::new("s3cret")).handle(move |event: Event| {
//!     let inbox = inbox.clone();
//!     async move {
//!         inbox.process_once(&event, || async { Ok::<_, std::io::Error>(println!("{event:?}")) }).await.map(drop)
//!     }
//! });
//! let app: axum::Router = axum::Router::new().route_service("/hooks", receiver);
//! ```
//!
//! **Keep a copy in sync.** Webhooks announce changes; after an outage of your own, the change feed has the ones you
//! missed. Take a [`snapshot`](api::List::snapshot) once, then follow [`changes`](api::Api::changes) from its position:
//!
//! ```no_run
//! # use aldaba_client::{Error, Resource, TryStreamExt, api::Api};
//! # async fn example(api: Api) -> Result<(), Error> {
//! let snapshot = api.customers("company").snapshot().await?;
//! let mut changes = api.changes(Resource::customers(), Some("company"), snapshot.position).stream();
//! while let Some(change) = changes.try_next().await? {
//!     let now = api.customer("company", &change.correlation_id).await?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! The default features are `api` (everything that calls the service) and `receiver` (everything to receive webhooks).
//! `axum` adds an extractor for [`Event`](receiver::Event). An application that only receives webhooks needs neither TLS
//! nor an HTTP client: `default-features = false, features = ["receiver"]`.

#![warn(missing_docs)]

#[cfg(feature = "api")]
pub mod api;
#[cfg(feature = "api")]
mod error;
#[cfg(feature = "api")]
mod http_client;
mod ports;
#[cfg(feature = "receiver")]
pub mod receiver;
#[cfg(feature = "api")]
pub mod sign_in;
#[cfg(feature = "api")]
mod transport;
#[cfg(feature = "api")]
mod url;
#[cfg(feature = "api")]
pub mod webhooks;

pub use async_trait::async_trait;
pub use domain::event::EventKind;
pub use domain::{Area, Clock, FieldError, Guid, Random, Resource, Secret, Ticks};
pub use ports::SystemClock;
#[cfg(feature = "api")]
pub use {
    error::{ApiError, Error},
    futures_util::{Stream, StreamExt, TryStreamExt},
    http_client::RetryPolicy,
    ports::SystemRandom,
    transport::{HttpTransport, Transport, TransportError},
};
