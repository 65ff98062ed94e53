//! Database outage: cached pages are not served beyond their freshness limit, and reads recover with the database.

use super::payroll::line;
use crate::harness::{
    ApiFixture, Database, DatabaseProxy, EmbeddedServer, Installation, SubscriptionKeys,
    assert_within_seconds, charge, company, encode_form, wait_for,
};

const CHARGES: &str = "/accounting/api/charges";

#[test]
fn cached_pages_are_not_served_during_a_database_outage() {
    let database = Database::create();
    let proxy = DatabaseProxy::to(&database.url());
    let server = EmbeddedServer::start(Installation::with_store(proxy.url()), &["gateway.rate_per_minute=0"]);
    let api = ApiFixture::on(&server, &SubscriptionKeys::new(&server, &[]));
    api.ingest.send_lines(&[company("c"), charge("c", "x", 1), line(7, "Bar", "", "")]);
    let filtered = format!("/payroll/api/companies?{}", encode_form(&[("filter", "companyCode eq 7")]));
    let paths = [CHARGES, "/accounting/api/charges/x", &filtered, "/accounting/api/companies"];
    let statuses = || paths.map(|path| api.get_for_company("c", path).send().status);
    let bodies = || paths.map(|path| api.read_for_company("c", path).body);
    let before = bodies();
    for _ in 0..2 {
        assert_eq!(statuses(), [200; 4], "all pages are cached");
        proxy.disconnect();
        assert_within_seconds(1, "cached pages to be refused", || statuses() == [503; 4]);
        for _ in 0..20 {
            assert_eq!(statuses(), [503; 4], "reads stay refused");
        }
        let refused = api.get_for_company("c", CHARGES).header("if-none-match", "*").send();
        refused.problem(503);
        assert_eq!(refused.header("retry-after"), "5");
        proxy.restore();
        wait_for("reads to recover", || (statuses() == [200; 4]).then_some(()));
        assert_eq!(bodies(), before);
    }
    api.ingest.send_lines(&[charge("c", "x", 2)]);
    assert_ne!(bodies(), before, "changes are visible again");
    server.assert_healthy();
}
