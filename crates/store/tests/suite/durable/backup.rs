//! Backups: written by one store, read by any other, and the same afterwards but for the heads.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::{Secret, Ticks, UserId};
use store::archive::{self, HEADS_ADVANCE, TABLES};
use store::{Archive, ArchiveError, AuditQuery, BackupSummary, CellValue, ListQuery, WebhookQuery};
use tempfile::TempDir;

use super::rows::{Rows, furnish, rows};
use crate::suite::desk::{Desk, company, customer, delete, journal};
use crate::suite::stage::{Handle, Kind, Stage, tenant};

/// A backup's file, gone with its owner.
pub(crate) struct Backup {
    folder: TempDir,
    pub(crate) summary: BackupSummary,
}

impl Backup {
    pub(crate) async fn of(handle: &Handle, stage: &Stage) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = File::create(folder.path().join("backup")).unwrap();
        let summary = archive::write(handle.archive(), file, stage.now()).await.unwrap();
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
    archive::read(into, summary, BufReader::new(File::open(path).unwrap())).await
}

pub(crate) async fn a_backup_restores_into_sqlite(stage: Stage) {
    invalidation(stage, Kind::Sqlite).await;
}

pub(crate) async fn a_backup_restores_into_postgres(stage: Stage) {
    invalidation(stage, Kind::Postgres).await;
}

async fn invalidation(from: Stage, kind: Kind) {
    let desk = furnish(&from).await;
    let backup = Backup::of(&from.handle, &from).await;
    let verified = archive::verify(BufReader::new(File::open(backup.path()).unwrap())).unwrap();
    assert_eq!(verified, backup.summary);
    assert_eq!(verified.taken_at, from.now().iso());
    for table in &TABLES {
        assert!(verified.tables[table.name] > 0, "{} was to have rows", table.name);
    }
    assert_eq!(verified.rows, verified.tables.values().sum::<u64>());

    let to = Stage::set(kind).await;
    backup.restore(&to.handle).await.unwrap();
    let (here, there) = (rows(from.handle.archive()).await, rows(to.handle.archive()).await);
    assert_eq!(without_vault(here), with_heads_back(without_vault(there)));
    reads_the_same(&desk, &desk.at(&to.store)).await;
    goes_on(&from, &to, &desk).await;
}

/// Every store has a vault's check of its own.
fn without_vault(mut rows: Rows) -> Rows {
    rows.get_mut("meta").unwrap().retain(|row| row[0] != CellValue::Text("vault".into()));
    rows
}

/// Takes the advance of the heads back.
fn with_heads_back(mut rows: Rows) -> Rows {
    for row in rows.get_mut("heads").unwrap() {
        let CellValue::Int(head) = &mut row[1] else { panic!("a head is a number") };
        *head -= i64::try_from(HEADS_ADVANCE).unwrap();
    }
    rows
}

