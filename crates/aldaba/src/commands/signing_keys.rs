//! `aldaba signing-keys`: lists and rotates the keys that sign tokens.

use std::sync::Arc;

use domain::signing_key::SigningKeyInfo;
use operator::ports::SigningKeyRing as _;
use serde::Serialize;

use super::{authority, open_store};
use crate::cli::SigningKeys;
use crate::config::Sources;
use crate::exit::CommandResult;
use crate::output::Output;
use crate::wiring::{self, BasePorts, KeyRing};

#[derive(Serialize)]
struct SigningKeyView {
    kid: String,
    state: &'static str,
    created_at: String,
    signs_from: String,
    retired_at: Option<String>,
}

impl From<SigningKeyInfo> for SigningKeyView {
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

pub(crate) async fn run(command: SigningKeys, sources: &Sources, output: Output) -> CommandResult {
    let (config, opened) = open_store(sources).await?;
    let keys = KeyRing(Arc::new(wiring::signing_keys(&config, &opened).await?));
    match command {
        SigningKeys::List => {
            let all: Vec<SigningKeyView> = keys.list().into_iter().map(SigningKeyView::from).collect();
            output.list(&all, &["KID", "STATE", "SIGNS FROM", "CREATED", "ENDED"], |key| {
                let ended = key.retired_at.clone().unwrap_or_else(|| "-".into());
                let SigningKeyView { kid, state, signs_from, created_at, .. } = key;
                vec![kid.clone(), (*state).to_owned(), signs_from.clone(), created_at.clone(), ended]
            });
        }
        SigningKeys::Rotate { now } => {
            let admin = wiring::admin(&config, &BasePorts::system(), opened.store.clone());
            let admin = admin.acting(authority());
            let key: SigningKeyView = admin.rotate_signing_keys(&keys, now).await?.into();
            output.print_message(if now {
                "The new key signs from now on. Within 5 seconds, all tokens signed by older keys are refused."
            } else {
                "The new key is published within 5 seconds and signs in 24 hours. Existing tokens remain valid."
            });
            output.result(&key, || key.kid.clone());
        }
    }
    opened.store.close().await;
    Ok(())
}
