//! The two schemas mean the same: tables, columns, types, keys and indexes, read from both catalogues.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;
use store::archive::{ColumnType as Type, TABLES};
use tokio_postgres::Client;

use crate::suite::database::connect;
use crate::suite::stage::{Kind, Stage};

/// What a table is, in words that both databases share.
#[derive(Debug, Default, PartialEq, Eq)]
struct Shape {
    /// Name, type, whether it may be null, default; in order.
    columns: Vec<(String, &'static str, bool, Option<String>)>,
    key: Vec<String>,
    /// By name: columns, whether unique.
    indexes: BTreeMap<String, (Vec<String>, bool)>,
}

type Schema = BTreeMap<String, Shape>;

fn texts(connection: &Connection, sql: &str, name: &str) -> Vec<String> {
    let mut found = connection.prepare(sql).unwrap();
    let rows = found.query_map([name], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn of_sqlite(connection: &Connection) -> Schema {
    let tables = texts(
        connection,
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE ?1",
        "sqlite_%",
    );
    tables.into_iter().map(|table| (table.clone(), shape_in_sqlite(connection, &table))).collect()
}

fn shape_in_sqlite(connection: &Connection, table: &str) -> Shape {
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
    let columns_of =
        |index: &str| texts(connection, "SELECT name FROM pragma_index_info(?1) ORDER BY seqno", index);
    Shape {
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

/// A column of an index, in whichever way it is written there (`0006_ways_into_the_log`).
fn plain(column: &str) -> &str {
    let inner = column.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(column);
    inner.strip_suffix(" + 0").or_else(|| inner.strip_suffix(" - 0")).unwrap_or(inner)
}

async fn of_postgres(client: &Client) -> Schema {
    let mut schema = Schema::new();
    for row in client.query(COLUMNS, &[]).await.unwrap() {
        let (table, column): (String, String) = (row.get(0), row.get(1));
        let kind = match (row.get::<_, &str>(2), row.get::<_, Option<&str>>(3)) {
            ("bigint", None) => "whole number",
            ("text", Some("C")) => "text",
            ("bytea", None) => "bytes",
            other => panic!("{table}.{column} is {other:?}"),
        };
        // PostgreSQL says of a text that it is one.
        let default: Option<String> = row.get(5);
        let default = default.map(|value| value.strip_suffix("::text").map(str::to_owned).unwrap_or(value));
        schema.entry(table).or_default().columns.push((column, kind, row.get(4), default));
    }
    for row in client.query(INDEXES, &[]).await.unwrap() {
        let (table, index): (String, String) = (row.get(0), row.get(1));
        let (unique, primary, columns): (bool, bool, Vec<String>) = (row.get(2), row.get(3), row.get(4));
        let columns = columns.iter().map(|column| plain(column).to_owned()).collect();
        let shape = schema.entry(table).or_default();
        if primary {
            shape.key = columns;
        } else {
            shape.indexes.insert(index, (columns, unique));
        }
    }
    schema
}

#[tokio::test(flavor = "multi_thread")]
async fn both_schemas_mean_the_same() {
    let (file, server) = (Stage::set(Kind::Sqlite).await, Stage::set(Kind::Postgres).await);
    let mut sqlite = of_sqlite(&Connection::open(file.file()).unwrap());
    let mut postgres = of_postgres(&connect(&server.url()).await).await;
    // SQLite counts its migrations in the file's head.
    postgres.remove("schema_migrations").expect("PostgreSQL counts its migrations in a table");
    // It alone numbers the rows of records, by their places; what that replaces is the key.
    sqlite.remove("places").expect("SQLite numbers places");
    let records = sqlite.get_mut("records").unwrap();
    assert_eq!((records.columns.remove(0).0.as_str(), records.key.join(" ").as_str()), ("row", "row"));
    records.key.clone_from(&postgres["records"].key);
    let names = |schema: &Schema| schema.keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(names(&sqlite), names(&postgres));
    for (table, shape) in &sqlite {
        assert_eq!(*shape, postgres[table], "{table}");
    }

    let mut listed: BTreeSet<String> = TABLES.iter().map(|table| table.name.to_owned()).collect();
    // Who works on what is agreed anew.
    listed.insert("shard_leases".into());
    assert_eq!(names(&sqlite), listed);
    for table in &TABLES {
        let shape = &sqlite[table.name];
        let columns: Vec<_> = table.columns().map(|(name, kind)| (name, words(kind))).collect();
        let found: Vec<_> = shape.columns.iter().map(|(name, kind, ..)| (name.as_str(), *kind)).collect();
        assert_eq!(found, columns, "{}", table.name);
        assert_eq!(shape.key.join(", "), table.key, "{}", table.name);
    }
}

fn words(kind: Type) -> &'static str {
    match kind {
        Type::Int => "whole number",
        Type::Text => "text",
        Type::Bytes => "bytes",
    }
}
