//! The database goes away: pages are not given from memory for longer than they may be, and come back with it.

use super::payroll::line;
use crate::harness::{
    ApiFixture, Database, DatabaseProxy, Installation, ServeProcess, SubscriptionKeys, assert_within_seconds,
    charge, company, encode_form, wait_for,
};

const CHARGES: &str = "/accounting/api/charges";

#[test]
fn no_page_outlasts_its_database() {
    let database = Database::create();
    let proxy = DatabaseProxy::to(&database.url());
    let server =
        ServeProcess::start(Installation::with_store(proxy.url()), &["--set", "gateway.rate_per_minute=0"]);
    let api = ApiFixture::on(&server, &SubscriptionKeys::new(&server, &[]));
    api.ingest.send_lines(&[company("c"), charge("c", "x", 1), line(7, "Bar", "", "")]);
    let filtered = format!("/payroll/api/companies?{}", encode_form(&[("filter", "companyCode eq 7")]));
    let paths = [CHARGES, "/accounting/api/charges/x", &filtered, "/accounting/api/companies"];
    let statuses = || paths.map(|path| api.get_for_company("c", path).send().status);
    let bodies = || paths.map(|path| api.read_for_company("c", path).body);
    let before = bodies();
    for _ in 0..2 {
        assert_eq!(statuses(), [200; 4], "all are hot");
        proxy.disconnect();
        assert_within_seconds(1, "what is kept to be given no more", || statuses() == [503; 4]);
        for _ in 0..20 {
            assert_eq!(statuses(), [503; 4], "and it stays so");
        }
        let refused = api.get_for_company("c", CHARGES).header("if-none-match", "*").send();
        refused.problem(503);
        assert_eq!(refused.header("retry-after"), "5");
        proxy.restore();
        wait_for("the pages to come back", || (statuses() == [200; 4]).then_some(()));
        assert_eq!(bodies(), before);
    }
    api.ingest.send_lines(&[charge("c", "x", 2)]);
    assert_ne!(bodies(), before, "and they move again");
    server.assert_healthy();
}
