//! Backups: written by one store and restored into another; everything is equal afterwards but the log heads.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use domain::ids::SubscriptionId;
use domain::{AccountId, Realm, Secret, Ticks};
use store::archive::{self, HEADS_ADVANCE, TABLES};
use store::{
    Archive, ArchiveError, AuditKind, AuditQuery, BackupSummary, CellValue, KeySlot, ListFilter, ListQuery,
    RestoredAccess, RevealedKey, WebhookQuery,
};
use tempfile::TempDir;

use super::rows::{Rows, fill_every_table, rows};
use crate::suite::fixture::{Fixture, Handle, StoreKind, by, new_tenant};
use crate::suite::test_tenant::{TestTenant, company, customer, delete, journal};

/// A backup file that is removed when this value is dropped.
pub(crate) struct Backup {
    folder: TempDir,
    pub(crate) summary: BackupSummary,
}

impl Backup {
    pub(crate) async fn of(handle: &Handle, fixture: &Fixture) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = File::create(folder.path().join("backup")).unwrap();
        let summary = archive::write(handle.archive(), file, fixture.now()).await.unwrap();
        Self { folder, summary }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("backup")
    }

    pub(crate) async fn restore(&self, into: &Handle) -> Result<(), ArchiveError> {
        restore(&self.path(), &self.summary, into.archive()).await
    }
}

pub(crate) async fn restore(
    path: &Path,
    summary: &BackupSummary,
    into: &dyn Archive,
) -> Result<(), ArchiveError> {
    restore_with(path, summary, into, RestoredAccess::Keep).await
}

pub(crate) async fn restore_with(
    path: &Path,
    summary: &BackupSummary,
    into: &dyn Archive,
    access: RestoredAccess,
) -> Result<(), ArchiveError> {
    archive::read(into, summary, BufReader::new(File::open(path).unwrap()), access, &by()).await?;
    Ok(into.end_restore().await?)
}

pub(crate) async fn backup_restores_into_sqlite(fixture: Fixture) {
    restore_into(fixture, StoreKind::Sqlite).await;
}

pub(crate) async fn backup_restores_into_postgres(fixture: Fixture) {
    restore_into(fixture, StoreKind::Postgres).await;
}

async fn restore_into(from: Fixture, kind: StoreKind) {
    let tenant = fill_every_table(&from).await;
    let backup = Backup::of(&from.handle, &from).await;
    let verified = archive::verify(BufReader::new(File::open(backup.path()).unwrap())).unwrap();
    assert_eq!(verified, backup.summary);
    assert_eq!(verified.taken_at, from.now().iso());
    for table in &TABLES {
        assert!(verified.tables[table.name] > 0, "{} has rows", table.name);
    }
    assert_eq!(verified.rows, verified.tables.values().sum::<u64>());

    let to = Fixture::open(kind).await;
    // Both fixtures have the same randomness: the entry of the restore needs a time of its own.
    to.clock.advance(Duration::from_secs(1));
    backup.restore(&to.handle).await.unwrap();
    let (original, restored) = (rows(from.handle.archive()).await, rows(to.handle.archive()).await);
    let original = without_sessions(without_vault_check(original));
    let restored = without_restore(&from, &backup, with_heads_lowered(without_vault_check(restored)));
    assert_eq!(original, restored);
    assert_same_reads(&tenant, &tenant.via(&to.store)).await;
    assert_continues(&from, &to, &tenant).await;
}

/// Every store has its own vault check.
fn without_vault_check(mut rows: Rows) -> Rows {
    rows.get_mut("meta").unwrap().retain(|row| row[0] != CellValue::Text("vault".into()));
    rows
}

/// A restore ends sessions, and codes that were not redeemed.
fn without_sessions(mut rows: Rows) -> Rows {
    rows.get_mut("sessions").unwrap().clear();
    rows.get_mut("codes").unwrap().retain(|row| row[4] != CellValue::Null);
    rows
}

