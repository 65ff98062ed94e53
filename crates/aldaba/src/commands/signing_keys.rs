//! `aldaba signing-keys`.

use identity::{KeyState, SigningKeyInfo};
use serde::Serialize;

use super::opened;
use crate::cli::SigningKeys;
use crate::config::Sources;
use crate::exit::Outcome;
use crate::output::Output;
use crate::wiring;

#[derive(Serialize)]
struct Shown {
    kid: String,
    state: &'static str,
    created_at: String,
    signs_from: String,
    retired_at: Option<String>,
}

impl From<SigningKeyInfo> for Shown {
    fn from(key: SigningKeyInfo) -> Self {
        Self {
            kid: key.kid,
            state: if key.retired_at.is_some() { "ended" } else { key.state.as_str() },
            created_at: key.created_at.iso(),
            signs_from: key.signs_from.iso(),
            retired_at: key.retired_at.map(domain::Ticks::iso),
        }
    }
}

pub(crate) async fn run(command: SigningKeys, sources: &Sources, output: Output) -> Outcome {
    let (config, opened) = opened(sources).await?;
    let keys = wiring::signing_keys(&config, &opened).await?;
    match command {
        SigningKeys::List => {
            let all: Vec<Shown> = keys.list().into_iter().map(Shown::from).collect();
            output.list(&all, &["KID", "STATE", "SIGNS FROM", "CREATED", "ENDED"], |one| {
                let ended = one.retired_at.clone().unwrap_or_else(|| "-".into());
                let Shown { kid, state, signs_from, created_at, .. } = one;
                vec![kid.clone(), (*state).to_owned(), signs_from.clone(), created_at.clone(), ended]
            });
        }
        SigningKeys::Rotate { now } => {
            let waiting = keys.list().into_iter().rfind(|key| key.state == KeyState::Next);
            if let Some(next) = waiting.filter(|_| !now) {
                output.say(&format!(
                    "A next key is already waiting since {}; this makes another one.",
                    next.created_at.iso()
                ));
            }
            let key: Shown = keys.rotate(now).await?.into();
            output.say(if now {
                "Signs from now on; every token that an older key signed is refused within 5 seconds."
            } else {
                "Published within 5 seconds; it signs 24 hours from now, and nobody notices."
            });
            output.result(&key, || key.kid.clone());
        }
    }
    opened.store.close().await;
    Ok(())
}
