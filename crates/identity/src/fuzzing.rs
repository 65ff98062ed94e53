//! Checks that the provider accepts no access token but those that it signed, byte for byte, and what it reads of requests and
//! passkeys.
//! The fuzz targets and the property tests call the same functions.

mod assertions;
mod hints;
mod mutator;
mod passkeys;
mod requests;
#[cfg(test)]
mod tests;

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use domain::{Clock, Random, Ticks};
use store::memory::MemoryStore;
use store::{MasterKey, Vault};
use web::Metrics;

use crate::mail::MailIdentity;
use crate::{Identity, MailSettings, Ports, RealmUrls, Settings};
pub use assertions::passkey_assertion;
pub use hints::{id_token_hint, ticket};
use mutator::TokenMutator;
pub use passkeys::{cbor, passkey_registration};
pub use requests::{authorization_request, client_authentication, cookies, pkce};

const NOW: Ticks = Ticks(639_000_000_000_000_000);

struct Fixture {
    /// Has never verified a valid token.
    uncached: Identity,
    /// Has every valid token in its cache.
    cached: Identity,
    mutator: TokenMutator,
}

static FIXTURE: LazyLock<Fixture> = LazyLock::new(Fixture::new);

/// Takes any bytes as a token or as a series of mutations of a valid token. The result must be accepted only if it
/// equals a valid token, cached or not, and the valid tokens must still identify their users.
pub fn tokens(data: &[u8]) -> u64 {
    let Fixture { uncached, cached, mutator } = &*FIXTURE;
    let token = mutator.mutate(data.strip_suffix(b"\n").unwrap_or(data));
    let is_valid = mutator.valid_tokens().contains(&token);
    if !is_valid {
        assert_eq!(uncached.verify_access_token(&token).ok(), None, "{token}");
    }
    let accepted = cached.verify_access_token(&token).ok();
    assert_eq!(accepted.is_some(), is_valid, "{token}");
    for (user, valid) in ["one", "two"].into_iter().zip(mutator.valid_tokens()) {
        let caller = cached.verify_access_token(valid).ok();
        assert_eq!(caller.map(|caller| caller.user.as_str().to_owned()).as_deref(), Some(user));
    }
    u64::from(is_valid) << 8 | token.split('.').count().min(200) as u64
}

impl Fixture {
    fn new() -> Self {
        let opening = async {
            let clock = Arc::new(FixedPorts);
            let Ok(vault) = Vault::new(&MasterKey::from_bytes([7; 32])) else { panic!("no vault") };
            let vault = Arc::new(vault);
            let ports = store::Ports { clock: clock.clone(), random: clock.clone(), vault: vault.clone() };
            let Ok(store) = MemoryStore::new(ports) else { panic!("no store") };
            let ports = Ports { store: Arc::new(store), clock: clock.clone(), random: clock, vault };
            let measures = Metrics::new();
            let open = || Identity::open(ports.clone(), settings(), &measures);
            // Both share one store: the second loads the keys of the first.
            match (open().await, open().await) {
                (Ok(uncached), Ok(cached)) => {
                    Self { mutator: TokenMutator::new(&cached, NOW), uncached, cached }
                }
                other => panic!("{other:?}"),
            }
        };
        match tokio::runtime::Builder::new_current_thread().build() {
            Ok(runtime) => runtime.block_on(opening),
            Err(error) => panic!("{error}"),
        }
    }
}

pub(crate) fn settings() -> Settings {
    const HOUR: Duration = Duration::from_secs(3600);
    Settings {
        issuer: "https://id.example/auth/core".to_owned(),
        realms: RealmUrls {
            users: "https://id.example/auth/core".to_owned(),
            developers: "https://api.example/portal".to_owned(),
            operators: "https://ops.example/console".to_owned(),
        },
        code_ttl: HOUR,
        access_token_ttl: HOUR,
        refresh_token_ttl: HOUR,
        refresh_sliding: false,
        refresh_grace: HOUR,
        session_ttl: HOUR,
        key_period: Duration::ZERO,
        key_lead: HOUR,
        address_failures_max: 1,
        is_sandbox_open: true,
        is_development: false,
        mail: MailSettings {
            identity: MailIdentity { service: "Aldaba".to_owned(), contact: String::new() },
            is_sent: false,
        },
        is_registration_open: false,
        hashing_parallel: 1,
        hashing_queue_max: 1,
        second_factor: domain::SecondFactorPolicies::default(),
    }
}

/// A fixed clock and fixed randomness, so that findings are reproducible.
struct FixedPorts;

impl Clock for FixedPorts {
    fn now(&self) -> Ticks {
        NOW
    }
}

impl Random for FixedPorts {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}