/// Removes the audit entry of the restore, which says which backup it was.
fn without_restore(from: &Fixture, backup: &Backup, mut rows: Rows) -> Rows {
    let audit = rows.get_mut("audit").unwrap();
    let kind = audit.iter().position(|row| row[2] == CellValue::Text("restored".into()));
    let entry = audit.remove(kind.expect("the restore is audited"));
    let CellValue::Text(changes) = &entry[13] else { panic!("{entry:?}") };
    assert!(changes.contains(&from.now().iso()) && changes.contains(&backup.summary.rows.to_string()));
    rows
}

/// Undoes the advance of the heads.
fn with_heads_lowered(mut rows: Rows) -> Rows {
    for row in rows.get_mut("heads").unwrap() {
        let CellValue::Int(head) = &mut row[1] else { panic!("a head is a number") };
        *head -= i64::try_from(HEADS_ADVANCE).unwrap();
    }
    rows
}

/// Asserts that both stores return the same through the store port.
async fn assert_same_reads(original: &TestTenant, restored: &TestTenant) {
    assert_eq!(original.log().await, restored.log().await);
    for subject in [company("c1"), customer("c1", "k1", ""), journal("c1", "j1", "{}")] {
        assert_eq!(original.record(&subject).await, restored.record(&subject).await);
        let (original_page, mut restored_page) =
            (original.page(&subject, 3, 50).await, restored.page(&subject, 3, 50).await);
        restored_page.head -= HEADS_ADVANCE;
        assert_eq!(original_page, restored_page);
    }
    assert_eq!(
        original.store.list_tenants(&ListQuery::default()).await.map(|page| page.rows),
        restored.store.list_tenants(&ListQuery::default()).await.map(|page| page.rows)
    );
    assert_eq!(
        original.store.list_accounts(Realm::Users, &ListQuery::default()).await.map(|page| page.rows),
        restored.store.list_accounts(Realm::Users, &ListQuery::default()).await.map(|page| page.rows)
    );
    assert_eq!(
        original
            .store
            .list_clients(&ListFilter::default(), &ListQuery::default())
            .await
            .map(|page| page.rows),
        restored
            .store
            .list_clients(&ListFilter::default(), &ListQuery::default())
            .await
            .map(|page| page.rows)
    );
    assert_eq!(
        original
            .store
            .list_subscriptions(&ListFilter::default(), &ListQuery::default())
            .await
            .map(|page| page.rows),
        restored
            .store
            .list_subscriptions(&ListFilter::default(), &ListQuery::default())
            .await
            .map(|page| page.rows)
    );
    assert_eq!(original.store.signing_keys().await, restored.store.signing_keys().await);
    assert_eq!(original.store.dev_credentials().await, restored.store.dev_credentials().await);
    let (cookie, then, maria) = (Secret::new("session-1"), Ticks(0), AccountId::new("maria"));
    assert!(original.store.find_session(Realm::Users, &cookie, then).await.unwrap().is_some());
    assert_eq!(
        restored.store.find_session(Realm::Users, &cookie, then).await,
        Ok(None),
        "it may have ended since"
    );
    let everything = AuditQuery { rows_max: 100, ..AuditQuery::default() };
    let entries = original.store.audit(&everything).await.unwrap();
    assert!(entries.len() > 10, "{entries:?}");
    let mut restored_entries = restored.store.audit(&everything).await.unwrap();
    restored_entries.retain(|record| record.entry.kind != AuditKind::Restored);
    assert_eq!(entries, restored_entries);
    assert_eq!(
        original.store.active_memberships(&maria).await,
        restored.store.active_memberships(&maria).await
    );
    assert_eq!(
        original.store.live_grants(&maria, then).await,
        restored.store.live_grants(&maria, then).await
    );
    let everything = WebhookQuery { include_ended: true, rows_max: 100, ..WebhookQuery::default() };
    let webhooks = original.store.webhooks(&everything).await.unwrap();
    assert_eq!(restored.store.webhooks(&everything).await, Ok(webhooks.clone()));
    assert_eq!(webhooks.len(), 3);
    for id in webhooks.iter().map(|webhook| webhook.id) {
        assert_eq!(original.store.load_webhook(id).await, restored.store.load_webhook(id).await);
        assert_eq!(
            original.store.delivery_history(id, 4).await,
            restored.store.delivery_history(id, 4).await
        );
        assert_eq!(
            original.store.delivery_history(id, 3).await,
            restored.store.delivery_history(id, 3).await
        );
    }
    assert_eq!(original.store.changed_webhooks(0).await, restored.store.changed_webhooks(0).await);
    let progress = async |tenant: &TestTenant| tenant.store.find_ingest_progress(&tenant.id, "import").await;
    assert_eq!(progress(original).await, progress(restored).await);
    let reveal = async |tenant: &TestTenant| {
        tenant.store.reveal_key(&SubscriptionId::new("s1"), KeySlot::Primary, &by()).await
    };
    assert_eq!(reveal(restored).await, Ok(RevealedKey::Revealed(Secret::new("subscription-key-3"))));
    assert_eq!(reveal(original).await, reveal(restored).await);
}

