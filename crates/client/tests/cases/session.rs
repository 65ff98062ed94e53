//! Token renewal: shared by concurrent callers, retried after a lost response, never with a used refresh token.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use aldaba_client::sign_in::{MemoryTokens, Session, SignIn, TokenStore, Tokens};
use aldaba_client::{Error, Secret, TransportError, async_trait};
use serde_json::json;

use super::fake_network::{AUTH_URL, FakeClock, FakeTransport, NOW, metadata, ok, pairs, response};

const TOKEN: &str = "/auth/core/connect/token";

fn tokens(number: usize, expires_at: i64) -> Tokens {
    Tokens {
        access_token: Secret::new(format!("access-{number}")),
        expires_at,
        refresh_token: Some(Secret::new(format!("refresh-{number}"))),
        id_token: None,
        sub: None,
    }
}

/// A provider that rotates refresh tokens: `refresh-N` returns `refresh-N+1`, once.
fn rotating() -> FakeTransport {
    let next = Arc::new(AtomicUsize::new(1));
    FakeTransport::new(move |request| {
        let form = pairs(std::str::from_utf8(request.body()).unwrap());
        let number = next.load(Ordering::SeqCst);
        if form["refresh_token"] != format!("refresh-{number}") {
            return response(
                400,
                &[],
                &json!({"error": "invalid_grant", "error_description": "It was used."}),
            );
        }
        next.store(number + 1, Ordering::SeqCst);
        let number = number + 1;
        ok(&json!({
            "access_token": format!("access-{number}"), "expires_in": 3600, "refresh_token": format!("refresh-{number}"),
        }))
    })
}

fn at(net: &FakeTransport, clock: &FakeClock) -> SignIn {
    let builder = SignIn::builder(AUTH_URL, "app", Secret::new("hush"), "https://panel.example/callback");
    builder.transport(net.clone()).clock(clock.clone()).build().unwrap()
}

fn session(net: &FakeTransport, clock: &FakeClock) -> Session {
    Session::in_memory(at(net, clock), tokens(1, NOW + 3600))
}

#[tokio::test]
async fn valid_token_is_not_renewed() {
    let (net, clock) = (rotating(), FakeClock::at(NOW));
    assert_eq!(session(&net, &clock).access_token().await.unwrap().reveal(), "access-1");
    assert_eq!(net.count(TOKEN), 0);
}

#[tokio::test]
async fn concurrent_callers_share_one_renewal() {
    let (net, clock) = (rotating(), FakeClock::at(NOW));
    let session = session(&net, &clock);
    clock.advance(3550);
    let callers: Vec<_> = (0..50)
        .map(|_| {
            let session = session.clone();
            tokio::spawn(async move { session.access_token().await.unwrap() })
        })
        .collect();
    for caller in callers {
        assert_eq!(caller.await.unwrap().reveal(), "access-2");
    }
    assert_eq!(net.count(TOKEN), 1);
    clock.advance(3600);
    assert_eq!(session.access_token().await.unwrap().reveal(), "access-3");
}

#[tokio::test]
async fn caller_with_an_old_token_gets_the_stored_one() {
    let (net, clock) = (rotating(), FakeClock::at(NOW));
    let session = session(&net, &clock);
    let refused = Secret::new("access-1");
    assert_eq!(session.renew(refused.clone()).await.unwrap().access_token.reveal(), "access-2");
    assert_eq!(session.renew(refused).await.unwrap().access_token.reveal(), "access-2");
    assert_eq!(net.count(TOKEN), 1);
}

#[tokio::test]
async fn cancelled_caller_does_not_cancel_the_renewal() {
    let (net, clock) = (rotating(), FakeClock::at(NOW));
    let session = session(&net, &clock);
    clock.advance(4000);
    let waiting = session.access_token();
    // Poll the call until the renewal has started, then drop it.
    assert!(futures_util::FutureExt::now_or_never(Box::pin(waiting)).is_none());
    assert_eq!(session.access_token().await.unwrap().reveal(), "access-2");
    assert_eq!(net.count(TOKEN), 1, "what was begun was finished, and nothing was asked twice");
}

