//! The network swallows packets between the store and PostgreSQL: connections are dead, but nobody says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use domain::TenantId;
use store::postgres::PostgresStore;
use store::{LeaseRenewal, Store};
use testkit::SeededRandom;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep, timeout};

use super::postgres_cluster::Cluster;
use crate::suite::fixture::{by, master_key, new_tenant, ports, test_clock};
use crate::suite::postgres_database::connect;
use crate::suite::webhook_fixtures::{LEASE, guid};

const CONNECTIONS: usize = 8;
/// How long after the network, or after a new primary, the store has to work again.
const BACK_AFTER_NETWORK_MAX: Duration = Duration::from_secs(3);
const BACK_AFTER_PROMOTION_MAX: Duration = Duration::from_secs(5);
const OUTAGE: Duration = Duration::from_secs(6);

/// Forwards connections to a port, and swallows all bytes while told to.
struct Proxy {
    port: u16,
    swallows: Arc<AtomicBool>,
}

impl Proxy {
    async fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (port, swallows) = (listener.local_addr().unwrap().port(), Arc::new(AtomicBool::new(false)));
        let swallowing = swallows.clone();
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let Ok(far) = TcpStream::connect(("127.0.0.1", server)).await else { continue };
                let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
                tokio::spawn(forward(near_in, far_out, swallowing.clone()));
                tokio::spawn(forward(far_in, near_out, swallowing.clone()));
            }
        });
        Self { port, swallows }
    }

    fn swallow(&self, swallows: bool) {
        self.swallows.store(swallows, Ordering::Relaxed);
    }
}

async fn forward(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, swallows: Arc<AtomicBool>) {
    let mut buffer = vec![0; 65536];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        if !swallows.load(Ordering::Relaxed) && to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}

struct Service {
    store: Arc<dyn Store>,
    tenant: TenantId,
}

impl Service {
    async fn open(url: &str) -> Self {
        let (clock, random) = (Arc::new(test_clock()), Arc::new(SeededRandom::new(1)));
        let ports = ports(&clock, &random, &master_key());
        let tenant = new_tenant("t", ports.clock.now());
        let store: Arc<dyn Store> = Arc::new(PostgresStore::open(url, CONNECTIONS, ports).await.unwrap());
        store.add_tenant(&tenant, &by()).await.unwrap();
        // As a node does, which also listens for notifications.
        store.renew_shard_leases(&LeaseRenewal::new(guid(1), LEASE)).await.unwrap();
        let service = Self { store, tenant: tenant.id };
        for _ in 0..2 * CONNECTIONS {
            service.keep_asking();
        }
        service
    }

    /// Requests that never pause, so that every connection has a statement under way when the network fails.
    fn keep_asking(&self) {
        let (store, tenant) = (self.store.clone(), self.tenant.clone());
        tokio::spawn(async move {
            loop {
                let _ = store.find_tenant(&tenant).await;
                sleep(Duration::from_millis(5)).await;
            }
        });
    }

    /// How long until the store reads and writes again, on several connections at once.
    #[allow(clippy::print_stderr, reason = "`cargo xtask prove outages` shows it")]
    async fn recovers_within(&self, limit: Duration, what: &str) -> Duration {
        let since = Instant::now();
        let works = async {
            while self.store.renew_shard_leases(&LeaseRenewal::new(guid(1), LEASE)).await.is_err() {}
            while self.store.health().await.is_err() {}
        };
        let recovered = timeout(Duration::from_secs(60), works).await;
        let after = since.elapsed();
        eprintln!("{what}: back after {:.1} s", after.as_secs_f32());
        assert!(recovered.is_ok() && after < limit, "{what}: back after {after:?}");
        let reads = (0..CONNECTIONS).map(|_| {
            let (store, tenant) = (self.store.clone(), self.tenant.clone());
            tokio::spawn(async move { timeout(limit, store.find_tenant(&tenant)).await })
        });
        for read in reads.collect::<Vec<_>>() {
            assert!(matches!(read.await, Ok(Ok(Ok(Some(_))))), "{what}: every connection works again");
        }
        after
    }
}

fn outage() -> Duration {
    let seconds = std::env::var("ALDABA_TEST_OUTAGE_SECONDS").ok();
    seconds.map_or(OUTAGE, |seconds| Duration::from_secs(seconds.parse().unwrap()))
}

#[tokio::test(flavor = "multi_thread")]
async fn store_works_again_soon_after_the_network_does() {
    let cluster = Cluster::start();
    let proxy = Proxy::to(cluster.port()).await;
    let service = Service::open(&format!("postgres://aldaba@127.0.0.1:{}/postgres", proxy.port)).await;
    for round in 0..2 {
        proxy.swallow(true);
        let unanswered = timeout(Duration::from_secs(1), service.store.find_tenant(&service.tenant)).await;
        assert!(unanswered.is_err(), "round {round}: {unanswered:?}");
        sleep(outage()).await;
        proxy.swallow(false);
        service.recovers_within(BACK_AFTER_NETWORK_MAX, "dropped packets").await;
    }
    service.store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn store_finds_the_new_primary() {
    let primary = Cluster::start();
    let standby = primary.start_standby();
    let (first, second) = (Proxy::to(primary.port()).await, Proxy::to(standby.port()).await);
    let url = format!("postgres://aldaba@127.0.0.1:{},127.0.0.1:{}/postgres", second.port, first.port);
    let service = Service::open(&url).await;
    let copied = async {
        let server = connect(&standby.url()).await;
        while server
            .query("SELECT 1 FROM tenants WHERE id = $1", &[&"t"])
            .await
            .is_ok_and(|rows| rows.is_empty())
        {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(Duration::from_secs(20), copied).await.expect("the standby follows");
    // The primary loses its power.
    first.swallow(true);
    sleep(outage()).await;
    assert!(service.store.health().await.is_err(), "a standby takes no writes");
    standby.promote();
    service.recovers_within(BACK_AFTER_PROMOTION_MAX, "new primary").await;
    service.store.close().await;
}

/// A server that accepts connections and never answers, as a host does whose database hangs.
#[tokio::test(flavor = "multi_thread")]
async fn host_that_never_answers_is_reported_in_time() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("postgres://aldaba@{}/postgres", silent.local_addr().unwrap());
    let since = Instant::now();
    let ports = ports(&Arc::new(test_clock()), &Arc::new(SeededRandom::new(1)), &master_key());
    let error = PostgresStore::open(&url, 1, ports).await.unwrap_err().to_string();
    assert!(error.contains("no answer within 2 s"), "{error}");
    assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
}
