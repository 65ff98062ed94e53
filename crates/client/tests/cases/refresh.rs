//! Renewal: once for all who wait, again where the answer was lost, and never with a token that was used up.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use aldaba_client::sign_in::{MemoryTokens, Session, SignIn, TokenStore, Tokens};
use aldaba_client::{Error, Secret, TransportError, async_trait};
use serde_json::json;

use super::fake_network::{AUTH_URL, NOW, Net, Still, answer, good, pairs, published};

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

/// A provider that rotates: `refresh-N` gives `refresh-N+1`, once.
fn rotating() -> Net {
    let next = Arc::new(AtomicUsize::new(1));
    Net::new(move |request| {
        let form = pairs(std::str::from_utf8(request.body()).unwrap());
        let number = next.load(Ordering::SeqCst);
        if form["refresh_token"] != format!("refresh-{number}") {
            return answer(400, &[], &json!({"error": "invalid_grant", "error_description": "It was used."}));
        }
        next.store(number + 1, Ordering::SeqCst);
        let number = number + 1;
        good(&json!({
            "access_token": format!("access-{number}"), "expires_in": 3600, "refresh_token": format!("refresh-{number}"),
        }))
    })
}

fn at(net: &Net, clock: &Still) -> SignIn {
    let builder = SignIn::builder(AUTH_URL, "app", Secret::new("hush"), "https://panel.example/callback");
    builder.transport(net.clone()).clock(clock.clone()).build().unwrap()
}

fn session(net: &Net, clock: &Still) -> Session {
    Session::in_memory(at(net, clock), tokens(1, NOW + 3600))
}

#[tokio::test]
async fn a_good_token_is_handed_out_as_it_is() {
    let (net, clock) = (rotating(), Still::at(NOW));
    assert_eq!(session(&net, &clock).access_token().await.unwrap().reveal(), "access-1");
    assert_eq!(net.count(TOKEN), 0);
}

#[tokio::test]
async fn fifty_who_wait_make_one_renewal() {
    let (net, clock) = (rotating(), Still::at(NOW));
    let session = session(&net, &clock);
    clock.pass(3550);
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
    clock.pass(3600);
    assert_eq!(session.access_token().await.unwrap().reveal(), "access-3");
}

#[tokio::test]
async fn who_was_refused_with_an_old_token_gets_the_one_that_is_there() {
    let (net, clock) = (rotating(), Still::at(NOW));
    let session = session(&net, &clock);
    let refused = Secret::new("access-1");
    assert_eq!(session.renew(refused.clone()).await.unwrap().access_token.reveal(), "access-2");
    assert_eq!(session.renew(refused).await.unwrap().access_token.reveal(), "access-2");
    assert_eq!(net.count(TOKEN), 1);
}

#[tokio::test]
async fn a_caller_that_goes_away_does_not_break_the_renewal_off() {
    let (net, clock) = (rotating(), Still::at(NOW));
    let session = session(&net, &clock);
    clock.pass(4000);
    let waiting = session.access_token();
    // Polled as far as the renewal, and dropped.
    assert!(futures_util::FutureExt::now_or_never(Box::pin(waiting)).is_none());
    assert_eq!(session.access_token().await.unwrap().reveal(), "access-2");
    assert_eq!(net.count(TOKEN), 1, "what was begun was finished, and nothing was asked twice");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_was_lost_is_asked_for_again() {
    let lost = AtomicUsize::new(0);
    let net = Net::new(move |_| match lost.fetch_add(1, Ordering::SeqCst) {
        0 => Err(TransportError::Unreachable("connection reset".into())),
        // The service gives the same successor to who comes back within its grace.
        _ => good(&json!({"access_token": "access-2", "expires_in": 3600, "refresh_token": "refresh-2"})),
    });
    let clock = Still::at(NOW);
    let session = session(&net, &clock);
    clock.pass(4000);
    assert_eq!(session.access_token().await.unwrap().reveal(), "access-2");
    let asked = net.asked();
    assert_eq!((asked.len(), asked[0].body()), (2, asked[1].body()), "with the same refresh token");
}

#[tokio::test]
async fn the_end_of_a_grant_is_told_to_everybody_who_waits() {
    let (net, clock) = (rotating(), Still::at(NOW));
    let session = Session::in_memory(at(&net, &clock), tokens(7, NOW));
    let told = futures_util::future::join_all((0..5).map(|_| session.access_token())).await;
    for one in told {
        let Err(Error::SignInRequired { reason }) = one else { panic!("{one:?}") };
        assert!(reason.contains("It was used."), "{reason}");
    }
    assert_eq!(net.count(TOKEN), 1);
}

#[tokio::test]
async fn without_a_refresh_token_or_tokens_the_user_signs_in_again() {
    let (net, clock) = (rotating(), Still::at(NOW));
    let bare = Tokens { refresh_token: None, ..tokens(1, NOW) };
    for session in
        [Session::in_memory(at(&net, &clock), bare), Session::new(at(&net, &clock), MemoryTokens::default())]
    {
        assert!(matches!(session.access_token().await, Err(Error::SignInRequired { .. })));
    }
    assert_eq!(net.asked().len(), 0);
}

/// A store that several processes share, and whose writes can fail.
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
async fn two_processes_with_one_store_do_not_take_each_others_tokens_away() {
    let (net, clock, store) = (rotating(), Still::at(NOW), Shared::default());
    let [one, other] = [(); 2].map(|()| Session::new(at(&net, &clock), store.clone()));
    one.save_tokens(&tokens(1, NOW)).await.unwrap();
    assert_eq!(one.access_token().await.unwrap().reveal(), "access-2");
    assert_eq!(other.access_token().await.unwrap().reveal(), "access-2");
    // The other had read the old tokens before, and was refused: it finds what the first has stored.
    assert_eq!(other.renew(Secret::new("access-1")).await.unwrap().access_token.reveal(), "access-2");
    assert_eq!(net.count(TOKEN), 1);
}

#[tokio::test]
async fn tokens_that_could_not_be_saved_are_not_handed_out() {
    let (net, clock, store) = (rotating(), Still::at(NOW), Shared::default());
    let session = Session::new(at(&net, &clock), store.clone());
    session.save_tokens(&tokens(1, NOW)).await.unwrap();
    *store.is_full.lock().unwrap() = true;
    let told = session.access_token().await.unwrap_err();
    assert!(matches!(&told, Error::TokenStore(why) if why.contains("full")), "{told:?}");
}

#[tokio::test]
async fn signing_out_gives_the_grant_back_and_forgets_in_any_case() {
    let clock = Still::at(NOW);
    let net = Net::new(|request| match request.uri().path() {
        "/auth/core/.well-known/openid-configuration" => good(&published()),
        "/auth/core/.well-known/jwks" => good(&json!({"keys": []})),
        "/auth/core/connect/revocation" => good(&json!({})),
        other => panic!("{other}"),
    });
    let session = session(&net, &clock);
    session.sign_out().await.unwrap();
    let asked = net.asked();
    let form = pairs(std::str::from_utf8(asked.last().unwrap().body()).unwrap());
    assert_eq!(form["token"], "refresh-1");
    assert!(matches!(session.access_token().await, Err(Error::SignInRequired { .. })));
    session.sign_out().await.unwrap();
    assert_eq!(net.count("/auth/core/connect/revocation"), 1);
}
