//! Token refresh with the client against the server's rotation: many callers share one refresh, and a lost response
//! revokes nothing.

use aldaba_client::sign_in::{Session, Tokens};
use aldaba_client::{Error, Secret};

use super::{ClientFixture, dev, text};
use crate::harness::HttpRequest;

/// The number of refreshes of the second client, from the audit log.
fn refreshes() -> usize {
    let client = text(&dev().ready["other_client"]["client_id"]);
    let url = format!("{}/operator/v1/audit?kind=refreshed&client={client}", dev().text("operator_url"));
    let token = format!("Bearer {}", dev().text("operator_token"));
    let response = HttpRequest::get(&url).header("authorization", &token).send();
    response.json()["records"].as_array().unwrap_or_else(|| panic!("{response:?}")).len()
}

/// One test instead of several, because the audit log separates them only by client.
#[test]
fn fifty_callers_share_one_refresh_and_reuse_requires_a_new_sign_in() {
    let fixture = ClientFixture::of("other_client");
    let tokens = fixture.signed_in().tokens;
    let expired = Tokens { expires_at: 0, ..tokens.clone() };
    let session = Session::in_memory(fixture.sign_in.clone(), expired);
    let before = refreshes();
    let handed_out: Vec<Secret> = fixture.run(async {
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

    // Another process with the old tokens, as after a crash before the new ones were saved: within the grace period it gets
    // the same successor.
    let late = Session::in_memory(fixture.sign_in.clone(), Tokens { expires_at: 0, ..tokens.clone() });
    let again = fixture.run(late.renew(tokens.access_token.clone())).unwrap();
    let current = fixture.run(session.renew(tokens.access_token.clone())).unwrap();
    assert_eq!(again.refresh_token, current.refresh_token);

    // After the successor was used, the old token counts as stolen, and everybody has to sign in again.
    fixture.run(session.renew(current.access_token)).unwrap();
    let stolen = Session::in_memory(fixture.sign_in.clone(), Tokens { expires_at: 0, ..tokens });
    let error = fixture.run(stolen.access_token()).unwrap_err();
    assert!(matches!(error, Error::SignInAgain { .. }), "{error:?}");
    let renewed = fixture.run(session.access_token()).unwrap();
    let error = fixture.run(session.renew(renewed)).unwrap_err();
    assert!(matches!(error, Error::SignInAgain { .. }), "{error:?}");
}
