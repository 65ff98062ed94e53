//! Schemas: brought up to date once, whoever comes first; a newer one is left alone.

use std::fs;
use std::sync::Arc;

use store::postgres::PostgresStore;
use store::sqlite::SqliteStore;
use store::{Result, StoreError};
use tokio::sync::Barrier;

use super::rows::{furnish, rows};
use crate::suite::database::connect;
use crate::suite::desk::company;
use crate::suite::stage::{Ground, Kind, Stage, tenant, the_key};

const ROUNDS: usize = 5;
const OPENERS: usize = 4;

async fn schema_of(stage: &Stage) -> Result<Option<i64>> {
    match stage.kind {
        Kind::Postgres => PostgresStore::schema_of(&stage.url()).await,
        _ => SqliteStore::schema_of(&stage.file()),
    }
}

/// Makes the store look as if a program of the future had been at it.
async fn put_schema(stage: &Stage, number: i64) {
    if stage.kind == Kind::Postgres {
        let sql = format!("INSERT INTO schema_migrations (number, name) VALUES ({number}, 'future')");
        connect(&stage.url()).await.batch_execute(&sql).await.unwrap();
    } else {
        let file = rusqlite::Connection::open(stage.file()).unwrap();
        file.pragma_update(None, "user_version", number).unwrap();
    }
}

pub(crate) async fn a_store_is_opened_again_as_it_was(stage: Stage) {
    let desk = furnish(&stage).await;
    let schema = stage.store.health().await.unwrap().schema;
    assert_eq!(schema_of(&stage).await, Ok(Some(schema)));
    let before = rows(stage.handle.archive()).await;
    stage.store.close().await;
    for _ in 0..2 {
        let again = stage.reopen().await;
        assert_eq!(again.store.health().await.unwrap().schema, schema);
        assert_eq!(again.archive().schema(), schema);
        assert_eq!(rows(again.archive()).await, before);
    }
    let again = desk.at(&stage.reopen().await.store);
    let head = again.head().await;
    assert_eq!(again.accept([company("c3")]).await.last_sequence, head + 1);
}

pub(crate) async fn a_newer_schema_is_refused_and_left_alone(stage: Stage) {
    furnish(&stage).await;
    let known = stage.store.health().await.unwrap().schema;
    put_schema(&stage, 99).await;
    let before = rows(stage.handle.archive()).await;
    for _ in 0..2 {
        let refused = stage.reopen_with(&the_key()).await.err();
        assert_eq!(refused, Some(StoreError::NewerSchema { found: 99, known }));
    }
    assert_eq!(schema_of(&stage).await, Ok(Some(99)));
    assert_eq!(rows(stage.handle.archive()).await, before);
}

pub(crate) async fn those_who_open_an_empty_store_at_once_all_succeed(stage: Stage) {
    for _ in 0..ROUNDS {
        let ground = Arc::new(Ground::fresh(stage.kind).await);
        let start = Arc::new(Barrier::new(OPENERS));
        let openers: Vec<_> = (0..OPENERS)
            .map(|_| {
                let (ground, start, ports) = (ground.clone(), start.clone(), stage.ports(&the_key()));
                // Each on a thread of its own: opening a file blocks.
                tokio::task::spawn_blocking(move || {
                    tokio::runtime::Handle::current().block_on(async move {
                        start.wait().await;
                        ground.open(ports).await
                    })
                })
            })
            .collect();
        let mut opened = Vec::new();
        for opener in openers {
            opened.push(opener.await.unwrap().unwrap());
        }
        for (number, handle) in opened.iter().enumerate() {
            handle.store.add_tenant(&tenant(&format!("t{number}"), stage.now())).await.unwrap();
        }
        for handle in &opened {
            assert_eq!(handle.store.tenants().await.unwrap().len(), OPENERS);
        }
    }
}

pub(crate) async fn what_is_no_store_is_told(stage: Stage) {
    let given = || stage.ports(&the_key());
    let mut answers = Vec::new();
    if stage.kind == Kind::Postgres {
        let nobody_listens = "postgres://aldaba@127.0.0.1:1/aldaba";
        let no_such_database = format!("{}_not", stage.url());
        for url in [nobody_listens, "no url at all", &no_such_database] {
            answers.push(PostgresStore::open(url, 1, given()).await.map(drop));
        }
        let empty = Ground::fresh(Kind::Postgres).await;
        assert_eq!(PostgresStore::schema_of(&empty.url()).await, Ok(None));
    } else {
        let folder = stage.file().parent().unwrap().to_owned();
        fs::write(folder.join("letter.txt"), "Dear Ana,".repeat(1000)).unwrap();
        for name in ["letter.txt", "no/such/folder/aldaba.db", "."] {
            let answer = SqliteStore::open(&folder.join(name), given()).map(drop);
            assert!(answer.as_ref().unwrap_err().to_string().contains(name), "the file is named: {answer:?}");
            answers.push(answer);
        }
        assert_eq!(SqliteStore::schema_of(&folder.join("none.db")), Ok(None));
        assert!(!folder.join("none.db").exists(), "looking makes no file");
    }
    for answer in answers {
        assert!(matches!(answer, Err(StoreError::Unavailable(_) | StoreError::Internal(_))), "{answer:?}");
    }
}
