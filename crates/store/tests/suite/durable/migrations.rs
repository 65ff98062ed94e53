//! Schemas: brought up to date once, whoever comes first; a newer one is left alone.

use std::fs;
use std::sync::Arc;

use domain::{GrantId, Ticks, UserId};
use store::postgres::PostgresStore;
use store::sqlite::SqliteStore;
use store::{AuditQuery, CellValue, ListQuery, Result, StoreError};
use tokio::sync::Barrier;

use super::rows::{furnish, rows};
use crate::suite::database::connect;
use crate::suite::desk::{Desk, account, company, customer, delete, payroll};
use crate::suite::sessions::begun;
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

const SPINE_IN_SQLITE: &str = include_str!("../../../src/sqlite/migrations/0001_spine.sql");
const SPINE_IN_POSTGRES: &str = include_str!("../../../src/postgres/migrations/0001_spine.sql");
/// What a store may hold before sessions and the audit came; as both databases write it.
const ROWS_OF_OLD: &str = "
    INSERT INTO users (id, email, given_name, lang, password_hash, standing, created_at)
        VALUES ('maria', 'maria@x.example', 'María', 'es', 'hash', 1, 5);
    INSERT INTO tenants (id, name, short_code, standing, created_at) VALUES ('t', 'Norte', 'ES', 1, 6);
    INSERT INTO grants (id, client_id, user_id, tenant_id, details, created_at, revoked_at, expires_at)
        VALUES ('g1', 'erp', 'maria', 't', '{}', 700, NULL, 9000), ('g2', 'erp', 'maria', 't', '{}', 800, 850, 9001);";

