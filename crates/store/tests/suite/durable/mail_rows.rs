//! The stored form of mails: sealed, bound to the recipient, emptied once sent, and in no backup.

use std::time::Duration;

use rusqlite::Connection;
use store::StoreError;

use super::backup::Backup;
use crate::suite::fixture::{Fixture, StoreKind};
use crate::suite::mails::mail;
use crate::suite::postgres_database::connect;

const LEASE: Duration = Duration::from_secs(60);

async fn execute(fixture: &Fixture, sql: &str) {
    match fixture.kind {
        StoreKind::Sqlite => Connection::open(fixture.file()).unwrap().execute_batch(sql).unwrap(),
        _ => connect(&fixture.url()).await.batch_execute(sql).await.unwrap(),
    }
}

/// The sealed content of the only mail, and its last error.
async fn stored(fixture: &Fixture) -> (Vec<u8>, String) {
    let sql = "SELECT sealed, last_error FROM mails";
    if fixture.kind == StoreKind::Sqlite {
        let connection = Connection::open(fixture.file()).unwrap();
        return connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    }
    let row = connect(&fixture.url()).await.query_one(sql, &[]).await.unwrap();
    (row.get(0), row.get(1))
}

pub(crate) async fn content_is_sealed_for_its_recipient_and_deleted_once_sent(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    store.queue_mail(&mail(1, now)).await.unwrap();
    let (sealed, _) = stored(&fixture).await;
    let content = mail(1, now).content;
    for part in [&content.subject, &content.text, &content.html] {
        let plain = part.reveal().as_bytes();
        assert!(sealed.len() > plain.len() && !sealed.windows(plain.len()).any(|window| window == plain));
    }

    execute(&fixture, "UPDATE mails SET recipient = 'thief@example.net'").await;
    let redirected = store.due_mails(now, LEASE, 1).await;
    assert_eq!(redirected, Err(StoreError::WrongMasterKey), "the content is sealed for its recipient");
    execute(&fixture, "UPDATE mails SET recipient = 'maría1@example.com', leased_until = 0").await;
    let leased = store.due_mails(now, LEASE, 1).await.unwrap().remove(0);
    let failure = store::MailFailure { error: "451 wait\r\n\0!".into(), next_at: now };
    assert_eq!(store.mail_failed(&leased, &failure).await, Ok(true));
    assert_eq!(stored(&fixture).await.1, "451 wait   !");

    assert_eq!(store.mail_sent(leased.mail.id, now).await, Ok(true));
    assert_eq!(stored(&fixture).await, (Vec::new(), String::new()));
}

pub(crate) async fn backup_contains_no_mail(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    fixture.add_tenant().await;
    store.queue_mail(&mail(1, now)).await.unwrap();
    let backup = Backup::of(&fixture.handle, &fixture).await;
    let restored = Fixture::open(fixture.kind).await;
    restored.clock.advance(Duration::from_secs(1));
    backup.restore(&restored.handle).await.unwrap();
    assert_eq!(restored.store.waiting_mails(now).await, Ok(0));
    assert_eq!(store.waiting_mails(now).await, Ok(1));
}
