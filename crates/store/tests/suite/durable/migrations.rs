//! Schema migrations: old stores are migrated once on open; a newer schema is refused.

use std::fs;
use std::sync::Arc;

use domain::ids::SubscriptionId;
use domain::subscription::Products;
use domain::{AccountId, ClientId, GrantId, Scopes, Secret, TenantId, Ticks};
use store::postgres::PostgresStore;
use store::sqlite::SqliteStore;
use store::{
    AuditQuery, CallbackIdToken, CellValue, KeySlot, ListQuery, Result, RevealedKey, Store, StoreError,
    WebhookOwner,
};
use tokio::sync::Barrier;

use super::rows::{fill_every_table, rows};
use crate::suite::fixture::{Fixture, Storage, StoreKind, by, master_key, new_tenant};
use crate::suite::postgres_database::connect;
use crate::suite::sessions::sign_in_entry;
use crate::suite::test_tenant::{TestTenant, account, company, customer, delete, payroll};

const ROUNDS: usize = 5;
const OPENERS: usize = 4;

async fn schema_of(fixture: &Fixture) -> Result<Option<i64>> {
    match fixture.kind {
        StoreKind::Postgres => PostgresStore::schema_of(&fixture.url()).await,
        _ => SqliteStore::schema_of(&fixture.file()),
    }
}

/// Makes the store look as if a newer program had migrated it.
async fn set_schema(fixture: &Fixture, number: i64) {
    if fixture.kind == StoreKind::Postgres {
        let sql = format!("INSERT INTO schema_migrations (number, name) VALUES ({number}, 'future')");
        connect(&fixture.url()).await.batch_execute(&sql).await.unwrap();
    } else {
        let file = rusqlite::Connection::open(fixture.file()).unwrap();
        file.pragma_update(None, "user_version", number).unwrap();
    }
}

pub(crate) async fn reopened_store_is_unchanged(fixture: Fixture) {
    let tenant = fill_every_table(&fixture).await;
    let schema = fixture.store.health().await.unwrap().schema;
    assert_eq!(schema_of(&fixture).await, Ok(Some(schema)));
    let before = rows(fixture.handle.archive()).await;
    fixture.store.close().await;
    for _ in 0..2 {
        let reopened = fixture.reopen().await;
        assert_eq!(reopened.store.health().await.unwrap().schema, schema);
        assert_eq!(reopened.archive().schema(), schema);
        assert_eq!(rows(reopened.archive()).await, before);
    }
    let reopened = tenant.via(&fixture.reopen().await.store);
    let head = reopened.head().await;
    assert_eq!(reopened.accept([company("c3")]).await.last_sequence, head + 1);
}

pub(crate) async fn newer_schema_is_refused_and_unchanged(fixture: Fixture) {
    fill_every_table(&fixture).await;
    let known = fixture.store.health().await.unwrap().schema;
    set_schema(&fixture, 99).await;
    let before = rows(fixture.handle.archive()).await;
    for _ in 0..2 {
        let refused = fixture.reopen_with(&master_key()).await.err();
        assert_eq!(refused, Some(StoreError::NewerSchema { found: 99, known }));
    }
    assert_eq!(schema_of(&fixture).await, Ok(Some(99)));
    assert_eq!(rows(fixture.handle.archive()).await, before);
}

const SQLITE_SCHEMA_1: &str = include_str!("../../../src/sqlite/migrations/0001_spine.sql");
const POSTGRES_SCHEMA_1: &str = include_str!("../../../src/postgres/migrations/0001_spine.sql");
/// Rows of a schema 1 store, before sessions and the audit log, in SQL that both databases accept.
const SCHEMA_1_ROWS: &str = "
    INSERT INTO users (id, email, given_name, lang, password_hash, standing, created_at)
        VALUES ('maria', 'maria@x.example', 'María', 'es', 'hash', 1, 5);
    INSERT INTO tenants (id, name, short_code, standing, created_at) VALUES ('t', 'Norte', 'ES', 1, 6);
    INSERT INTO subscriptions (id, name, products, standing, created_at) VALUES ('s1', 'Clave', 3, 1, 9);
    INSERT INTO grants (id, client_id, user_id, tenant_id, details, created_at, revoked_at, expires_at)
        VALUES ('g1', 'erp', 'maria', 't', '{}', 700, NULL, 9000), ('g2', 'erp', 'maria', 't', '{}', 800, 850, 9001);";

