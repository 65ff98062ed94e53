//! The database goes away: pages are not given from memory for longer than they may be, and come back with it.

use super::payroll::line;
use crate::harness::{
    Api, Database, Keys, Serve, Site, Wire, charge, company, encoded, until, within_seconds,
};

const CHARGES: &str = "/accounting/api/charges";

#[test]
fn no_page_outlasts_its_database() {
    let database = Database::create();
    let wire = Wire::to(&database.url());
    let serve = Serve::start(Site::over(wire.url()), &["--set", "gateway.rate_per_minute=0"]);
    let api = Api::on(&serve, &Keys::new(&serve, &[]));
    api.door.send_lines(&[company("c"), charge("c", "x", 1), line(7, "Bar", "", "")]);
    let filtered = format!("/payroll/api/companies?{}", encoded(&[("filter", "companyCode eq 7")]));
    let paths = [CHARGES, "/accounting/api/charges/x", &filtered, "/accounting/api/companies"];
    let statuses = || paths.map(|path| api.get_in("c", path).send().status);
    let bodies = || paths.map(|path| api.read_in("c", path).body);
    let before = bodies();
    for _ in 0..2 {
        assert_eq!(statuses(), [200; 4], "all are hot");
        wire.cut();
        within_seconds(1, "what is kept to be given no more", || statuses() == [503; 4]);
        for _ in 0..20 {
            assert_eq!(statuses(), [503; 4], "and it stays so");
        }
        let refused = api.get_in("c", CHARGES).header("if-none-match", "*").send();
        refused.problem(503);
        assert_eq!(refused.header("retry-after"), "5");
        wire.mend();
        until("the pages to come back", || (statuses() == [200; 4]).then_some(()));
        assert_eq!(bodies(), before);
    }
    api.door.send_lines(&[charge("c", "x", 2)]);
    assert_ne!(bodies(), before, "and they move again");
    serve.is_well();
}
