//! What integrators import: sign users in, read, subscribe, receive. No signature, refresh or paging code by hand.
//!
//! # In five minutes
//!
//! Everything below runs against `aldaba dev`, which prints all the values that are needed.
//!
//! **Sign a user in.** Send the browser away with a state, a nonce and a PKCE challenge, and remember what was
//! begun:
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
//! When the browser comes back, state, issuer, nonce and `c_hash` are checked, the code is exchanged, and the id_token
//! is verified with the keys that the identity provider publishes. From then on a [`Session`](sign_in::Session) hands
//! out access tokens and renews them, once, however many ask at the same time:
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
//! Tokens that are to outlive the process go into a [`TokenStore`](sign_in::TokenStore) of your own.
//!
//! **Read.** Lists are streams; the types are those of the contract, and [`Record`](api::Record) stands for the
//! resources whose members it does not name:
//!
//! ```no_run
//! use aldaba_client::api::{Api, filter};
//! use aldaba_client::{Area, Error, Resource, Secret, Ticks, TryStreamExt};
//!
//! # async fn example(session: aldaba_client::sign_in::Session) -> Result<(), Error> {
//! let api = Api::new("http://127.0.0.1:8080", Secret::new("subscription key"), session)?;
//! let companies: Vec<_> = api.companies().stream().try_collect().await?;
//! let company = &companies[0].correlation_id;
//! let customer = api.customer(company, "some id").await?; // None where there is none
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
//! Calls that the service is too busy for (429, 503) are repeated after as long as it says, within a
//! [`RetryPolicy`]; a token that was refused is renewed once. Every [`Error`] says what, where, and what to do.
//!
//! **Subscribe**, and wait until the receiver has accepted:
//!
//! ```no_run
//! # use std::time::Duration;
//! # use aldaba_client::{Error, Resource, Secret, api::Api, webhooks::Subscription};
//! # async fn example(api: Api) -> Result<(), Error> {
//! let customers = Resource::customers();
//! let wanted = Subscription::to_all(customers, "Panel", "https://panel.example/hooks", Secret::new("s3cret"));
//! let id = api.webhooks(customers).subscribe(&wanted).await?;
//! api.webhooks(customers).wait_until_active(id, Duration::from_secs(30)).await?;
//! # Ok(())
//! # }
//! ```
//!
//! **Receive.** [`ReceiverLayer`](receiver::ReceiverLayer) answers 401 to what is not signed, answers the service's
//! handshakes, and hands over a typed [`Event`](receiver::Event); the [`Inbox`](receiver::Inbox) lets each through
//! once:
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
//! **Keep in step.** Deliveries tell that something changed; after an outage of your own the feed tells what was
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
//! `api` (everything that calls the service) and `receiver` (everything that is called by it) are on; `axum` lets
//! handlers of axum take an [`Event`](receiver::Event) as an argument. A receiver alone needs neither TLS nor an HTTP
//! client: `default-features = false, features = ["receiver"]`.

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
