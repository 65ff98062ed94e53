//! No secret can be read from the file or the tables.

use std::fs;

use domain::Secret;
use store::{CellValue, KeySlot, RevealedKey, StoreError};

use super::audit_transaction::execute;
use super::rows::{fill_every_table, rows};
use crate::suite::clients::subscription;
use crate::suite::fixture::{Fixture, StoreKind, by};

const SECRETS: [&str; 20] = [
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
    "code-1",
    "code-2",
    "token-1",
    "token-2",
    "client-secret-1",
    "client-secret-2",
    "subscription-key-1",
    "subscription-key-2",
    "subscription-key-3",
    "subscription-key-8",
    "subscription-key-9",
    "session-1",
    crate::suite::second_factors::TOTP_SECRET,
    "operator-token-1",
    "webhook-secret first",
    "webhook-secret second",
    "webhook-secret other",
    "invitation-link-1",
    "reset-link-1",
];
/// Texts that are not secret: the search must find them, or it does not work.
const PLAIN_TEXTS: [&str; 5] = ["https://erp.example/first", "kid-1", "erp-norte", "tenant-1", "maria"];

/// All bytes that the store has written.
async fn all_bytes(fixture: &Fixture) -> Vec<u8> {
    let mut bytes = Vec::new();
    if fixture.kind == StoreKind::Sqlite {
        for file in fs::read_dir(fixture.file().parent().unwrap()).unwrap() {
            bytes.extend(fs::read(file.unwrap().path()).unwrap());
        }
        return bytes;
    }
    for value in rows(fixture.handle.archive()).await.into_values().flatten().flatten() {
        match value {
            CellValue::Text(text) => bytes.extend(text.into_bytes()),
            CellValue::Bytes(value) => bytes.extend(value),
            CellValue::Int(_) | CellValue::Null => {}
        }
        bytes.push(0);
    }
    bytes
}

pub(crate) async fn no_secret_is_stored_in_plain_text(fixture: Fixture) {
    fill_every_table(&fixture).await;
    let written = all_bytes(&fixture).await;
    fixture.store.close().await;
    let after_close =
        if fixture.kind == StoreKind::Sqlite { all_bytes(&fixture).await } else { written.clone() };
    for bytes in [written, after_close] {
        let found = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        for text in PLAIN_TEXTS {
            assert!(found(text), "\"{text}\" is found");
        }
        for secret in SECRETS {
            assert!(!found(secret), "\"{secret}\" is stored in plain text");
        }
    }
}

pub(crate) async fn sealed_key_opens_in_its_slot_alone(fixture: Fixture) {
    let (store, one) = (&fixture.store, subscription(&fixture, "s1"));
    store.add_subscription(&one, &Secret::new("p"), &Secret::new("s"), &by()).await.unwrap();
    execute(
        &fixture,
        "UPDATE subscription_keys SET sealed =
             (SELECT other.sealed FROM subscription_keys other WHERE other.slot = 1) WHERE slot = 2",
    )
    .await;
    let opened = store.reveal_key(&one.id, KeySlot::Primary, &by()).await;
    assert_eq!(opened, Ok(RevealedKey::Revealed(Secret::new("p"))));
    let moved = store.reveal_key(&one.id, KeySlot::Secondary, &by()).await;
    assert_eq!(moved, Err(StoreError::WrongMasterKey));
}
