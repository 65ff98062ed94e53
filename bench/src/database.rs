//! The store under measurement: a SQLite file, or a database on the PostgreSQL server.

use crate::{Fallible, Options};

/// The store under measurement.
pub(crate) struct Database {
    /// Empty for SQLite: the program creates its own file.
    pub(crate) url: String,
    admin: Option<String>,
}

impl Database {
    const NAME: &str = "aldaba_bench";

    pub(crate) async fn new(options: &Options) -> Fallible<Self> {
        if options.store == "sqlite" {
            return Ok(Self { url: String::new(), admin: None });
        }
        let admin = options.postgres.clone().ok_or("--postgres is missing")?;
        let base = admin.rsplit_once('/').map_or(admin.as_str(), |(base, _)| base);
        let url = format!("{base}/{}", Self::NAME);
        execute(&admin, &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", Self::NAME)).await?;
        execute(&admin, &format!("CREATE DATABASE {}", Self::NAME)).await?;
        Ok(Self { url, admin: Some(admin) })
    }

    pub(crate) fn is_postgres(&self) -> bool {
        self.admin.is_some()
    }

    pub(crate) async fn drop(self) -> Fallible<()> {
        match self.admin {
            Some(admin) => execute(&admin, &format!("DROP DATABASE {} WITH (FORCE)", Self::NAME)).await,
            None => Ok(()),
        }
    }
}

async fn execute(url: &str, sql: &str) -> Fallible<()> {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await?;
    let connection_task = tokio::spawn(connection);
    client.batch_execute(sql).await?;
    drop(client);
    Ok(connection_task.await??)
}
