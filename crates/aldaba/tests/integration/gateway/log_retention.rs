//! Log retention: a feed request below the floor gets 410 with the floor's number, and the list gives the position
//! from which to continue.

use serde_json::json;

use crate::harness::{
    ApiFixture, EmbeddedServer, Installation, SubscriptionKeys, bank, column, company, customer, items,
    wait_for,
};

const CUSTOMERS: &str = "/accounting/api/customers";

/// A server that prunes its log after one second.
fn short_retention_server() -> EmbeddedServer {
    let settings = ["gateway.rate_per_minute=0", "retention.log=1s", "retention.every=1s"];
    EmbeddedServer::start(Installation::new(), &settings)
}

#[test]
fn feed_below_the_floor_is_410_and_the_list_gives_the_position() {
    let server = short_retention_server();
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
        "a request at the floor is valid"
    );
    let known = api.get_for_company("c", &format!("{CUSTOMERS}/changes")).header("if-none-match", "*").send();
    known.problem(410);
    // The records still exist, and their list gives the position from which to continue.
    let list = api.read_for_company("c", CUSTOMERS);
    assert_eq!(
        (column(&list, "correlationId"), list.header("x-sequence-version")),
        (vec!["u".into(), "v".into()], "4")
    );
    let mut number = 0;
    let page = wait_for("a change that the feed returns before it is pruned", || {
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
    assert_eq!(items(&page).len(), 1);
    server.assert_healthy();
}