/// A restored store continues after every sequence that the original store may have used since the backup.
async fn assert_continues(from: &Fixture, to: &Fixture, tenant: &TestTenant) {
    let head = tenant.head().await;
    let restored = tenant.via(&to.store);
    assert_eq!(restored.bounds().await, store::LogBounds { floor: 0, head: head + HEADS_ADVANCE });
    let counts = restored.accept([company("c9"), journal("c1", "j7", "{}")]).await;
    assert_eq!(counts.last_sequence, head + 1_000_002);
    assert_eq!(restored.sequences(&restored.query(head, 10)).await, [head + 1_000_001, head + 1_000_002]);
    assert_eq!(restored.ids(&journal("c1", "any", "{}")).await.last().map(String::as_str), Some("j7"));

    // Purging finishes what was pending, and touches nothing of a new tenant.
    let new = TestTenant::new(to.store.clone(), new_tenant("new", from.now()).id);
    to.store.add_tenant(&new_tenant("new", from.now()), &by()).await.unwrap();
    assert_eq!(new.accept([company("c1")]).await.last_sequence, 1);
    new.purge_all(500).await;
    assert_eq!(new.log_lines().await, ["1 companies c1 Created"]);
    assert_eq!(restored.head().await, head + 1_000_002);
}

/// A backup is one snapshot, also while writers are active.
pub(crate) async fn backup_is_one_snapshot(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    tenant.accept((0..600).map(|number| journal("c1", &format!("j{number}"), "{}"))).await;
    let stop = Arc::new(AtomicBool::new(false));
    let (writer, stopped) = (tenant.clone(), stop.clone());
    let writing = tokio::spawn(async move {
        for number in 600.. {
            if stopped.load(Ordering::SeqCst) {
                break;
            }
            let (new, old) = (format!("j{number}"), format!("j{}", number - 600));
            writer.accept([journal("c1", &new, "{}"), delete(journal("c1", &old, "{}"))]).await;
        }
    });
    for _ in 0..4 {
        let rows = rows(fixture.handle.archive()).await;
        let number = |table: &str, row: usize, column: usize| match rows[table][row][column] {
            CellValue::Int(number) => usize::try_from(number).unwrap(),
            _ => panic!("{table} has an integer in this column"),
        };
        let head = number("heads", 0, 1);
        assert_eq!(rows["log"].len(), head);
        assert_eq!(number("log", head - 1, 1), head);
        assert_eq!(rows["records"].len(), 601);
        let deleted = (head - 601) / 2;
        let dead: usize = (0..rows["gaps"].len()).map(|row| number("gaps", row, 4)).sum();
        assert_eq!(dead, deleted);
    }
    stop.store(true, Ordering::SeqCst);
    writing.await.unwrap();
}
