//! PostgreSQL goes away and comes back while a store is open on it.

use std::sync::Arc;
use std::time::Duration;

use domain::{GrantId, Secret};
use store::postgres::PostgresStore;
use store::{Result, Store, StoreError};

use super::cluster::Cluster;
use crate::suite::codes::{chosen, code};
use crate::suite::database::connect;
use crate::suite::desk::{Desk, company, journal};
use crate::suite::stage::{FakeClock, Kind, SeededRandom, Stage, ports, tenant, the_key};

const COMES_BACK_WITHIN: Duration = Duration::from_secs(20);

fn assert_unavailable<T: std::fmt::Debug>(answer: &Result<T>) {
    assert!(matches!(answer, Err(StoreError::Unavailable(_))), "{answer:?}");
}

async fn until_it_is_well(store: &Arc<dyn Store>) {
    let well = async {
        while let Err(error) = store.health().await {
            assert_unavailable::<()>(&Err(error));
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(COMES_BACK_WITHIN, well).await.expect("the store did not come back");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_outlives_its_servers_restart() {
    let cluster = Cluster::start();
    let (clock, random) = (Arc::new(FakeClock::default()), Arc::new(SeededRandom::new(1)));
    let given = ports(&clock, &random, &the_key());
    let (now, a_code) = (given.clock.now(), Secret::new("code"));
    let store: Arc<dyn Store> =
        Arc::new(PostgresStore::open(&cluster.url(), 4, given.clone()).await.unwrap());
    let tenant = tenant("t", now);
    store.add_tenant(&tenant).await.unwrap();
    let desk = Desk::new(store.clone(), tenant.id.clone());
    desk.accept([company("c1")]).await;

    for round in 1..=2_u64 {
        cluster.down();
        assert_unavailable(&store.find_tenant(&tenant.id).await);
        assert_unavailable(&desk.try_send([journal("c1", "lost", "{}")]).await);
        assert_unavailable(&desk.try_send([journal("c1", "lost", "{}")]).await);
        assert_unavailable(&store.store_code(&a_code, &code(now), &chosen(), now).await);
        assert_unavailable(&store.find_grant(&GrantId::new("g")).await);
        assert_unavailable(&store.read_log(&desk.query(0, 10)).await);
        assert_unavailable(&store.purge(10).await);
        assert_unavailable(&store.health().await);
        assert_unavailable(&PostgresStore::open(&cluster.url(), 1, given.clone()).await);

        cluster.up();
        until_it_is_well(&store).await;
        let kept = journal("c1", &format!("j{round}"), "{}");
        assert_eq!(desk.accept([kept.clone()]).await.last_sequence, round + 1);
        assert!(desk.has(&kept).await && !desk.has(&journal("c1", "lost", "{}")).await);
    }
    assert_eq!(
        desk.told().await,
        ["1 companies c1 Created", "2 journals j1 Created", "3 journals j2 Created"]
    );
    store.close().await;
    assert_unavailable(&store.health().await);
}

/// A server whose disk is full says so with an error of its own.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_room_refuses_writes_and_goes_on_reading() {
    let stage = Stage::set(Kind::Postgres).await;
    let desk = stage.desk().await;
    desk.accept([company("c1")]).await;
    let server = connect(&stage.url()).await;
    let full = "CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;
        CREATE TRIGGER no_room BEFORE INSERT ON log EXECUTE FUNCTION no_room();";
    server.batch_execute(full).await.unwrap();
    let refused = desk.try_send([journal("c1", "j1", "{}")]).await;
    assert_eq!(refused, Err(StoreError::Full("could not extend file".into())));
    assert_eq!(desk.told().await, ["1 companies c1 Created"]);
    assert!(!desk.has(&journal("c1", "j1", "{}")).await);

    server.batch_execute("DROP TRIGGER no_room ON log").await.unwrap();
    assert_eq!(desk.accept([journal("c1", "j1", "{}")]).await.last_sequence, 2);
}