#[tokio::test(start_paused = true)]
async fn lost_response_is_retried() {
    let lost = AtomicUsize::new(0);
    let net = FakeTransport::new(move |_| match lost.fetch_add(1, Ordering::SeqCst) {
        0 => Err(TransportError::Unreachable("connection reset".into())),
        // The service returns the same new tokens within its grace period.
        _ => ok(&json!({"access_token": "access-2", "expires_in": 3600, "refresh_token": "refresh-2"})),
    });
    let clock = FakeClock::at(NOW);
    let session = session(&net, &clock);
    clock.advance(4000);
    assert_eq!(session.access_token().await.unwrap().reveal(), "access-2");
    let asked = net.requests();
    assert_eq!((asked.len(), asked[0].body()), (2, asked[1].body()), "with the same refresh token");
}

#[tokio::test]
async fn ended_grant_is_reported_to_all_callers() {
    let (net, clock) = (rotating(), FakeClock::at(NOW));
    let session = Session::in_memory(at(&net, &clock), tokens(7, NOW));
    let result = futures_util::future::join_all((0..5).map(|_| session.access_token())).await;
    for one in result {
        let Err(Error::SignInRequired { reason }) = one else { panic!("{one:?}") };
        assert!(reason.contains("It was used."), "{reason}");
    }
    assert_eq!(net.count(TOKEN), 1);
}

#[tokio::test]
async fn sign_in_is_required_without_a_refresh_token() {
    let (net, clock) = (rotating(), FakeClock::at(NOW));
    let bare = Tokens { refresh_token: None, ..tokens(1, NOW) };
    for session in
        [Session::in_memory(at(&net, &clock), bare), Session::new(at(&net, &clock), MemoryTokens::default())]
    {
        assert!(matches!(session.access_token().await, Err(Error::SignInRequired { .. })));
    }
    assert_eq!(net.requests().len(), 0);
}

/// A store that several sessions share, and whose writes can fail.
#[derive(Clone, Default)]
struct Shared {
    tokens: Arc<Mutex<Option<Tokens>>>,
    is_full: Arc<Mutex<bool>>,
}

#[async_trait]
impl TokenStore for Shared {
    async fn load(&self) -> Result<Option<Tokens>, Box<dyn std::error::Error + Send + Sync>> {
        Ok(self.tokens.lock().unwrap().clone())
    }

    async fn save(&self, tokens: &Tokens) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        if *self.is_full.lock().unwrap() {
            return Err("the disk is full".into());
        }
        *self.tokens.lock().unwrap() = Some(tokens.clone());
        Ok(())
    }

    async fn clear(&self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        *self.tokens.lock().unwrap() = None;
        Ok(())
    }
}

#[tokio::test]
async fn processes_that_share_a_store_share_renewals() {
    let (net, clock, store) = (rotating(), FakeClock::at(NOW), Shared::default());
    let [one, other] = [(); 2].map(|()| Session::new(at(&net, &clock), store.clone()));
    one.save_tokens(&tokens(1, NOW)).await.unwrap();
    assert_eq!(one.access_token().await.unwrap().reveal(), "access-2");
    assert_eq!(other.access_token().await.unwrap().reveal(), "access-2");
    // The second session read the old tokens and was refused: it finds the tokens that the first one stored.
    assert_eq!(other.renew(Secret::new("access-1")).await.unwrap().access_token.reveal(), "access-2");
    assert_eq!(net.count(TOKEN), 1);
}

#[tokio::test]
async fn tokens_that_were_not_saved_are_not_returned() {
    let (net, clock, store) = (rotating(), FakeClock::at(NOW), Shared::default());
    let session = Session::new(at(&net, &clock), store.clone());
    session.save_tokens(&tokens(1, NOW)).await.unwrap();
    *store.is_full.lock().unwrap() = true;
    let result = session.access_token().await.unwrap_err();
    assert!(matches!(&result, Error::TokenStore(why) if why.contains("full")), "{result:?}");
}

#[tokio::test]
async fn sign_out_revokes_the_grant_and_always_deletes_the_tokens() {
    let clock = FakeClock::at(NOW);
    let net = FakeTransport::new(|request| match request.uri().path() {
        "/auth/core/.well-known/openid-configuration" => ok(&metadata()),
        "/auth/core/.well-known/jwks" => ok(&json!({"keys": []})),
        "/auth/core/connect/revocation" => ok(&json!({})),
        other => panic!("{other}"),
    });
    let session = session(&net, &clock);
    session.sign_out().await.unwrap();
    let asked = net.requests();
    let form = pairs(std::str::from_utf8(asked.last().unwrap().body()).unwrap());
    assert_eq!(form["token"], "refresh-1");
    assert!(matches!(session.access_token().await, Err(Error::SignInRequired { .. })));
    session.sign_out().await.unwrap();
    assert_eq!(net.count("/auth/core/connect/revocation"), 1);
}
