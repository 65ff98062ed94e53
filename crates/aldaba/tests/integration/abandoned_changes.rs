//! Changes whose client is gone, or that waited too long, are not applied late, over newer values.

use std::sync::Arc;
use std::time::Duration;

use testserver::{TestClock, TestServer};
use tokio_postgres::{Client, NoTls};

use crate::harness::{Database, IngestClient, RawConnection, bank, metric, ndjson, wait_for};

/// A server whose database holds up all writes of changes while the lock is held.
struct HeldUp {
    clock: Arc<TestClock>,
    database: Database,
    // Stopped before its database is dropped.
    server: Option<TestServer>,
    ingest: IngestClient,
}

impl HeldUp {
    fn new() -> Self {
        let (clock, database) = (Arc::new(TestClock::default()), Database::create());
        let server = TestServer::builder().clock(clock.clone()).set("store.url", &database.url()).start();
        let tenant = server.add_tenant("Asesoría");
        let ingest = IngestClient::new(server.operator_url(), server.operator_token(), &tenant.id);
        assert_eq!(ingest.send_lines(&[bank("0", "before")]).head(), 1);
        Self { clock, database, server: Some(server), ingest }
    }

    fn server(&self) -> &TestServer {
        self.server.as_ref().unwrap()
    }

    /// Keeps every change of the tenant from being written until the client commits.
    fn lock(&self) -> Client {
        let url = self.database.url();
        self.server().block_on(async move {
            let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
            tokio::spawn(connection);
            client.batch_execute("BEGIN; SELECT 1 FROM heads FOR UPDATE").await.unwrap();
            client
        })
    }

    fn waits_for_the_lock(&self, locker: &Client) -> bool {
        let blocked = "SELECT count(*) FROM pg_stat_activity
                       WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let row = self.server().block_on(locker.query_one(blocked, &[])).unwrap();
        row.get::<_, i64>(0) > 0
    }

    /// Sends one line and does not wait for the response.
    fn start(&self, id: &str, name: &str, headers: &str) -> RawConnection {
        let body = ndjson(&[bank(id, name)]);
        let length = body.len();
        let mut raw = self
            .ingest
            .raw(&format!("content-type: application/x-ndjson\r\ncontent-length: {length}\r\n{headers}"));
        raw.send(body.as_bytes());
        raw
    }

    fn wait_for_queue(&self, length: u64) {
        let queued = || metric(self.server().operator_url(), "aldaba_store_queued");
        wait_for("the queue", || (queued() == length).then_some(()));
    }
}

impl Drop for HeldUp {
    fn drop(&mut self) {
        drop(self.server.take());
    }
}

#[test]
fn changes_of_a_client_that_is_gone_are_not_applied() {
    let held_up = HeldUp::new();
    let locker = held_up.lock();
    let first = held_up.start("1", "first", "");
    wait_for("the first to wait for the lock", || held_up.waits_for_the_lock(&locker).then_some(()));
    let second = held_up.start("2", "of a client that gives up", "");
    held_up.wait_for_queue(1);
    let url = held_up.server().operator_url();
    let connections = || metric(url, "aldaba_http_connections{side=\"operator\"}");
    let before = connections();
    drop(second);
    wait_for("the end of the connection", || (connections() < before).then_some(()));
    held_up.server().block_on(locker.batch_execute("COMMIT")).unwrap();
    assert_eq!(first.response().unwrap().status, 200);
    assert_eq!(held_up.ingest.send_lines(&[bank("3", "newer")]).head(), 3, "the second took no sequence");
}

#[test]
fn changes_that_waited_too_long_are_refused_unless_they_have_a_key() {
    let held_up = HeldUp::new();
    let locker = held_up.lock();
    let unkeyed = held_up.start("1", "late", "");
    wait_for("it to wait for the lock", || held_up.waits_for_the_lock(&locker).then_some(()));
    let keyed = held_up.start("2", "late", "idempotency-key: import 7\r\n");
    held_up.wait_for_queue(1);
    held_up.clock.advance(Duration::from_secs(6));
    held_up.server().block_on(locker.batch_execute("COMMIT")).unwrap();
    let refused = unkeyed.response().unwrap();
    let message = refused.problem(503);
    assert!(message.contains("waited too long") && message.contains("Idempotency-Key"), "{message}");
    assert_eq!(refused.problem_code(), "store_busy");
    assert_eq!(refused.headers["retry-after"], "5");
    assert_eq!(keyed.response().unwrap().status, 200);
    assert_eq!(held_up.ingest.send_lines(&[bank("3", "newer")]).head(), 3, "the one with a key was applied");
}
