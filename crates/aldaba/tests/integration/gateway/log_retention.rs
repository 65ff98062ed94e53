//! The log is kept for its time: who asks for what is gone is told where the feed begins, and how to go on.

use serde_json::json;

use crate::harness::{
    ApiFixture, Installation, ServeProcess, SubscriptionKeys, bank, column, company, customer, items,
    wait_for,
};

const CUSTOMERS: &str = "/accounting/api/customers";

/// A server that keeps its log for a moment.
fn forgetful() -> ServeProcess {
    let settings = ["gateway.rate_per_minute=0", "retention.log=1s", "retention.every=1s"];
    ServeProcess::start(Installation::new(), &settings.map(|setting| ["--set", setting]).concat())
}

#[test]
fn below_the_floor_is_410_and_the_list_leads_back() {
    let server = forgetful();
    let api = ApiFixture::on(&server, &SubscriptionKeys::new(&server, &[]));
    api.ingest.send_lines(&[
        company("c"),
        customer("c", "u", "Bar"),
        customer("c", "v", "Casa"),
        bank("b", "Caja"),
    ]);
    let after =
        |path: &str, number: u64| api.get_for_company("c", &format!("{path}/changes?after={number}")).send();
    let refused = wait_for("the log to be pruned", || {
        Some(after(CUSTOMERS, 0)).filter(|response| response.status == 410)
    });
    let message = refused.problem(410);
    assert!(message.contains("the feed begins after 4."), "{message}");
    assert_eq!(refused.json()["errors"][0]["field"], json!("after"));
    assert_eq!(refused.problem_code(), "below_floor");
    for number in [1, 2, 3] {
        assert_eq!(after(CUSTOMERS, number).problem(410), message);
    }
    assert_eq!(after("/accounting/api/companies", 0).problem(410), message);
    let invoicing = |number: u64| api.get(&format!("/invoicing/api/changes?after={number}")).send();
    assert_eq!(invoicing(3).problem(410), message);
    assert_eq!(
        items(&invoicing(4)).len() + items(&after(CUSTOMERS, 4)).len(),
        0,
        "at the floor nothing is missing"
    );
    let known = api.get_for_company("c", &format!("{CUSTOMERS}/changes")).header("if-none-match", "*").send();
    known.problem(410);
    // The records are there all the same, and their list says where to go on.
    let list = api.read_for_company("c", CUSTOMERS);
    assert_eq!(
        (column(&list, "correlationId"), list.header("x-sequence-version")),
        (vec!["u".into(), "v".into()], "4")
    );
    let mut number = 0;
    let told = wait_for("a change that is told before it is forgotten", || {
        number += 1;
        let position: u64 =
            api.read_for_company("c", CUSTOMERS).header("x-sequence-version").parse().unwrap();
        let id = format!("w{number}");
        api.ingest.send_lines(&[customer("c", &id, "Nueva")]);
        let response = after(CUSTOMERS, position);
        if response.status == 410 {
            return None;
        }
        assert_eq!(column(&response, "correlationId"), [id]);
        Some(response)
    });
    assert_eq!(items(&told).len(), 1);
    server.assert_healthy();
}
