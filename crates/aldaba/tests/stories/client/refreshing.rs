//! Renewal against the real rotation: many callers, one refresh, and a lost answer that severs nobody.

use aldaba_client::sign_in::{Session, Tokens};
use aldaba_client::{Error, Secret};

use super::{Stage, dev, text};
use crate::harness::Call;

/// How often tokens of the other application were renewed, as the audit tells.
fn refreshes() -> usize {
    let client = text(&dev().ready["other_client"]["client_id"]);
    let url = format!("{}/operator/v1/audit?kind=refreshed&client={client}", dev().text("operator_url"));
    let token = format!("Bearer {}", dev().text("operator_token"));
    let reply = Call::get(&url).header("authorization", &token).send();
    reply.json()["records"].as_array().unwrap_or_else(|| panic!("{reply:?}")).len()
}

/// One story, for they are told apart in the audit by their application alone.
#[test]
fn fifty_callers_make_one_refresh_and_what_was_used_up_is_told() {
    let stage = Stage::of("other_client");
    let tokens = stage.signed_in().tokens;
    let expired = Tokens { expires_at: 0, ..tokens.clone() };
    let session = Session::in_memory(stage.sign_in.clone(), expired);
    let before = refreshes();
    let handed_out: Vec<Secret> = stage.run(async {
        let callers = (0..50).map(|_| {
            let session = session.clone();
            tokio::spawn(async move { session.access_token().await.unwrap() })
        });
        let mut all = Vec::new();
        for caller in callers.collect::<Vec<_>>() {
            all.push(caller.await.unwrap());
        }
        all
    });
    assert_eq!(refreshes(), before + 1);
    assert!(handed_out.iter().all(|token| *token == handed_out[0] && *token != tokens.access_token));

    // Another process with the old tokens, as after a crash before they were saved: within the grace it gets the same.
    let late = Session::in_memory(stage.sign_in.clone(), Tokens { expires_at: 0, ..tokens.clone() });
    let again = stage.run(late.renew(tokens.access_token.clone())).unwrap();
    let current = stage.run(session.renew(tokens.access_token.clone())).unwrap();
    assert_eq!(again.refresh_token, current.refresh_token);

    // Once the successor has been used, the old one is theft, and everybody signs in again.
    stage.run(session.renew(current.access_token)).unwrap();
    let stolen = Session::in_memory(stage.sign_in.clone(), Tokens { expires_at: 0, ..tokens });
    let told = stage.run(stolen.access_token()).unwrap_err();
    assert!(matches!(told, Error::SignInRequired { .. }), "{told:?}");
    let renewed = stage.run(session.access_token()).unwrap();
    let told = stage.run(session.renew(renewed)).unwrap_err();
    assert!(matches!(told, Error::SignInRequired { .. }), "{told:?}");
}
