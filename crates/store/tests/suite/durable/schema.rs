//! Compares the two schemas: tables, columns, types, keys and indexes, read from both databases' catalogues.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;
use store::archive::{ColumnType as Type, NOT_ARCHIVED, TABLES};
use tokio_postgres::Client;

use crate::suite::fixture::{Fixture, StoreKind};
use crate::suite::postgres_database::connect;

/// A table's schema, with type names that both databases share.
#[derive(Debug, Default, PartialEq, Eq)]
struct TableSchema {
    /// Name, type, whether it may be null, and default; in order.
    columns: Vec<(String, &'static str, bool, Option<String>)>,
    key: Vec<String>,
    /// By name: columns, whether unique.
    indexes: BTreeMap<String, (Vec<String>, bool)>,
}

type Schema = BTreeMap<String, TableSchema>;

fn texts(connection: &Connection, sql: &str, name: &str) -> Vec<String> {
    let mut found = connection.prepare(sql).unwrap();
    let rows = found.query_map([name], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn sqlite_schema(connection: &Connection) -> Schema {
    let tables = texts(
        connection,
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE ?1",
        "sqlite_%",
    );
    tables.into_iter().map(|table| (table.clone(), sqlite_table(connection, &table))).collect()
}

fn sqlite_table(connection: &Connection, table: &str) -> TableSchema {
    let mut info = connection
        .prepare("SELECT name, type, \"notnull\", dflt_value FROM pragma_table_info(?1) ORDER BY cid")
        .unwrap();
    let columns = info.query_map([table], |row| {
        let kind = match row.get::<_, String>(1)?.as_str() {
            "INTEGER" => "whole number",
            "TEXT" => "text",
            "BLOB" => "bytes",
            other => panic!("{table} has a column of type {other}"),
        };
        Ok((row.get(0)?, kind, row.get::<_, i64>(2)? == 0, row.get(3)?))
    });
    let key = "SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk";
    let mut listed =
        connection.prepare("SELECT name, \"unique\" FROM pragma_index_list(?1) WHERE origin = 'c'").unwrap();
    let indexes = listed.query_map([table], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)? == 1)));
    let columns_of = |index: &str| {
        texts(
            connection,
            "SELECT coalesce(name, 'expression') FROM pragma_index_info(?1) ORDER BY seqno",
            index,
        )
    };
    TableSchema {
        columns: columns.unwrap().map(Result::unwrap).collect(),
        key: texts(connection, key, table),
        indexes: indexes
            .unwrap()
            .map(Result::unwrap)
            .map(|(index, unique)| (index.clone(), (columns_of(&index), unique)))
            .collect(),
    }
}

const COLUMNS: &str =
    "SELECT table_name::text, column_name::text, data_type::text, collation_name::text, is_nullable = 'YES',
        column_default::text FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, ordinal_position";
const INDEXES: &str = "SELECT t.relname::text, i.relname::text, x.indisunique, x.indisprimary,
        array(SELECT pg_get_indexdef(x.indexrelid, at, true) FROM generate_series(1, x.indnkeyatts) AS at)
    FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
    JOIN pg_namespace n ON n.oid = t.relnamespace WHERE n.nspname = 'public'";

/// The column of an index expression such as `(column + 0)` (`0006_ways_into_the_log`) or `(column || '')`
/// (`0024_page_indexes`); other expressions count as equal.
fn plain_column(column: &str) -> &str {
    let inner = column.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(column);
    let plain =
        [" + 0", " - 0", " || ''::text"].iter().find_map(|end| inner.strip_suffix(end)).unwrap_or(inner);
    if plain.contains(|c: char| !c.is_alphanumeric() && c != '_') { "expression" } else { plain }
}

async fn postgres_schema(client: &Client) -> Schema {
    let mut schema = Schema::new();
    for row in client.query(COLUMNS, &[]).await.unwrap() {
        let (table, column): (String, String) = (row.get(0), row.get(1));
        let kind = match (row.get::<_, &str>(2), row.get::<_, Option<&str>>(3)) {
            ("bigint", None) => "whole number",
            ("text", Some("C")) => "text",
            ("bytea", None) => "bytes",
            other => panic!("{table}.{column} is {other:?}"),
        };
        // PostgreSQL adds the type to a default of text or bytes.
        let default: Option<String> = row.get(5);
        let default = default.map(|value| match value.as_str() {
            r"'\x'::bytea" => "x''".to_owned(),
            value => value.strip_suffix("::text").unwrap_or(value).to_owned(),
        });
        schema.entry(table).or_default().columns.push((column, kind, row.get(4), default));
    }
    for row in client.query(INDEXES, &[]).await.unwrap() {
        let (table, index): (String, String) = (row.get(0), row.get(1));
        let (unique, primary, columns): (bool, bool, Vec<String>) = (row.get(2), row.get(3), row.get(4));
        let columns = columns.iter().map(|column| plain_column(column).to_owned()).collect();
        let table_schema = schema.entry(table).or_default();
        if primary {
            table_schema.key = columns;
        } else {
            table_schema.indexes.insert(index, (columns, unique));
        }
    }
    schema
}

#[tokio::test(flavor = "multi_thread")]
async fn both_schemas_are_equivalent() {
    let (file, server) = (Fixture::open(StoreKind::Sqlite).await, Fixture::open(StoreKind::Postgres).await);
    let mut sqlite = sqlite_schema(&Connection::open(file.file()).unwrap());
    let mut postgres = postgres_schema(&connect(&server.url()).await).await;
    // SQLite stores its schema version in the file header.
    postgres.remove("schema_migrations").expect("PostgreSQL lists its migrations in a table");
    // In SQLite a lock decides who holds the leases.
    postgres.remove("lease_holders").expect("PostgreSQL has a table of lease holders");
    // Only SQLite has a table of places and an integer key of records instead of the composite key.
    sqlite.remove("places").expect("SQLite has a table of places");
    let records = sqlite.get_mut("records").unwrap();
    assert_eq!((records.columns.remove(0).0.as_str(), records.key.join(" ").as_str()), ("row", "row"));
    records.key.clone_from(&postgres["records"].key);
    let names = |schema: &Schema| schema.keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(names(&sqlite), names(&postgres));
    for (table, table_schema) in &sqlite {
        assert_eq!(*table_schema, postgres[table], "{table}");
    }

    let mut listed: BTreeSet<String> = TABLES.iter().map(|table| table.name.to_owned()).collect();
    listed.extend(NOT_ARCHIVED.map(str::to_owned));
    assert_eq!(names(&sqlite), listed);
    for table in &TABLES {
        let table_schema = &sqlite[table.name];
        let columns: Vec<_> = table.columns().map(|(name, kind)| (name, type_name(kind))).collect();
        let found: Vec<_> =
            table_schema.columns.iter().map(|(name, kind, ..)| (name.as_str(), *kind)).collect();
        assert_eq!(found, columns, "{}", table.name);
        assert_eq!(table_schema.key.join(", "), table.key, "{}", table.name);
    }
}

fn type_name(kind: Type) -> &'static str {
    match kind {
        Type::Int => "whole number",
        Type::Text => "text",
        Type::Bytes => "bytes",
    }
}
