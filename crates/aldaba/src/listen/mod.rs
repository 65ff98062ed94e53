//! `aldaba listen`: a receiver for one's own desk. Alone it answers, verifies and prints; with resources it subscribes
//! itself and tells at its next start, from the pull feed, what it missed.

mod desk;
mod following;
mod memory;
mod printer;

use std::sync::Arc;
use std::time::Duration;

use aldaba_client::HttpTransport;
use aldaba_client::receiver::Verifier;
use domain::secret::hex;
use domain::{Random as _, Secret};
use serde_json::json;
use tokio::net::TcpListener;

use crate::cli::Listen;
use crate::exit::{Failure, Outcome};
use crate::output::Output;
use crate::service::ShutdownSignals;
use crate::wiring::SystemRandom;
use desk::{Desk, Manner};
use following::Following;
use memory::Memory;
use printer::Printer;

const FAREWELL_MAX: Duration = Duration::from_secs(5);

pub(crate) async fn run(args: &Listen, output: Output) -> Outcome {
    let mut signals = ShutdownSignals::install()?;
    let busy = |error: std::io::Error| Failure::Busy {
        why: format!("cannot listen on {}: {error}", args.address),
        remedy: "choose another address with --listen".into(),
    };
    let listener = TcpListener::bind(args.address).await.map_err(busy)?;
    let here = format!("http://{}", listener.local_addr()?);
    let printer = Printer::new(output);
    let secrets = secrets(args);
    let memory = if args.resources.is_empty() { Memory::none() } else { Memory::open(&args.state)? };
    let memory = Arc::new(memory);
    let desk = Desk::new(printer, verifier(&secrets), manner(args)?, memory.clone());
    tokio::spawn(axum::serve(listener, desk.router()).into_future());
    printer.talk("listening", json!({"url": here}), &format!("listening on {here} (Ctrl-C ends it)"));
    let Some(secret) = secrets.first().filter(|_| !args.resources.is_empty()) else {
        if secrets.is_empty() {
            output.say("without --secret nothing is verified");
        }
        signals.received().await;
        return Ok(());
    };
    let reached_at = args.public_url.clone().unwrap_or(here);
    let mut following = Following::new(args, secret, &reached_at, printer, memory)?;
    let done = tokio::select! {
        () = signals.received() => Ok(()),
        lost = following.run() => lost,
    };
    if args.stay {
        return done;
    }
    // Where something went wrong before, this is worth a try and no more.
    let ended = tokio::time::timeout(FAREWELL_MAX, following.unsubscribe()).await;
    let late = || Failure::Lost("the service does not answer, so the webhooks stay subscribed".into());
    done.and_then(|()| ended.map_err(|_| late())?.map_err(Failure::from))
}

/// Those given; who subscribes and gives none gets one that nobody else knows.
fn secrets(args: &Listen) -> Vec<Secret> {
    let given: Vec<Secret> = args.secrets.iter().map(|secret| Secret::new(secret.as_str())).collect();
    if !given.is_empty() || args.resources.is_empty() {
        return given;
    }
    let mut bytes = [0; 32];
    SystemRandom.fill(&mut bytes);
    vec![Secret::new(hex(&bytes))]
}

fn verifier(secrets: &[Secret]) -> Option<Verifier> {
    let (first, others) = secrets.split_first()?;
    Some(others.iter().cloned().fold(Verifier::new(first.clone()), Verifier::with_secret))
}

fn manner(args: &Listen) -> Result<Manner, Failure> {
    let forward = match &args.forward_to {
        None => None,
        Some(url) => {
            let uri: axum::http::Uri =
                url.parse().map_err(|error| Failure::Usage(format!("--forward-to {url}: {error}")))?;
            if !matches!(uri.scheme_str(), Some("http" | "https")) {
                let why = "it takes a whole address, as in http://127.0.0.1:3000/hooks";
                return Err(Failure::Usage(format!("--forward-to {url}: {why}")));
            }
            let transport = HttpTransport::new().map_err(|error| Failure::Failed(error.to_string()))?;
            Some((uri, transport))
        }
    };
    Ok(Manner { forward, status: args.status.unwrap_or(200), delay: args.delay, cookie: args.cookie })
}
