//! The local copy: a SQLite file with the customers, the feed position of each company, the ids of processed deliveries,
//! and the tokens.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aldaba_client::api::{Customer, Snapshot};
use aldaba_client::receiver::{InboxStore, ReceivedEvent, RecordKey};
use aldaba_client::sign_in::{TokenStore, Tokens};
use aldaba_client::{Guid, async_trait};
use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::Value;

use crate::Failure;

const SCHEMA: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS customers (
        company TEXT NOT NULL, id TEXT NOT NULL, sequence INTEGER NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY (company, id)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS positions (company TEXT PRIMARY KEY, position INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS processed_deliveries (outgoing_id TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS tokens (id INTEGER PRIMARY KEY CHECK (id = 1), body TEXT NOT NULL);
";
/// Replaces a copied record only with a newer one.
const UPSERT: &str = "INSERT INTO customers (company, id, sequence, body) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (company, id) DO UPDATE SET sequence = excluded.sequence, body = excluded.body
    WHERE excluded.sequence > customers.sequence";
const SET_POSITION: &str = "INSERT INTO positions (company, position) VALUES (?1, ?2)
    ON CONFLICT (company) DO UPDATE SET position = excluded.position";

pub(crate) struct LocalCopy {
    connection: Mutex<Connection>,
}

impl LocalCopy {
    pub(crate) fn open(path: &str) -> Result<Self, Failure> {
        let connection = Connection::open(path)?;
        connection.execute_batch(SCHEMA)?;
        Ok(Self { connection: Mutex::new(connection) })
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn upsert(&self, company: &str, customer: &Customer) -> Result<(), Failure> {
        upsert(&self.connection(), company, customer)
    }

    pub(crate) fn remove(&self, company: &str, id: &str) -> Result<(), Failure> {
        self.connection().execute("DELETE FROM customers WHERE company = ?1 AND id = ?2", [company, id])?;
        Ok(())
    }

    /// The feed position of a company; `None` if there is no copy of it yet.
    pub(crate) fn position(&self, company: &str) -> Result<Option<u64>, Failure> {
        let connection = self.connection();
        let query = "SELECT position FROM positions WHERE company = ?1";
        let found: Option<i64> = connection.query_row(query, [company], |row| row.get(0)).optional()?;
        Ok(found.map(u64::try_from).transpose()?)
    }

    pub(crate) fn set_position(&self, company: &str, position: u64) -> Result<(), Failure> {
        self.connection().execute(SET_POSITION, params![company, i64::try_from(position)?])?;
        Ok(())
    }

    /// Replaces the customers and the position of a company with a snapshot, in one transaction.
    pub(crate) fn replace(&self, company: &str, snapshot: &Snapshot<Customer>) -> Result<(), Failure> {
        let mut connection = self.connection();
        let transaction = connection.transaction()?;
        transaction.execute("DELETE FROM customers WHERE company = ?1", [company])?;
        for customer in &snapshot.records {
            upsert(&transaction, company, customer)?;
        }
        transaction.execute(SET_POSITION, params![company, i64::try_from(snapshot.position)?])?;
        Ok(transaction.commit()?)
    }

    /// Deletes all other companies.
    pub(crate) fn retain_companies(&self, companies: &[String]) -> Result<(), Failure> {
        let mut connection = self.connection();
        let transaction = connection.transaction()?;
        for table in ["customers", "positions"] {
            let mut known = transaction.prepare(&format!("SELECT DISTINCT company FROM {table}"))?;
            let known: Vec<String> = known.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
            for removed in known.iter().filter(|known| !companies.contains(known)) {
                transaction.execute(&format!("DELETE FROM {table} WHERE company = ?1"), [removed])?;
            }
        }
        Ok(transaction.commit()?)
    }

    /// All customers, by company and id.
    pub(crate) fn all(&self) -> Result<BTreeMap<String, BTreeMap<String, Value>>, Failure> {
        let connection = self.connection();
        let mut query = connection.prepare("SELECT company, id, body FROM customers")?;
        let mut rows = query.query([])?;
        let mut all: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let body: String = row.get(2)?;
            all.entry(row.get(0)?).or_default().insert(row.get(1)?, serde_json::from_str(&body)?);
        }
        Ok(all)
    }

    pub(crate) fn tokens(self: &Arc<Self>) -> StoredTokens {
        StoredTokens(self.clone())
    }
}

fn upsert(connection: &Connection, company: &str, customer: &Customer) -> Result<(), Failure> {
    let sequence = i64::try_from(customer.sequence_version)?;
    let body = serde_json::to_string(customer)?;
    connection.execute(UPSERT, params![company, customer.correlation_id, sequence, body])?;
    Ok(())
}

/// The inbox store. The latest sequence of a record is that of its copy.
pub(crate) struct ProcessedDeliveries(pub(crate) Arc<LocalCopy>);

#[async_trait]
impl InboxStore for ProcessedDeliveries {
    async fn is_processed(&self, outgoing_id: Guid) -> Result<bool, Failure> {
        let query = "SELECT EXISTS (SELECT 1 FROM processed_deliveries WHERE outgoing_id = ?1)";
        Ok(self.0.connection().query_row(query, [outgoing_id.to_string()], |row| row.get(0))?)
    }

    async fn latest_sequence(&self, record: &RecordKey) -> Result<Option<u64>, Failure> {
        let connection = self.0.connection();
        let query = "SELECT sequence FROM customers WHERE company = ?1 AND id = ?2";
        let found = connection.query_row(query, [&record.company, &record.id], |row| row.get::<_, i64>(0));
        Ok(found.optional()?.map(u64::try_from).transpose()?)
    }

    async fn mark_processed(&self, event: &ReceivedEvent) -> Result<(), Failure> {
        if let Some(id) = event.outgoing_id {
            let insert = "INSERT OR IGNORE INTO processed_deliveries (outgoing_id) VALUES (?1)";
            self.0.connection().execute(insert, [id.to_string()])?;
        }
        Ok(())
    }
}

/// The tokens of the only user. A real application encrypts them.
pub(crate) struct StoredTokens(Arc<LocalCopy>);

#[async_trait]
impl TokenStore for StoredTokens {
    async fn load(&self) -> Result<Option<Tokens>, Failure> {
        let connection = self.0.connection();
        let found = connection.query_row("SELECT body FROM tokens", [], |row| row.get::<_, String>(0));
        Ok(found.optional()?.map(|body| serde_json::from_str(&body)).transpose()?)
    }

    async fn save(&self, tokens: &Tokens) -> Result<(), Failure> {
        let body = serde_json::to_string(tokens)?;
        self.0.connection().execute("INSERT OR REPLACE INTO tokens (id, body) VALUES (1, ?1)", [body])?;
        Ok(())
    }

    async fn clear(&self) -> Result<(), Failure> {
        self.0.connection().execute("DELETE FROM tokens", [])?;
        Ok(())
    }
}
