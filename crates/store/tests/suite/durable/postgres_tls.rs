//! TLS to a real PostgreSQL server: whose certificate is accepted, and what is said of one that is not.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use store::postgres::PostgresStore;
use store::{Result, Store, StoreError};
use testkit::SeededRandom;

use super::postgres_cluster::Cluster;
use crate::suite::fixture::{master_key, ports, test_clock};
use crate::suite::postgres_database::connect;

/// A certificate authority, with its certificate in a file.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    file: tempfile::NamedTempFile,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), params.self_signed(&key).unwrap().pem()).unwrap();
        Self { issuer: Issuer::new(params, key), file }
    }

    /// A server whose certificate has this name.
    fn server(&self, name: &str) -> Cluster {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new([name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Cluster::start_with_tls(&certificate.pem(), &key.serialize_pem())
    }

    fn parameters(&self, mode: &str) -> String {
        format!("?sslmode={mode}&sslrootcert={}", self.file.path().display())
    }
}

async fn open(url: &str) -> Result<Arc<dyn Store>> {
    let (clock, random) = (Arc::new(test_clock()), Arc::new(SeededRandom::new(1)));
    let store = PostgresStore::open(url, 2, ports(&clock, &random, &master_key())).await?;
    Ok(Arc::new(store))
}

/// Opening the store fails, and the message has all of these words.
async fn assert_refused(url: &str, words: &[&str]) {
    for answer in [open(url).await.map(drop), PostgresStore::schema_of(url).await.map(drop)] {
        let Err(StoreError::Unavailable(message)) = answer else { panic!("{url}: {answer:?}") };
        assert!(words.iter().all(|word| message.contains(word)), "{url}: {message}");
    }
}

/// How many of the other connections of this server use TLS, and how many do not.
async fn connections(cluster: &Cluster) -> (i64, i64) {
    let query = "SELECT count(*) FILTER (WHERE ssl), count(*) FILTER (WHERE NOT ssl)
        FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'aldaba'";
    let row = connect(&cluster.url()).await.query_one(query, &[]).await.unwrap();
    (row.get(0), row.get(1))
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_certificate_is_verified() {
    let (ours, others) = (Authority::new(), Authority::new());
    let cluster = ours.server("localhost");
    for mode in ["verify-full", "verify-ca", "require"] {
        let store = open(&cluster.url_with("localhost", &ours.parameters(mode))).await.unwrap();
        store.health().await.unwrap();
        let (encrypted, plain) = connections(&cluster).await;
        assert!(encrypted > 0 && plain == 0, "{mode}: {encrypted} encrypted, {plain} not");
        store.close().await;

        let unknown_issuer = ["invalid peer certificate", "sslrootcert=/path/ca.pem"];
        assert_refused(&cluster.url_with("localhost", &others.parameters(mode)), &unknown_issuer).await;
        // The machine's authorities did not sign it either.
        assert_refused(&cluster.url_with("localhost", &format!("?sslmode={mode}")), &unknown_issuer).await;
        let wrong_name = ["invalid peer certificate", "a host name that the certificate contains"];
        assert_refused(&cluster.url_with("127.0.0.1", &ours.parameters(mode)), &wrong_name).await;
    }
    let store = open(&cluster.url()).await.unwrap();
    assert_eq!(connections(&cluster).await.0, 0, "on loopback TLS is used only where the URL asks for it");
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_without_tls_is_refused_where_tls_is_required() {
    let cluster = Cluster::start();
    for mode in ["require", "verify-ca", "verify-full"] {
        let url = cluster.url_with("127.0.0.1", &format!("?sslmode={mode}"));
        let words = ["server does not support TLS", "sslmode=disable", "sslmode=prefer", "store.url"];
        assert_refused(&url, &words).await;
    }
    for mode in ["prefer", "disable"] {
        let url = cluster.url_with("127.0.0.1", &format!("?sslmode={mode}"));
        open(&url).await.unwrap().close().await;
    }
}
