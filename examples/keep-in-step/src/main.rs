//! An example application: it keeps a local copy of all customers in sync with Aldaba, even after outages of either side.

mod local_copy;
mod pages;
mod sync;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use aldaba_client::api::Api;
use aldaba_client::sign_in::{Session, SignIn};
use aldaba_client::{Error, Secret};

use crate::local_copy::LocalCopy;
use crate::pages::AppState;
use crate::sync::{SyncError, Synchronizer};

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            log(&failure.to_string());
            ExitCode::from(2)
        }
    }
}

async fn run() -> Result<(), Failure> {
    let listen = setting_or("LISTEN", "127.0.0.1:8765");
    let redirect_uri = setting_or("REDIRECT_URI", "http://localhost:8765/callback");
    let interval = Duration::from_secs(setting_or("CATCH_UP_SECONDS", "60").parse()?);
    let copy = Arc::new(LocalCopy::open(&setting_or("COPY", "keep-in-step.db"))?);

    let client_secret = Secret::new(setting("CLIENT_SECRET")?);
    let sign_in = SignIn::new(&setting("AUTH_URL")?, &setting("CLIENT_ID")?, client_secret, &redirect_uri)?;
    let session = Session::new(sign_in.clone(), copy.tokens());
    let api = Api::new(&setting("BASE_URL")?, Secret::new(setting("SUBSCRIPTION_KEY")?), session.clone())?;
    let secret = Secret::new(setting("WEBHOOK_SECRET")?);
    let synchronizer =
        Arc::new(Synchronizer::new(api.clone(), copy.clone(), &setting("RECEIVER_URL")?, secret.clone()));

    let app = Arc::new(AppState::new(sign_in, session, api, copy, synchronizer.clone()));
    let router = pages::router(app, secret);
    let listener =
        tokio::net::TcpListener::bind(&listen).await.map_err(|error| format!("{listen}: {error}"))?;
    log(&format!("listening on {}", listener.local_addr()?));
    tokio::spawn(async move { synchronize(&synchronizer, interval).await });
    Ok(axum::serve(listener, router).await?)
}

/// Catches up at the start, after a sign-in, and at every interval; after a failure, a second later.
async fn synchronize(synchronizer: &Synchronizer, interval: Duration) {
    loop {
        let pause = match synchronizer.catch_up().await {
            Ok(()) => interval,
            Err(SyncError::Service(Error::SignInRequired { .. })) => Duration::MAX,
            Err(error) => {
                log(&error.to_string());
                Duration::from_secs(1)
            }
        };
        let _ = tokio::time::timeout(pause, synchronizer.pass_requested()).await;
    }
}

fn setting(name: &str) -> Result<String, Failure> {
    let value = std::env::var(name).ok().filter(|value| !value.is_empty());
    value.ok_or_else(|| format!("{name} is not set; `aldaba dev` prints its value").into())
}

fn setting_or(name: &str, default: &str) -> String {
    setting(name).unwrap_or_else(|_| default.to_owned())
}

#[allow(clippy::print_stderr, reason = "the example logs to stderr")]
pub(crate) fn log(text: &str) {
    eprintln!("{text}");
}
