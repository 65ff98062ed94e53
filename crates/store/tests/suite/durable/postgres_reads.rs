//! Counts of reads in PostgreSQL while their rows expire.

use store::ReadQuery;

use crate::suite::fixture::{Fixture, StoreKind};
use crate::suite::postgres_database::connect;
use crate::suite::reads::reads;

/// The trigger leaves out the first, empty row of a company, as if it had expired before it was locked.
const EXPIRES_AT_ONCE: &str = "CREATE FUNCTION expire() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NEW.company = 'c1' AND NEW.hours = ''::bytea THEN RETURN NULL; END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER expires_at_once BEFORE INSERT ON reads FOR EACH ROW EXECUTE FUNCTION expire()";

#[tokio::test]
async fn row_that_expires_meanwhile_moves_no_counts() {
    let fixture = Fixture::open(StoreKind::Postgres).await;
    let tenant = fixture.add_tenant().await.id;
    let count = |company, number| reads(&tenant, "app", "journals", Some(company), 8, number);
    fixture.store.add_reads(&[count("c0", 1), count("c2", 4), count("c3", 8)]).await.unwrap();
    connect(&fixture.url()).await.batch_execute(EXPIRES_AT_ONCE).await.unwrap();
    let all = [count("c0", 100), count("c1", 200), count("c2", 400), count("c3", 800)];
    fixture.store.add_reads(&all).await.unwrap();
    let page = fixture.store.list_reads(&ReadQuery::of(tenant.clone())).await.unwrap();
    let mut totals: Vec<_> =
        page.rows.iter().map(|row| (row.company.as_deref().unwrap_or_default(), row.total())).collect();
    totals.sort_unstable();
    assert_eq!(totals, [("c0", 101), ("c1", 200), ("c2", 404), ("c3", 808)]);
}
