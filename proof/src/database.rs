//! A database of its own on a PostgreSQL server.

use std::net::SocketAddr;

use crate::{Fallible, Options};

#[derive(Debug)]
pub(crate) struct Database {
    pub(crate) url: String,
    admin: String,
    name: String,
}

impl Database {
    pub(crate) async fn create(options: &Options, scenario: &str) -> Fallible<Self> {
        let admin = options.postgres.clone().ok_or("--postgres is missing")?;
        let name = format!("aldaba_proof_{scenario}_{}", std::process::id());
        let base = admin.rsplit_once('/').map_or(admin.as_str(), |(base, _)| base);
        let url = format!("{base}/{name}");
        execute(&admin, &format!("CREATE DATABASE {name}")).await?;
        Ok(Self { url, admin, name })
    }

    /// The server's address, for a proxy.
    pub(crate) fn address(&self) -> String {
        let after_scheme = self.url.split_once("://").map_or(self.url.as_str(), |(_, rest)| rest);
        let host = after_scheme.split('/').next().unwrap_or_default();
        host.rsplit_once('@').map_or(host, |(_, host)| host).to_owned()
    }

    /// The url through a proxy at this address.
    pub(crate) fn through(&self, proxy: SocketAddr) -> String {
        self.url.replacen(&self.address(), &proxy.to_string(), 1)
    }

    pub(crate) async fn drop(self) -> Fallible<()> {
        execute(&self.admin, &format!("DROP DATABASE {} WITH (FORCE)", self.name)).await
    }
}

/// Runs statements on a server.
pub(crate) async fn execute(url: &str, sql: &str) -> Fallible<()> {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await?;
    let connection = tokio::spawn(connection);
    client.batch_execute(sql).await?;
    drop(client);
    Ok(connection.await??)
}
