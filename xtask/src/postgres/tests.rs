//! Tests with a real server: start, restart, stop and clean-up.

use super::*;

/// The result of one statement, as text.
fn query(cluster: &Cluster, statement: &str) -> String {
    let psql = cluster.program("psql").args(["-Atqc", statement]).arg(cluster.url()).output().unwrap();
    assert!(psql.status.success(), "{}", String::from_utf8_lossy(&psql.stderr));
    String::from_utf8(psql.stdout).unwrap().trim().to_owned()
}

/// Starts a server; installs PostgreSQL if it is missing.
fn start(settings: Settings) -> Cluster {
    Cluster::start(settings).unwrap()
}

#[test]
fn server_starts_restarts_and_stops() {
    let cluster = start(Settings::default());
    let folder = cluster.folder.path().to_path_buf();
    assert_eq!(query(&cluster, "show server_encoding"), "UTF8");
    assert_eq!(query(&cluster, "show fsync"), "off");
    assert_eq!(query(&cluster, "show max_connections"), "200");
    assert_eq!(query(&cluster, "show listen_addresses"), "127.0.0.1");
    query(&cluster, "create table sample as select 7 as number");

    let started = query(&cluster, "select pg_postmaster_start_time()");
    cluster.restart().unwrap();
    assert_ne!(query(&cluster, "select pg_postmaster_start_time()"), started);
    assert_eq!(query(&cluster, "select number from sample"), "7");

    let address = format!("127.0.0.1:{}", cluster.port);
    cluster.stop().unwrap();
    assert!(!folder.exists());
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[test]
fn two_servers_run_at_once_and_a_dropped_one_stops() {
    let durable = start(Settings { durable: true });
    let other = start(Settings::default());
    assert_ne!(durable.url(), other.url());
    assert_eq!(query(&durable, "show fsync"), "on");
    let folder = durable.folder.path().to_path_buf();
    drop(durable);
    assert!(!folder.exists());
    assert_eq!(query(&other, "select 1"), "1");
}

#[test]
fn failed_restart_is_reported() {
    let cluster = start(Settings::default());
    cluster.configure("max_connections = 'plenty'\n").unwrap();
    let reason = cluster.restart().unwrap_err();
    assert!(reason.contains("pg_ctl"), "{reason}");
}
