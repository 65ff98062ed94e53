//! What must hold of any access token that somebody sends: nothing is taken but what our key signed, to the letter.
//! The fuzz target and the property tests call the same entry.

mod forge;
#[cfg(test)]
mod tests;

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use domain::{Clock, Random, Ticks};
use store::memory::MemoryStore;
use store::{MasterKey, Vault};
use web::Metrics;

use crate::{Identity, Ports, Settings};
use forge::Forge;

const NOW: Ticks = Ticks(639_000_000_000_000_000);

struct Stage {
    /// Has never been shown a good token.
    cold: Identity,
    /// Has seen every good one, and knows them again.
    warm: Identity,
    forge: Forge,
}

static STAGE: LazyLock<Stage> = LazyLock::new(Stage::new);

/// Any bytes, as a token or as a series of changes to good ones: taken only where the text is a good one, whether
/// or not that one is known already; and who carries the good one is who it says, before and after.
pub fn tokens(data: &[u8]) {
    let Stage { cold, warm, forge } = &*STAGE;
    let token = forge.made(data.strip_suffix(b"\n").unwrap_or(data));
    let is_good = forge.good().contains(&token);
    if !is_good {
        assert_eq!(cold.bearer(&token), None, "{token}");
    }
    let taken = warm.bearer(&token);
    assert_eq!(taken.is_some(), is_good, "{token}");
    for (user, good) in ["one", "two"].into_iter().zip(forge.good()) {
        let caller = warm.bearer(good);
        assert_eq!(caller.map(|caller| caller.user.as_str().to_owned()).as_deref(), Some(user));
    }
}

impl Stage {
    fn new() -> Self {
        let opening = async {
            let clock = Arc::new(Fixed);
            let Ok(vault) = Vault::new(&MasterKey::from_bytes([7; 32])) else { panic!("no vault") };
            let vault = Arc::new(vault);
            let ports = store::Ports { clock: clock.clone(), random: clock.clone(), vault: vault.clone() };
            let Ok(store) = MemoryStore::new(ports) else { panic!("no store") };
            let ports = Ports { store: Arc::new(store), clock: clock.clone(), random: clock, vault };
            let measures = Metrics::new();
            let open = || Identity::open(ports.clone(), settings(), &measures);
            // Both over the same keys: the second finds those of the first.
            match (open().await, open().await) {
                (Ok(cold), Ok(warm)) => Self { forge: Forge::new(&warm, NOW), cold, warm },
                other => panic!("{other:?}"),
            }
        };
        match tokio::runtime::Builder::new_current_thread().build() {
            Ok(runtime) => runtime.block_on(opening),
            Err(error) => panic!("{error}"),
        }
    }
}

fn settings() -> Settings {
    const HOUR: Duration = Duration::from_secs(3600);
    Settings {
        issuer: "https://id.example/auth/core".to_owned(),
        code_ttl: HOUR,
        access_token_ttl: HOUR,
        refresh_token_ttl: HOUR,
        refresh_sliding: false,
        refresh_grace: HOUR,
        session_ttl: HOUR,
        key_period: Duration::ZERO,
        key_lead: HOUR,
        address_failures_max: 1,
        hashing_parallel: 1,
        hashing_queue_max: 1,
    }
}

/// Neither time nor chance: what is found once is found again.
struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Ticks {
        NOW
    }
}

impl Random for Fixed {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}