/// What the port tells is the same at both desks.
async fn reads_the_same(here: &Desk, there: &Desk) {
    assert_eq!(here.log().await, there.log().await);
    for subject in [company("c1"), customer("c1", "k1", ""), journal("c1", "j1", "{}")] {
        assert_eq!(here.record(&subject).await, there.record(&subject).await);
        let (mine, mut theirs) = (here.page(&subject, 3, 50).await, there.page(&subject, 3, 50).await);
        theirs.head -= HEADS_ADVANCE;
        assert_eq!(mine, theirs);
    }
    assert_eq!(
        here.store.list_tenants(&ListQuery::default()).await.map(|page| page.rows),
        there.store.list_tenants(&ListQuery::default()).await.map(|page| page.rows)
    );
    assert_eq!(
        here.store.list_users(&ListQuery::default()).await.map(|page| page.rows),
        there.store.list_users(&ListQuery::default()).await.map(|page| page.rows)
    );
    assert_eq!(
        here.store.list_clients(&ListQuery::default()).await.map(|page| page.rows),
        there.store.list_clients(&ListQuery::default()).await.map(|page| page.rows)
    );
    assert_eq!(
        here.store.list_subscriptions(&ListQuery::default()).await.map(|page| page.rows),
        there.store.list_subscriptions(&ListQuery::default()).await.map(|page| page.rows)
    );
    assert_eq!(here.store.signing_keys().await, there.store.signing_keys().await);
    assert_eq!(here.store.dev_credentials().await, there.store.dev_credentials().await);
    let (cookie, then, maria) = (Secret::new("session-1"), Ticks(0), UserId::new("maria"));
    let session = here.store.find_session(&cookie, then).await;
    assert!(session.as_ref().unwrap().is_some());
    assert_eq!(session, there.store.find_session(&cookie, then).await);
    let everything = AuditQuery { rows_max: 100, ..AuditQuery::default() };
    assert_eq!(here.store.audit(&everything).await.unwrap().len(), 3);
    assert_eq!(here.store.audit(&everything).await, there.store.audit(&everything).await);
    assert_eq!(here.store.active_memberships(&maria).await, there.store.active_memberships(&maria).await);
    assert_eq!(here.store.live_grants(&maria, then).await, there.store.live_grants(&maria, then).await);
    let everything = WebhookQuery { include_ended: true, rows_max: 100, ..WebhookQuery::default() };
    let webhooks = here.store.webhooks(&everything).await.unwrap();
    assert_eq!(there.store.webhooks(&everything).await, Ok(webhooks.clone()));
    assert_eq!(webhooks.len(), 2);
    for id in webhooks.iter().map(|one| one.id) {
        assert_eq!(here.store.load_webhook(id).await, there.store.load_webhook(id).await);
        assert_eq!(here.store.delivery_history(id, 4).await, there.store.delivery_history(id, 4).await);
        assert_eq!(here.store.delivery_history(id, 3).await, there.store.delivery_history(id, 3).await);
    }
    assert_eq!(here.store.changed_webhooks(0).await, there.store.changed_webhooks(0).await);
    let progress = async |desk: &Desk| desk.store.find_ingest_progress(&desk.tenant, "import").await;
    assert_eq!(progress(here).await, progress(there).await);
}

/// A restored store goes on behind every number that the backup's store may have given since.
async fn goes_on(from: &Stage, to: &Stage, desk: &Desk) {
    let head = desk.head().await;
    let there = desk.at(&to.store);
    assert_eq!(there.bounds().await, store::LogBounds { floor: 0, head: head + HEADS_ADVANCE });
    let counts = there.accept([company("c9"), journal("c1", "j7", "{}")]).await;
    assert_eq!(counts.last_sequence, head + 1_000_002);
    assert_eq!(there.numbers(&there.query(head, 10)).await, [head + 1_000_001, head + 1_000_002]);
    assert_eq!(there.ids(&journal("c1", "any", "{}")).await.last().map(String::as_str), Some("j7"));

    // Housekeeping finishes what was under way, and touches nothing of who comes new.
    let new = Desk::new(to.store.clone(), tenant("new", from.now()).id);
    to.store.add_tenant(&tenant("new", from.now())).await.unwrap();
    assert_eq!(new.accept([company("c1")]).await.last_sequence, 1);
    new.purge_all(500).await;
    assert_eq!(new.told().await, ["1 companies c1 Created"]);
    assert_eq!(there.head().await, head + 1_000_002);
}

/// Writers do not disturb a backup: it has what stood at one moment, no more and no less.
pub(crate) async fn a_backup_is_of_one_moment(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([company("c1")]).await;
    desk.accept((0..600).map(|number| journal("c1", &format!("j{number}"), "{}"))).await;
    let stop = Arc::new(AtomicBool::new(false));
    let (writer, stopped) = (desk.clone(), stop.clone());
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
        let rows = rows(stage.handle.archive()).await;
        let number = |table: &str, row: usize, column: usize| match rows[table][row][column] {
            CellValue::Int(number) => usize::try_from(number).unwrap(),
            _ => panic!("{table} has numbers there"),
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
