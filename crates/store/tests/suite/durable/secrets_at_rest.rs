//! What must not be read by who gets hold of the file or the tables.

use std::fs;

use store::CellValue;

use super::rows::{furnish, rows};
use crate::suite::stage::{Kind, Stage};

const SECRETS: [&str; 14] = [
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
    "session-1",
    "webhook-secret first",
    "webhook-secret second",
    "webhook-secret other",
];
/// Texts that are no secrets: if they are not found, the search is no search.
const OPEN: [&str; 5] = ["https://erp.example/first", "kid-1", "erp-norte", "tenant-1", "maria"];

/// All bytes that the store has written.
async fn all_bytes(stage: &Stage) -> Vec<u8> {
    let mut bytes = Vec::new();
    if stage.kind == Kind::Sqlite {
        for file in fs::read_dir(stage.file().parent().unwrap()).unwrap() {
            bytes.extend(fs::read(file.unwrap().path()).unwrap());
        }
        return bytes;
    }
    for value in rows(stage.handle.archive()).await.into_values().flatten().flatten() {
        match value {
            CellValue::Text(text) => bytes.extend(text.into_bytes()),
            CellValue::Bytes(some) => bytes.extend(some),
            CellValue::Int(_) | CellValue::Null => {}
        }
        bytes.push(0);
    }
    bytes
}

pub(crate) async fn no_secret_lies_in_plain_text(stage: Stage) {
    furnish(&stage).await;
    let written = all_bytes(&stage).await;
    stage.store.close().await;
    let after_the_end = if stage.kind == Kind::Sqlite { all_bytes(&stage).await } else { written.clone() };
    for bytes in [written, after_the_end] {
        let found = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        for text in OPEN {
            assert!(found(text), "\"{text}\" was to be found");
        }
        for secret in SECRETS {
            assert!(!found(secret), "\"{secret}\" lies in plain text");
        }
    }
}
