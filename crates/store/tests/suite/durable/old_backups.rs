//! Backups of an earlier schema can be restored into a current store.

use std::fs::File;
use std::io::BufReader;

use async_trait::async_trait;
use domain::subscription::Products;
use store::archive::{self, RowChunk, Table};
use store::{
    Actor, Archive, AuditContext, AuditQuery, BackupSummary, CellValue, FIRST_REVISION, RestoredAccess,
    Result,
};
use tokio::sync::mpsc;

use super::backup::restore;
use super::rows::{Rows, fill_every_table, rows};
use crate::suite::account_links::unlinked;
use crate::suite::fixture::{Fixture, Storage, master_key};
use crate::suite::test_tenant::{account, company};

/// Tables that have more columns since schema 6, with the values that their rows get.
fn added_columns() -> [(&'static str, Vec<CellValue>); 6] {
    let first = CellValue::Int(i64::try_from(FIRST_REVISION).unwrap());
    let products = CellValue::Int(Products::all().bits());
    let empty = CellValue::Text(String::new());
    let (text, none, null) = (CellValue::Text(String::new()), CellValue::Int(0), CellValue::Null);
    let node =
        [vec![text; 2], vec![none.clone(); 3], vec![null.clone()], vec![none; 3], vec![null; 2]].concat();
    [
        ("tenants", vec![first.clone(), CellValue::Null]),
        ("accounts", vec![first.clone(), CellValue::Int(0), CellValue::Null, empty, CellValue::Null]),
        (
            "clients",
            [
                vec![first.clone(), products, CellValue::Null],
                vec![CellValue::Int(0); 2],
                vec![CellValue::Null],
            ]
            .concat(),
        ),
        ("subscriptions", vec![first, CellValue::Null, CellValue::Int(0)]),
        ("subscription_keys", vec![CellValue::Null]),
        ("nodes", node),
    ]
}

/// Tables whose further columns are derived from their rows, with how many there are since schema 6.
const DERIVED_COLUMNS: [(&str, usize); 3] = [("memberships", 1), ("webhooks", 5), ("audit", 5)];
/// A restore ends all sessions.
const SESSION_COLUMNS: [(&str, usize); 1] = [("sessions", 4)];
const SINCE_SCHEMA_8: [&str; 8] = [
    "authorizations",
    "client_origins",
    "teams",
    "team_members",
    "requests",
    "notices",
    "sandboxes",
    "reads",
];

/// How many columns a table has got since schema 6.
fn columns_since(table: &str) -> usize {
    let added = added_columns().into_iter().map(|(name, added)| (name, added.len()));
    added
        .chain(DERIVED_COLUMNS)
        .chain(SESSION_COLUMNS)
        .find(|(name, _)| *name == table)
        .map_or(0, |(_, columns)| columns)
}

/// A customer whose account older versions left out.
const UNLINKED: &str = "unlinked customer";
const ACCOUNT: &str = "the account";

fn unlink(record: &mut [CellValue]) {
    if let Some(CellValue::Text(body)) = record.last_mut() {
        let (linked, empty) =
            ([r#"accountCodeCorrelationId":""#, ACCOUNT].concat(), r#"accountCodeCorrelationId":""#);
        *body = body.replace(&linked, empty);
    }
}

/// The archive of a current store, with its rows in the form of schema 6.
struct Schema6Archive<'a>(&'a dyn Archive);

#[async_trait]
impl Archive for Schema6Archive<'_> {
    async fn dump(&self, out: mpsc::Sender<RowChunk>) -> Result<()> {
        let (sender, mut chunks) = mpsc::channel::<RowChunk>(4);
        let forward = async {
            while let Some(mut chunk) = chunks.recv().await {
                if SINCE_SCHEMA_8.contains(&chunk.table.name) {
                    continue;
                }
                if chunk.table.name == "records" {
                    chunk.rows.iter_mut().for_each(|row| unlink(row));
                }
                let since = columns_since(chunk.table.name);
                chunk.rows.iter_mut().for_each(|row| row.truncate(row.len() - since));
                if chunk.table.name == "accounts" {
                    let mut former = *chunk.table;
                    former.name = "users";
                    chunk.table = Box::leak(Box::new(former));
                }
                out.send(chunk).await.unwrap();
            }
        };
        tokio::join!(self.0.dump(sender), forward).0
    }

    async fn is_empty(&self) -> Result<bool> {
        self.0.is_empty().await
    }

    async fn load(&self, chunk: RowChunk) -> Result<()> {
        self.0.load(chunk).await
    }

    async fn count_rows(&self, table: &'static Table) -> Result<u64> {
        self.0.count_rows(table).await
    }

    async fn begin_restore(&self) -> Result<()> {
        self.0.begin_restore().await
    }

    async fn end_restore(&self) -> Result<()> {
        self.0.end_restore().await
    }

    async fn finish_restore(
        &self,
        heads_advance: u64,
        backup: &BackupSummary,
        access: RestoredAccess,
        context: &AuditContext,
    ) -> Result<()> {
        self.0.finish_restore(heads_advance, backup, access, context).await
    }

    fn check_vault(&self, sealed_check: &[u8]) -> Result<()> {
        self.0.check_vault(sealed_check)
    }

    fn schema(&self) -> i64 {
        6
    }
}

pub(crate) async fn backup_of_schema_6_is_restored(fixture: Fixture) {
    let tenant = fill_every_table(&fixture).await;
    tenant
        .accept([company("c1"), account("c1", ACCOUNT, "43009999"), unlinked(UNLINKED, "Norte", "43009999")])
        .await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backup");
    let old = Schema6Archive(fixture.handle.archive());
    archive::write(&old, File::create(&path).unwrap(), fixture.now()).await.unwrap();
    let summary = archive::verify(BufReader::new(File::open(&path).unwrap())).unwrap();
    let storage = Storage::create(fixture.kind).await;
    let target = storage.open(fixture.ports(&master_key())).await.unwrap();
    restore(&path, &summary, target.archive()).await.unwrap();

    let (mut before, mut after) = (rows(fixture.handle.archive()).await, rows(target.archive()).await);
    after.get_mut("audit").unwrap().retain(|row| row[2] != CellValue::Text("restored".into()));
    for (table, added) in added_columns() {
        for row in before.get_mut(table).unwrap() {
            row.truncate(row.len() - added.len());
            row.extend(added.iter().cloned());
        }
        assert!(!after[table].is_empty());
        assert_eq!(after[table], before[table], "{table}");
    }
    let account_of = |rows: &Rows, id: &str| {
        let mut bodies = rows["records"].iter().filter_map(|row| match (&row[4], row.last()) {
            (CellValue::Text(found), Some(CellValue::Text(body))) if found == id => Some(body.clone()),
            _ => None,
        });
        let body: serde_json::Value = serde_json::from_str(&bodies.next_back().unwrap()).unwrap();
        body["accountCodeCorrelationId"].clone()
    };
    assert_eq!(account_of(&after, UNLINKED), ACCOUNT, "it is linked as an upgrade links it");
    for (table, derived) in DERIVED_COLUMNS {
        let older = |rows: &[Vec<CellValue>]| -> Vec<Vec<CellValue>> {
            rows.iter().map(|row| row[..row.len() - derived].to_vec()).collect()
        };
        assert_eq!(older(&after[table]), older(&before[table]), "{table}");
    }
    let standing = |rows: &Rows| {
        let ended_at = |row: &&Vec<CellValue>| row[6] == CellValue::Null;
        rows["authorizations"].iter().filter(ended_at).map(|row| row[..4].to_vec()).collect::<Vec<_>>()
    };
    let filled = standing(&after);
    assert!(!filled.is_empty(), "authorizations are made from grants and webhooks");
    assert!(standing(&before).iter().all(|row| filled.contains(row)), "{filled:?}");
    let old = AuditQuery { rows_max: 1000, ..AuditQuery::default() };
    let entries = target.store.audit(&old).await.unwrap();
    assert_eq!(entries.len(), before["audit"].len() + 1, "and the restore itself");
    let unknown = entries.iter().filter(|record| {
        let entry = &record.entry;
        entry.context.actor == Actor::Unknown && entry.changes.is_empty() && entry.count == 1
    });
    assert_eq!(unknown.count(), before["audit"].len());
}