/// Makes storage look as a program with schema 1 left it.
async fn create_schema_1(storage: &Storage) {
    if let Storage::Sqlite(_) = storage {
        let file = rusqlite::Connection::open(storage.file()).unwrap();
        file.execute_batch(SQLITE_SCHEMA_1).unwrap();
        file.execute_batch(SCHEMA_1_ROWS).unwrap();
        file.execute_batch(
            "INSERT INTO memberships VALUES ('m1', 'maria', 't', 'ACC', x'09090909090909090909090909090909', 'E', 'S', 7);
             INSERT INTO clients VALUES ('erp', x'09090909090909090909090909090909', 'ERP', '[]', '[]', 1, 0, 1, 1, 8, x'01', NULL, NULL),
                 ('strict', x'09090909090909090909090909090909', 'Strict', '[]', '[]', 1, 0, 0, 1, 9, x'01', NULL, NULL);
             INSERT INTO codes VALUES (x'0a0b', 'erp', 650, '{}', 640, 'g1');
             INSERT INTO subscription_keys VALUES (x'0c', 's1', 1, NULL);
             PRAGMA user_version = 1;",
        )
        .unwrap();
    } else {
        let server = connect(&storage.url()).await;
        server.batch_execute(POSTGRES_SCHEMA_1).await.unwrap();
        server.batch_execute(SCHEMA_1_ROWS).await.unwrap();
        server
            .batch_execute(
                "INSERT INTO memberships
                     VALUES ('m1', 'maria', 't', 'ACC', '\\x09090909090909090909090909090909', 'E', 'S', 7);
                 INSERT INTO clients VALUES
                     ('erp', '\\x09090909090909090909090909090909', 'ERP', '[]', '[]', 1, 0, 1, 1, 8, '\\x01', NULL, NULL),
                     ('strict', '\\x09090909090909090909090909090909', 'Strict', '[]', '[]', 1, 0, 0, 1, 9, '\\x01', NULL, NULL);
                 INSERT INTO codes VALUES ('\\x0a0b', 'erp', 650, '{}', 640, 'g1');
                 INSERT INTO subscription_keys VALUES ('\\x0c', 's1', 1, NULL);
                 CREATE TABLE schema_migrations (number BIGINT NOT NULL PRIMARY KEY, name TEXT COLLATE \"C\" NOT NULL);
                 INSERT INTO schema_migrations VALUES (1, '0001_spine');",
            )
            .await
            .unwrap();
    }
}

/// Older versions stored only the hashes of keys.
async fn old_key_can_be_revealed_once_it_is_replaced(store: &dyn Store, id: &SubscriptionId) {
    let slot = KeySlot::Primary;
    assert!(!store.subscription_keys(id).await.unwrap()[0].is_revealable);
    assert_eq!(store.reveal_key(id, slot, &by()).await, Ok(RevealedKey::NotKept));
    let new = Secret::new("new");
    assert_eq!(store.rotate_key(id, slot, &new, Ticks(0), &by()).await, Ok(true));
    assert_eq!(store.reveal_key(id, slot, &by()).await, Ok(RevealedKey::Revealed(new)));
}

pub(crate) async fn schema_1_store_is_migrated_with_its_rows(fixture: Fixture) {
    let storage = Storage::create(fixture.kind).await;
    create_schema_1(&storage).await;
    let opened = storage.open(fixture.ports(&master_key())).await.unwrap();
    let store = &opened.store;
    assert_eq!(store.health().await.unwrap().schema, fixture.store.health().await.unwrap().schema);
    for (id, created_at, revoked_at) in [("g1", 700, None), ("g2", 800, Some(850))] {
        let found = store.find_grant(&GrantId::new(id)).await.unwrap().unwrap();
        assert_eq!((found.created_at, found.last_used_at), (Ticks(created_at), Ticks(created_at)));
        assert_eq!(found.revoked_at, revoked_at.map(Ticks));
    }
    for (id, callback_id_token) in [("erp", CallbackIdToken::Auto), ("strict", CallbackIdToken::Never)] {
        let client = store.find_client(&ClientId::new(id)).await.unwrap().unwrap();
        assert_eq!((client.products, client.callback_id_token), (Products::all(), callback_id_token), "{id}");
        assert_eq!((client.team, client.is_sandbox), (None, false), "{id}");
    }
    let subscription = store.find_subscription(&SubscriptionId::new("s1")).await.unwrap().unwrap();
    assert_eq!((subscription.team, subscription.is_sandbox), (None, false));
    let maria = AccountId::new("maria");
    let memberships = store.active_memberships(&maria).await.unwrap();
    assert_eq!(memberships.len(), 1);
    assert_eq!(
        (memberships[0].membership.created_at, memberships[0].membership.last_used_at),
        (Ticks(7), None)
    );
    assert_eq!(store.live_grants(&maria, Ticks(0)).await.unwrap().len(), 1);
    assert_eq!(store.audit(&AuditQuery { rows_max: 10, ..AuditQuery::default() }).await, Ok(Vec::new()));
    store.record(&sign_in_entry("maria", fixture.now())).await.unwrap();
    old_key_can_be_revealed_once_it_is_replaced(&**store, &subscription.id).await;

    let (upgraded, new) = (rows(opened.archive()).await, rows(fixture.handle.archive()).await);
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
    assert_eq!(upgraded["codes"], [code], "a code without user and tenant");
}

/// Records as schema 1 wrote them: the members of the store at the end, and accounts left out.
const SCHEMA_1_RECORDS: &str = r#"
    INSERT INTO records (tenant_no, company_no, resource, ordinal, correlation_id, state, version, sequence, body) VALUES
    (1, 0, 9, 1, 'c', 1, 1, 1, '{"vatName":"A \"B\"","vatNumber":"","chartOfAccountId":1,"accountLength":3,"correlationId":"c","state":"Enabled","version":"v","sequenceVersion":"1"}'),
    (1, 1, 1, 1, 'a1', 0, 1, 2, '{"code":"430","description":"ñ","correlationId":"a1","state":"Disabled","version":"v","sequenceVersion":"2"}'),
    (1, 1, 1, 2, 'a"2', 1, 1, 3, '{"code":"430","description":"","correlationId":"a\"2","state":"Enabled","version":"v","sequenceVersion":"3"}'),
    (1, 1, 4, 1, 'k1', 1, 1, 4, '{"tradeName":"x","vatNumber":"","vatName":"","accountCode":"430","vatNumberCorrelationId":"","accountCodeCorrelationId":"","correlationId":"k1","state":"Enabled","version":"v","sequenceVersion":"4"}'),
    (1, 1, 4, 2, 'k2', 1, 1, 5, '{"tradeName":"x","vatNumber":"","vatName":"","accountCode":"431","vatNumberCorrelationId":"","accountCodeCorrelationId":"","correlationId":"k2","state":"Enabled","version":"v","sequenceVersion":"5"}'),
    (1, 1, 4, 3, 'k3', 1, 1, 6, '{"tradeName":"x","vatNumber":"","vatName":"","accountCode":"430","vatNumberCorrelationId":"","accountCodeCorrelationId":"own","correlationId":"k3","state":"Enabled","version":"v","sequenceVersion":"6"}'),
    (1, 1, 5, 1, 's1', 1, 1, 7, '{"n":1.50,"accountCodeCorrelationId":"","accountCode":"430","correlationId":"s1","state":"Enabled","version":"v","sequenceVersion":"7"}');"#;
const SCHEMA_1_RECORDS_TODAY: [&str; 7] = [
    r#"{"vatName":"A \"B\"","vatNumber":"","state":"Enabled","chartOfAccountId":1,"accountLength":3,"correlationId":"c","version":"v","sequenceVersion":"1"}"#,
    r#"{"correlationId":"a1","code":"430","description":"ñ","state":"Disabled","version":"v","sequenceVersion":"2"}"#,
    r#"{"correlationId":"a\"2","code":"430","description":"","state":"Enabled","version":"v","sequenceVersion":"3"}"#,
    r#"{"tradeName":"x","state":"Enabled","vatNumber":"","vatName":"","accountCode":"430","correlationId":"k1","vatNumberCorrelationId":"","accountCodeCorrelationId":"a\"2","version":"v","sequenceVersion":"4"}"#,
    r#"{"tradeName":"x","state":"Enabled","vatNumber":"","vatName":"","accountCode":"431","correlationId":"k2","vatNumberCorrelationId":"","accountCodeCorrelationId":"","version":"v","sequenceVersion":"5"}"#,
    r#"{"tradeName":"x","state":"Enabled","vatNumber":"","vatName":"","accountCode":"430","correlationId":"k3","vatNumberCorrelationId":"","accountCodeCorrelationId":"own","version":"v","sequenceVersion":"6"}"#,
    r#"{"n":1.50,"accountCodeCorrelationId":"a\"2","accountCode":"430","correlationId":"s1","state":"Enabled","version":"v","sequenceVersion":"7"}"#,
];

pub(crate) async fn schema_1_records_get_the_contracts_order_and_their_accounts(fixture: Fixture) {
    let storage = Storage::create(fixture.kind).await;
    create_schema_1(&storage).await;
    if let Storage::Sqlite(_) = &storage {
        rusqlite::Connection::open(storage.file()).unwrap().execute_batch(SCHEMA_1_RECORDS).unwrap();
    } else {
        connect(&storage.url()).await.batch_execute(SCHEMA_1_RECORDS).await.unwrap();
    }
    let opened = storage.open(fixture.ports(&master_key())).await.unwrap();
    let bodies: Vec<CellValue> =
        rows(opened.archive()).await["records"].iter().map(|row| row.last().unwrap().clone()).collect();
    assert_eq!(bodies, SCHEMA_1_RECORDS_TODAY.map(|body| CellValue::Text(body.into())));
}

const SQLITE_SCHEMA_3: [&str; 3] = [
    SQLITE_SCHEMA_1,
    include_str!("../../../src/sqlite/migrations/0002_sign_in.sql"),
    include_str!("../../../src/sqlite/migrations/0003_gateway.sql"),
];
/// Copies a current file into the tables of schema 3: the same rows, in another order.
const COPY_TO_SCHEMA_3: &str = "
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

/// Writes companies with interleaved customers, payroll companies, deletions, and one deleted company.
async fn write_sample_records(tenant: &TestTenant) {
    tenant.accept([company("c1"), company("c2"), company("c3")]).await;
    for round in 0..40 {
        for of in ["c1", "c2", "c3"] {
            tenant
                .accept([
                    customer(of, &format!("r{round}"), "Norte"),
                    account(of, &format!("a{round}"), "43000001"),
                ])
                .await;
        }
        tenant.accept([payroll(round, "Sur", None)]).await;
        if round % 3 == 0 {
            tenant.accept([delete(customer("c2", &format!("r{round}"), ""))]).await;
        }
    }
    tenant.accept([delete(company("c3"))]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn schema_3_file_is_migrated_with_its_records() {
    let fixture = Fixture::open(StoreKind::Sqlite).await;
    let (tenant, other) = (fixture.add_tenant().await, fixture.add_tenant().await);
    write_sample_records(&tenant).await;
    other.accept([company("c1"), customer("c1", "r1", "Vigo")]).await;
    let mut before = rows(fixture.handle.archive()).await;
    // Schema 3 had no audit of the administration.
    before.get_mut("audit").unwrap().clear();
    fixture.store.close().await;

    let storage = Storage::create(StoreKind::Sqlite).await;
    let old = rusqlite::Connection::open(storage.file()).unwrap();
    for migration in SQLITE_SCHEMA_3 {
        old.execute_batch(migration).unwrap();
    }
    drop(old);
    let today = rusqlite::Connection::open(fixture.file()).unwrap();
    today.execute("ATTACH ?1 AS old", [storage.file().to_str().unwrap()]).unwrap();
    today.execute_batch(COPY_TO_SCHEMA_3).unwrap();
    drop(today);

    let opened = storage.open(fixture.ports(&master_key())).await.unwrap();
    assert_eq!(rows(opened.archive()).await, before);
    let (migrated, original) = (tenant.via(&opened.store), tenant.via(&fixture.reopen().await.store));
    for kind in [company("x"), customer("c1", "x", ""), customer("c2", "x", ""), payroll(0, "", None)] {
        for offset in [0, 7, 30] {
            assert_eq!(migrated.page(&kind, offset, 10).await, original.page(&kind, offset, 10).await);
        }
    }
    for stored in [customer("c1", "r39", ""), customer("c2", "r1", ""), account("c2", "a5", "43000001")] {
        assert!(migrated.record(&stored).await.is_some());
        assert_eq!(migrated.record(&stored).await, original.record(&stored).await);
    }
    let added = [customer("c1", "new", "Norte"), customer("c4", "new", ""), customer("c2", "r1", "Otra")];
    let (expected_counts, counts) = (original.send(added.clone()).await, migrated.send(added).await);
    assert_eq!(format!("{counts:?}"), format!("{expected_counts:?}"));
    let whole = migrated.page(&customer("c1", "x", ""), 0, 100).await;
    assert!(whole.bodies.len() == 41 && whole.bodies.iter().last().unwrap().contains("new"));
    migrated.purge_all(10).await;
    assert_eq!(migrated.page(&customer("c2", "x", ""), 0, 100).await.total, 26);
}

/// Rows of a schema 7 store, in SQL that both databases accept; `BYTES` stands for a blob.
const SCHEMA_7_ROWS: &str = "
    INSERT INTO tenants (id, name, short_code, standing, created_at) VALUES ('t', 'Norte', 'ES', 1, 6);
    INSERT INTO users (id, email, given_name, lang, password_hash, standing, created_at)
        SELECT name, name || '@x.example', '', 'es', 'hash', 1, 5 FROM NAMES;
    INSERT INTO memberships (id, user_id, tenant_id, modules, key_user_correlation_id, equipo_user_id,
        second_client_id, created_at) SELECT 'm-' || name, name, 't', '', BYTES, '', '', 7 FROM NAMES
        WHERE name <> 'gone';
    INSERT INTO grants (id, client_id, user_id, tenant_id, details, created_at, revoked_at, expires_at) VALUES
        ('g1', 'a', 'grant', 't', '{\"scope\":\"openid SVC.ES.Webhooks\",\"methods\":\"\"}', 700, NULL, 9000),
        ('g2', 'a', 'grant', 't', '{\"scope\":\"SVC.ES.NEWPOL.ACC.API\",\"methods\":\"\"}', 800, NULL, 9000),
        ('g3', 'a', 'revoked', 't', '{\"scope\":\"openid\",\"methods\":\"\"}', 800, 850, 9000);
    INSERT INTO webhooks (tenant_no, id, client_id, user_id, resource, kinds, name, description, url, secret, doubt,
        fingerprint, created_at, enabled, handshake, handshake_at, handshake_accepted, revision, shard, moved, replays,
        deleted_at)
        SELECT 1, BYTES || CAST(name AS BLOB_TYPE), 'a', name, resource, 31, '', '', 'https://x.example/', BYTES, '',
            BYTES || CAST(name AS BLOB_TYPE), 900, 1, 1, 900, 1, 1, 9, 1, 0, deleted_at
        FROM NAMES WHERE resource IS NOT NULL;
    INSERT INTO audit (at, id, kind, user_id, tenant_id, client_id, address, request_id, note) VALUES
        (950, BYTES, 'revoked', 'withdrawn', 't', 'a', '', '', 'withdrawn by the user'),
        (951, BYTES, 'revoked', 'returned', 't', 'a', '', '', 'withdrawn by the user'),
        (952, BYTES, 'granted', 'returned', 't', 'a', '', '', ''),
        (953, BYTES, 'revoked', 'webhook', 't', 'a', '', '', 'revoked by the client'),
        (954, BYTES, 'revoked', 'webhook', 't', 'b', '', '', 'withdrawn by the user');";
/// User, resource of a webhook, deletion of the webhook, and the scopes that the authorization gets.
const SCHEMA_7_USERS: [(&str, &str, &str, Option<&str>); 8] = [
    ("grant", "NULL", "NULL", Some("openid SVC.ES.Webhooks SVC.ES.NEWPOL.ACC.API")),
    ("revoked", "NULL", "NULL", None),
    ("webhook", "4", "NULL", Some("SVC.ES.NEWPOL.ACC.API SVC.ES.Webhooks")),
    ("returned", "13", "NULL", Some("SVC.ES.NEWPOL.COR.API SVC.ES.Webhooks")),
    ("invoices", "107", "NULL", Some("SVC.ES.Webhooks")),
    ("withdrawn", "4", "NULL", None),
    ("deleted", "4", "950", None),
    ("gone", "4", "NULL", None),
];

/// Makes storage look as version 0.1.0 left it.
async fn create_schema_7(storage: &Storage) {
    let users = SCHEMA_7_USERS.map(|(name, resource, deleted, _)| {
        format!("SELECT '{name}' AS name, CAST({resource} AS BIGINT) AS resource, CAST({deleted} AS BIGINT) AS deleted_at")
    });
    let names = format!("({}) names", users.join(" UNION ALL "));
    let migrations = |folder: &str| {
        let folder = format!("{}/src/{folder}/migrations", env!("CARGO_MANIFEST_DIR"));
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        names.truncate(7);
        names.into_iter().map(|path| fs::read_to_string(path).unwrap()).collect::<Vec<_>>()
    };
    let rows = SCHEMA_7_ROWS.replace("NAMES", &names);
    if let Storage::Sqlite(_) = storage {
        let file = rusqlite::Connection::open(storage.file()).unwrap();
        for migration in migrations("sqlite") {
            file.execute_batch(&migration).unwrap();
        }
        let rows = rows.replace("BYTES", "x'09090909090909090909090909090909'").replace("BLOB_TYPE", "BLOB");
        file.execute_batch(&rows).unwrap();
        file.pragma_update(None, "user_version", 7).unwrap();
    } else {
        let server = connect(&storage.url()).await;
        for migration in migrations("postgres") {
            server.batch_execute(&migration).await.unwrap();
        }
        let rows = rows
            .replace("BYTES", "'\\x09090909090909090909090909090909'::bytea")
            .replace("BLOB_TYPE", "bytea");
        server.batch_execute(&rows).await.unwrap();
        server
            .batch_execute(
                "CREATE TABLE schema_migrations (number BIGINT NOT NULL PRIMARY KEY, name TEXT COLLATE \"C\" NOT NULL);
                 INSERT INTO schema_migrations VALUES (7, '0007_revisions');",
            )
            .await
            .unwrap();
    }
}

pub(crate) async fn schema_7_store_suspends_nobody_who_has_access(fixture: Fixture) {
    let storage = Storage::create(fixture.kind).await;
    create_schema_7(&storage).await;
    let opened = storage.open(fixture.ports(&master_key())).await.unwrap();
    let owner = WebhookOwner { tenant: TenantId::new("t"), client: ClientId::new("a") };
    let access = opened.store.owner_access(&owner).await.unwrap();
    for (name, _, _, expected) in SCHEMA_7_USERS {
        let mut found = access.authorizations.iter().map(|facts| &facts.authorization);
        let found = found.find(|one| one.access.user.as_str() == name);
        let expected = expected.map(|names| Scopes::parse(names).scopes);
        assert_eq!(found.map(|one| one.scopes), expected, "{name}");
        assert!(
            found.is_none_or(|one| one.ended.is_none() && one.membership.as_str() == format!("m-{name}"))
        );
    }
    assert_eq!(
        opened.store.is_grant_live(&GrantId::new("g1")).await,
        Ok(false),
        "there is no client in this store"
    );
}

pub(crate) async fn concurrent_opens_of_an_empty_store_succeed(fixture: Fixture) {
    for _ in 0..ROUNDS {
        let storage = Arc::new(Storage::create(fixture.kind).await);
        let start = Arc::new(Barrier::new(OPENERS));
        let openers: Vec<_> = (0..OPENERS)
            .map(|_| {
                let (storage, start, ports) = (storage.clone(), start.clone(), fixture.ports(&master_key()));
                // Each on its own thread: opening a file blocks.
                tokio::task::spawn_blocking(move || {
                    tokio::runtime::Handle::current().block_on(async move {
                        start.wait().await;
                        storage.open(ports).await
                    })
                })
            })
            .collect();
        let mut opened = Vec::new();
        for opener in openers {
            opened.push(opener.await.unwrap().unwrap());
        }
        for (number, handle) in opened.iter().enumerate() {
            handle.store.add_tenant(&new_tenant(&format!("t{number}"), fixture.now()), &by()).await.unwrap();
        }
        for handle in &opened {
            assert_eq!(
                handle.store.list_tenants(&ListQuery::default()).await.map(|page| page.rows).unwrap().len(),
                OPENERS
            );
        }
    }
}

pub(crate) async fn invalid_locations_are_reported(fixture: Fixture) {
    let ports = || fixture.ports(&master_key());
    let mut answers = Vec::new();
    if fixture.kind == StoreKind::Postgres {
        let unused_port = "postgres://aldaba@127.0.0.1:1/aldaba";
        let missing_database = format!("{}_not", fixture.url());
        for url in [unused_port, "no url at all", &missing_database] {
            answers.push(PostgresStore::open(url, 1, ports()).await.map(drop));
        }
        let empty = Storage::create(StoreKind::Postgres).await;
        assert_eq!(PostgresStore::schema_of(&empty.url()).await, Ok(None));
    } else {
        let folder = fixture.file().parent().unwrap().to_owned();
        fs::write(folder.join("notes.txt"), "Dear Ana,".repeat(1000)).unwrap();
        for name in ["notes.txt", "no/such/folder/aldaba.db", "."] {
            let answer = SqliteStore::open(&folder.join(name), ports()).map(drop);
            assert!(
                answer.as_ref().unwrap_err().to_string().contains(name),
                "the message names the file: {answer:?}"
            );
            answers.push(answer);
        }
        assert_eq!(SqliteStore::schema_of(&folder.join("none.db")), Ok(None));
        assert!(!folder.join("none.db").exists(), "reading the schema creates no file");
    }
    for answer in answers {
        assert!(matches!(answer, Err(StoreError::Unavailable(_) | StoreError::Internal(_))), "{answer:?}");
    }
}