/// Makes a ground look as a program of schema 1 left it.
async fn put_spine(ground: &Ground) {
    if let Ground::Sqlite(_) = ground {
        let file = rusqlite::Connection::open(ground.file()).unwrap();
        file.execute_batch(SPINE_IN_SQLITE).unwrap();
        file.execute_batch(ROWS_OF_OLD).unwrap();
        file.execute_batch(
            "INSERT INTO memberships VALUES ('m1', 'maria', 't', 'ACC', x'09090909090909090909090909090909', 'E', 'S', 7);
             INSERT INTO codes VALUES (x'0a0b', 'erp', 650, '{}', 640, 'g1');
             PRAGMA user_version = 1;",
        )
        .unwrap();
    } else {
        let server = connect(&ground.url()).await;
        server.batch_execute(SPINE_IN_POSTGRES).await.unwrap();
        server.batch_execute(ROWS_OF_OLD).await.unwrap();
        server
            .batch_execute(
                "INSERT INTO memberships
                     VALUES ('m1', 'maria', 't', 'ACC', '\\x09090909090909090909090909090909', 'E', 'S', 7);
                 INSERT INTO codes VALUES ('\\x0a0b', 'erp', 650, '{}', 640, 'g1');
                 CREATE TABLE schema_migrations (number BIGINT NOT NULL PRIMARY KEY, name TEXT COLLATE \"C\" NOT NULL);
                 INSERT INTO schema_migrations VALUES (1, '0001_spine');",
            )
            .await
            .unwrap();
    }
}

pub(crate) async fn a_store_of_before_sign_in_keeps_what_it_had(stage: Stage) {
    let ground = Ground::fresh(stage.kind).await;
    put_spine(&ground).await;
    let opened = ground.open(stage.ports(&the_key())).await.unwrap();
    let store = &opened.store;
    assert_eq!(store.health().await.unwrap().schema, stage.store.health().await.unwrap().schema);
    for (id, created_at, revoked_at) in [("g1", 700, None), ("g2", 800, Some(850))] {
        let found = store.find_grant(&GrantId::new(id)).await.unwrap().unwrap();
        assert_eq!((found.created_at, found.last_used_at), (Ticks(created_at), Ticks(created_at)));
        assert_eq!(found.revoked_at, revoked_at.map(Ticks));
    }
    let maria = UserId::new("maria");
    let seats = store.active_memberships(&maria).await.unwrap();
    assert_eq!(seats.len(), 1);
    assert_eq!((seats[0].membership.created_at, seats[0].membership.last_used_at), (Ticks(7), None));
    assert_eq!(store.live_grants(&maria, Ticks(0)).await.unwrap().len(), 1);
    assert_eq!(store.audit(&AuditQuery { rows_max: 10, ..AuditQuery::default() }).await, Ok(Vec::new()));
    store.record(&begun("maria", stage.now())).await.unwrap();

    let (upgraded, new) = (rows(opened.archive()).await, rows(stage.handle.archive()).await);
    assert_eq!(upgraded.keys().collect::<Vec<_>>(), new.keys().collect::<Vec<_>>());
    assert_eq!(upgraded["grants"].len(), 2);
    let text = |text: &str| CellValue::Text(text.into());
    let code = [
        CellValue::Bytes(vec![10, 11]),
        text("erp"),
        CellValue::Int(650),
        text("{}"),
        CellValue::Int(640),
        text("g1"),
        text(""),
        text(""),
    ];
    assert_eq!(upgraded["codes"], [code], "a code of nobody known");
}

const IN_SQLITE_BEFORE_PLACES: [&str; 3] = [
    SPINE_IN_SQLITE,
    include_str!("../../../src/sqlite/migrations/0002_sign_in.sql"),
    include_str!("../../../src/sqlite/migrations/0003_gateway.sql"),
];
/// Makes a file of schema 3 out of one of today: the same rows in the tables of then, in no order.
const BACK_TO_SCHEMA_3: &str = "
    INSERT INTO old.meta SELECT * FROM meta;
    INSERT INTO old.tenants SELECT no, id, name, short_code, standing, created_at FROM tenants;
    INSERT INTO old.heads SELECT * FROM heads;
    INSERT INTO old.collections SELECT * FROM collections;
    INSERT INTO old.gaps SELECT * FROM gaps;
    INSERT INTO old.departed_companies SELECT * FROM departed_companies;
    INSERT INTO old.payroll_companies SELECT * FROM payroll_companies;
    INSERT INTO old.log SELECT * FROM log;
    INSERT INTO old.records (tenant_no, company_no, resource, ordinal, correlation_id, state, version, sequence, body)
        SELECT tenant_no, company_no, resource, ordinal, correlation_id, state, version, sequence, body
        FROM records ORDER BY body DESC;
    PRAGMA old.user_version = 3;";

/// Companies whose customers come and go in turn, payroll beside them, and one company that is gone.
async fn busy(desk: &Desk) {
    desk.accept([company("c1"), company("c2"), company("c3")]).await;
    for round in 0..40 {
        for of in ["c1", "c2", "c3"] {
            desk.accept([
                customer(of, &format!("r{round}"), "Norte"),
                account(of, &format!("a{round}"), "43000001"),
            ])
            .await;
        }
        desk.accept([payroll(round, "Sur", None)]).await;
        if round % 3 == 0 {
            desk.accept([delete(customer("c2", &format!("r{round}"), ""))]).await;
        }
    }
    desk.accept([delete(company("c3"))]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_before_places_reads_the_same() {
    let stage = Stage::set(Kind::Sqlite).await;
    let (desk, other) = (stage.desk().await, stage.desk().await);
    busy(&desk).await;
    other.accept([company("c1"), customer("c1", "r1", "Vigo")]).await;
    let before = rows(stage.handle.archive()).await;
    stage.store.close().await;

    let ground = Ground::fresh(Kind::Sqlite).await;
    let old = rusqlite::Connection::open(ground.file()).unwrap();
    for migration in IN_SQLITE_BEFORE_PLACES {
        old.execute_batch(migration).unwrap();
    }
    drop(old);
    let today = rusqlite::Connection::open(stage.file()).unwrap();
    today.execute("ATTACH ?1 AS old", [ground.file().to_str().unwrap()]).unwrap();
    today.execute_batch(BACK_TO_SCHEMA_3).unwrap();
    drop(today);

    let opened = ground.open(stage.ports(&the_key())).await.unwrap();
    assert_eq!(rows(opened.archive()).await, before);
    let (now, then) = (desk.at(&opened.store), desk.at(&stage.reopen().await.store));
    for kind in [company("x"), customer("c1", "x", ""), customer("c2", "x", ""), payroll(0, "", None)] {
        for offset in [0, 7, 30] {
            assert_eq!(now.page(&kind, offset, 10).await, then.page(&kind, offset, 10).await);
        }
    }
    for kept in [customer("c1", "r39", ""), customer("c2", "r1", ""), account("c2", "a5", "43000001")] {
        assert!(now.record(&kept).await.is_some());
        assert_eq!(now.record(&kept).await, then.record(&kept).await);
    }
    let added = [customer("c1", "new", "Norte"), customer("c4", "new", ""), customer("c2", "r1", "Otra")];
    let (theirs, ours) = (then.send(added.clone()).await, now.send(added).await);
    assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
    let whole = now.page(&customer("c1", "x", ""), 0, 100).await;
    assert!(whole.bodies.len() == 41 && whole.bodies.iter().last().unwrap().contains("new"));
    now.purge_all(10).await;
    assert_eq!(now.page(&customer("c2", "x", ""), 0, 100).await.total, 26);
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
            assert_eq!(
                handle.store.list_tenants(&ListQuery::default()).await.map(|page| page.rows).unwrap().len(),
                OPENERS
            );
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
