//! A real server on this machine: it starts, comes back, goes, and leaves nothing behind.

use super::*;

/// One statement's answer, as text.
fn ask(cluster: &Cluster, statement: &str) -> String {
    let psql = cluster.program("psql").args(["-Atqc", statement]).arg(cluster.url()).output().unwrap();
    assert!(psql.status.success(), "{}", String::from_utf8_lossy(&psql.stderr));
    String::from_utf8(psql.stdout).unwrap().trim().to_owned()
}

/// Installs PostgreSQL where there is none, and fails where it cannot.
fn start(settings: Settings) -> Cluster {
    Cluster::start(settings).unwrap()
}

#[test]
fn a_server_starts_comes_back_and_goes() {
    let cluster = start(Settings::default());
    let folder = cluster.folder.path().to_path_buf();
    assert_eq!(ask(&cluster, "show server_encoding"), "UTF8");
    assert_eq!(ask(&cluster, "show fsync"), "off");
    assert_eq!(ask(&cluster, "show max_connections"), "200");
    assert_eq!(ask(&cluster, "show listen_addresses"), "127.0.0.1");
    ask(&cluster, "create table kept as select 7 as number");

    let started = ask(&cluster, "select pg_postmaster_start_time()");
    cluster.restart().unwrap();
    assert_ne!(ask(&cluster, "select pg_postmaster_start_time()"), started);
    assert_eq!(ask(&cluster, "select number from kept"), "7");

    let address = format!("127.0.0.1:{}", cluster.port);
    cluster.stop().unwrap();
    assert!(!folder.exists());
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[test]
fn two_servers_live_side_by_side_and_a_dropped_one_is_gone() {
    let durable = start(Settings { durable: true });
    let other = start(Settings::default());
    assert_ne!(durable.url(), other.url());
    assert_eq!(ask(&durable, "show fsync"), "on");
    let folder = durable.folder.path().to_path_buf();
    drop(durable);
    assert!(!folder.exists());
    assert_eq!(ask(&other, "select 1"), "1");
}

#[test]
fn a_server_that_cannot_come_back_says_so() {
    let cluster = start(Settings::default());
    cluster.configure("max_connections = 'plenty'\n").unwrap();
    let reason = cluster.restart().unwrap_err();
    assert!(reason.contains("pg_ctl"), "{reason}");
}
