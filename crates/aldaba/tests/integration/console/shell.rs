//! What surrounds the pages.

use domain::OperatorRole;

use super::fixture::Operator;
use crate::harness::Browser;

#[test]
fn operators_are_led_to_the_console_and_signed_in() {
    let server = testserver::TestServer::start();
    let nobody = Browser::new(server.operator_url());
    let root = nobody.get("/");
    assert_eq!((root.status, root.location()), (303, "/console/"));
    let page = nobody.get("/console/");
    assert!(page.status == 302 && page.location().contains("/console/login"), "{page:?}");
    let operator = Operator::sign_in(&server, OperatorRole::Viewer);
    assert!(operator.get_in("es", "").contains("Resumen"));
    assert!(operator.get_in("en", "").contains("Overview"));
    assert_eq!(operator.get("no-such-page").status, 404);
    for page in ["tenants/%00", "users/a%00b", "clients/%00", "webhooks/%00"] {
        assert_eq!(operator.get(page).status, 404, "{page}");
    }
}
