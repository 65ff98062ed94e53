//! An application that keeps a copy of customers in step with Aldaba, through outages of either side.

mod copy;
mod pages;
mod step;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use aldaba_client::api::Api;
use aldaba_client::sign_in::{Session, SignIn};
use aldaba_client::{Error, Secret};

use crate::copy::Copy;
use crate::pages::Desk;
use crate::step::{Behind, Step};

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            say(&failure.to_string());
            ExitCode::from(2)
        }
    }
}

async fn run() -> Result<(), Failure> {
    let listen = setting_or("LISTEN", "127.0.0.1:8765");
    let back = setting_or("REDIRECT_URI", "http://localhost:8765/callback");
    let every = Duration::from_secs(setting_or("CATCH_UP_SECONDS", "60").parse()?);
    let copy = Arc::new(Copy::open(&setting_or("COPY", "keep-in-step.db"))?);

    let client_secret = Secret::new(setting("CLIENT_SECRET")?);
    let sign_in = SignIn::new(&setting("AUTH_URL")?, &setting("CLIENT_ID")?, client_secret, &back)?;
    let session = Session::new(sign_in.clone(), copy.tokens());
    let api = Api::new(&setting("BASE_URL")?, Secret::new(setting("SUBSCRIPTION_KEY")?), session.clone())?;
    let secret = Secret::new(setting("WEBHOOK_SECRET")?);
    let step = Arc::new(Step::new(api.clone(), copy.clone(), &setting("RECEIVER_URL")?, secret.clone()));

    let desk = Arc::new(Desk::new(sign_in, session, api, copy, step.clone()));
    let app = pages::router(desk, secret);
    let listener =
        tokio::net::TcpListener::bind(&listen).await.map_err(|error| format!("{listen}: {error}"))?;
    say(&format!("listening on {}", listener.local_addr()?));
    tokio::spawn(async move { keep_in_step(&step, every).await });
    Ok(axum::serve(listener, app).await?)
}

/// Catches up at the start, after a sign-in, and once in a while; after a failure soon again.
async fn keep_in_step(step: &Step, every: Duration) {
    loop {
        let pause = match step.catch_up().await {
            Ok(()) => every,
            Err(Behind::Service(Error::SignInRequired { .. })) => Duration::MAX,
            Err(error) => {
                say(&error.to_string());
                Duration::from_secs(1)
            }
        };
        let _ = tokio::time::timeout(pause, step.woken()).await;
    }
}

fn setting(name: &str) -> Result<String, Failure> {
    let value = std::env::var(name).ok().filter(|value| !value.is_empty());
    value.ok_or_else(|| format!("{name} is not set; `aldaba dev` prints its value").into())
}

fn setting_or(name: &str, otherwise: &str) -> String {
    setting(name).unwrap_or_else(|_| otherwise.to_owned())
}

#[allow(clippy::print_stderr, reason = "it talks to who has started it")]
pub(crate) fn say(text: &str) {
    eprintln!("{text}");
}
