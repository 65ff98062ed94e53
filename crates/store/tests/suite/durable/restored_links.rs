//! After a restore the links of invitations and password resets are void; an invitation can be sent again.

use std::time::Duration;

use domain::{Realm, Secret};
use store::{AcceptOutcome, InvitationLink, InvitationOutcome};

use super::backup::Backup;
use crate::suite::directory::user;
use crate::suite::fixture::{Fixture, by};
use crate::suite::invitations::{invitation, make, person};
use crate::suite::password_resets::request;

pub(crate) async fn links_are_void_after_a_restore(fixture: Fixture) {
    let maria = user(&fixture, "maria");
    fixture.store.add_account(&maria, &[], &by()).await.unwrap();
    request(&fixture, &maria, "reset link", 1).await;
    let one = invitation(&fixture, "i1", Realm::Operators);
    make(&fixture, &one, "invitation link").await;
    let backup = Backup::of(&fixture.handle, &fixture).await;
    let restored = Fixture::open(fixture.kind).await;
    restored.clock.advance(Duration::from_secs(1));
    backup.restore(&restored.handle).await.unwrap();
    let (store, now) = (&restored.store, restored.now());

    let reset = Secret::new("reset link");
    assert_eq!(store.find_password_reset(Realm::Users, &reset, now).await, Ok(None));
    assert_eq!(store.reset_password(Realm::Users, &reset, "hash", None, &by()).await, Ok(None));
    assert_eq!(store.find_invitation(&one.id).await, Ok(Some(one.clone())));
    let accept = async |token: &str| {
        let token = Secret::new(token);
        store.accept_invitation(Realm::Operators, &token, &person("ana"), &by()).await.unwrap()
    };
    assert_eq!(accept("invitation link").await, AcceptOutcome::LinkIsVoid);
    let token = Secret::new("new link");
    let link = InvitationLink { token: &token, expires_at: one.expires_at, mail: None };
    let resent = store.resend_invitation(&one.id, &link, &by()).await.unwrap();
    assert!(matches!(resent, InvitationOutcome::Changed(_)), "{resent:?}");
    assert!(matches!(accept("new link").await, AcceptOutcome::Accepted(_)));
}
