//! `aldaba listen`: a local webhook receiver that responds, verifies signatures and prints events. With --resource it
//! subscribes itself, and at its next start it prints the missed events from the pull feed.

mod printer;
mod receiver;
mod state_file;
mod subscriber;

use std::sync::Arc;
use std::time::Duration;

use aldaba_client::HttpTransport;
use aldaba_client::receiver::Verifier;
use domain::secret::hex;
use domain::{Random as _, Secret};
use serde_json::json;
use tokio::net::TcpListener;

use crate::cli::Listen;
use crate::dev;
use crate::dev::running::{DevRecord, DevSelector};
use crate::exit::{CommandResult, Failure};
use crate::output::Output;
use crate::signals::{OnHangup, ShutdownSignals};
use crate::wiring::SystemRandom;
use printer::Printer;
use receiver::{Receiver, ResponseSettings};
use state_file::ListenState;
use subscriber::Subscriber;

const UNSUBSCRIBE_MAX: Duration = Duration::from_secs(5);

pub(crate) async fn run(mut args: Listen, running: &DevSelector, output: Output) -> CommandResult {
    if !args.resources.is_empty() {
        choose_service(&mut args, running, output).await?;
    }
    let args = &args;
    let mut signals = ShutdownSignals::install(OnHangup::Stop)?;
    let in_use = |error: std::io::Error| Failure::AddressInUse {
        why: format!("cannot listen on {}: {error}", args.address),
        remedy: "choose another address with --listen".into(),
    };
    let listener = TcpListener::bind(args.address).await.map_err(in_use)?;
    let listen_url = format!("http://{}", listener.local_addr()?);
    let printer = Printer::new(output);
    let secrets = secrets(args);
    let state =
        if args.resources.is_empty() { ListenState::in_memory() } else { ListenState::open(&args.state)? };
    let state = Arc::new(state);
    let receiver = Receiver::new(printer, verifier(&secrets), response_settings(args)?, state.clone());
    tokio::spawn(axum::serve(listener, receiver.router()).into_future());
    printer.print_status(
        "listening",
        json!({"url": listen_url}),
        &format!("listening on {listen_url} (stop with Ctrl-C)"),
    );
    let Some(secret) = secrets.first().filter(|_| !args.resources.is_empty()) else {
        if secrets.is_empty() {
            output.print_message("signatures are not verified: no --secret");
        }
        signals.received().await;
        return Ok(());
    };
    let receiver_url = args.public_url.clone().unwrap_or(listen_url);
    let mut subscriber = Subscriber::new(args, secret, &receiver_url, printer, state)?;
    let done = tokio::select! {
        () = signals.received() => Ok(()),
        result = subscriber.run() => result,
    };
    if args.stay {
        return done;
    }
    // If `done` is already an error, a failure to unsubscribe is not reported.
    let unsubscribed = tokio::time::timeout(UNSUBSCRIBE_MAX, subscriber.unsubscribe()).await;
    let late = || Failure::ServiceLost("the service does not respond; the webhooks remain subscribed".into());
    done.and_then(|()| unsubscribed.map_err(|_| late())?.map_err(Failure::from))
}

/// Completes the service to subscribe to from a running dev: the one whose URL is given, or any where none is.
async fn choose_service(args: &mut Listen, running: &DevSelector, output: Output) -> CommandResult {
    for value in [&mut args.url, &mut args.key, &mut args.access] {
        value.take_if(|value| value.is_empty());
    }
    let is_complete = args.url.is_some() && args.key.is_some() && args.access.is_some();
    let is_meant =
        |dev: &DevRecord| args.url.as_ref().is_none_or(|url| dev.ready.base_url == url.trim_end_matches('/'));
    if !is_complete && let Some(dev) = running.find()?.filter(is_meant) {
        output.print_message(&format!("using the running dev at {}", dev.description()));
        args.url.get_or_insert_with(|| dev.ready.base_url.clone());
        args.key.get_or_insert_with(|| dev.ready.subscription.primary_key.clone());
        if args.access.is_none() {
            args.access = Some(dev::token::access_token(&dev).await?);
        }
    }
    let flags = [("url", "BASE", &args.url), ("key", "KEY", &args.key), ("access", "ACCESS", &args.access)];
    let missing = flags.into_iter().find(|(_, _, value)| value.is_none());
    missing.map_or(Ok(()), |(flag, variable, _)| {
        let remedy = "start `aldaba dev`, or paste the export lines that it printed";
        Err(Failure::Usage(format!("--resource needs --{flag} ({variable}); {remedy}")))
    })
}

/// The given secrets, or a random one if the receiver subscribes itself and none is given.
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

fn response_settings(args: &Listen) -> Result<ResponseSettings, Failure> {
    let forward = match &args.forward_to {
        None => None,
        Some(url) => {
            let uri: axum::http::Uri =
                url.parse().map_err(|error| Failure::Usage(format!("--forward-to {url}: {error}")))?;
            if !matches!(uri.scheme_str(), Some("http" | "https")) {
                let why = "must be an absolute URL such as http://127.0.0.1:3000/hooks";
                return Err(Failure::Usage(format!("--forward-to {url}: {why}")));
            }
            let transport = HttpTransport::new().map_err(|error| Failure::Failed(error.to_string()))?;
            Some((uri, transport))
        }
    };
    Ok(ResponseSettings {
        forward,
        status: args.status.unwrap_or(200),
        delay: args.delay,
        cookie: args.cookie,
    })
}
