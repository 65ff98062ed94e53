//! Scopes: each area requires its own, and its product among the client's; the gateway checks them after key and
//! token and before the rate limit.

use serde_json::json;

use crate::harness::{ApiFixture, EmbeddedServer, Installation, OperatorApi, SubscriptionKeys, shared_api};

/// Each area's path, the scope that it requires, and its product.
const AREAS: [(&str, &str, &str); 5] = [
    ("/accounting/api/companies", "SVC.ES.NEWPOL.ACC.API", "accounting"),
    ("/accounting-import/api/integrationFiles", "SVC.ES.NEWPOL.ACC.API", "accounting"),
    ("/accounting-core/api/persons", "SVC.ES.NEWPOL.COR.API", "accounting"),
    ("/payroll/api/companies", "SVC.ES.EquipoContex", "payroll"),
    ("/invoicing/api/changes", "SVC.ES.Webhooks", "invoicing"),
];
const SCOPES: [&str; 5] = [
    "SVC.ES.NEWPOL.ACC.API",
    "SVC.ES.NEWPOL.COR.API",
    "SVC.ES.EquipoContex",
    "SVC.ES.Webhooks",
    "SVC.ES.NEWPOL.MNG.API",
];

#[test]
fn each_scope_gives_access_to_its_areas_only() {
    for scope in SCOPES {
        let token = shared_api().tokens(&format!("openid {scope}")).access().to_owned();
        for (path, needed, _) in AREAS {
            let response = shared_api().get(path).header("authorization", &format!("Bearer {token}")).send();
            if needed == scope {
                assert!([200, 400].contains(&response.status), "{scope} at {path}: {response:?}");
            } else {
                let message = response.problem(403);
                assert!(message.contains("insufficient_scope"), "{message}");
                let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{needed}\"");
                assert_eq!(response.header("www-authenticate"), challenge, "{scope} at {path}");
            }
        }
    }
}

#[test]
fn records_and_feeds_require_the_same_scope() {
    let token = shared_api().tokens("openid SVC.ES.NEWPOL.COR.API").access().to_owned();
    let bearer = format!("Bearer {token}");
    for path in
        ["/accounting/api/accounts/x", "/accounting/api/accounts/changes", "/accounting/api/companies/x"]
    {
        shared_api().get(path).header("authorization", &bearer).send().problem(403);
    }
    for path in ["/accounting-core/api/persons/x", "/accounting-core/api/activities/estimations/changes"] {
        let response = shared_api().get(path).header("authorization", &bearer).send();
        response.problem(400);
    }
}

#[test]
fn checks_run_in_order_key_token_scope_rate_limit() {
    let server = EmbeddedServer::start(Installation::new(), &["gateway.rate_per_minute=1"]);
    let keys = SubscriptionKeys::new(&server, &["accounting", "payroll"]);
    let api = ApiFixture::on(&server, &keys);
    let narrow = api.tokens("openid SVC.ES.NEWPOL.ACC.API").access().to_owned();
    let request = |key: &str, token: &str, path: &str| {
        let request = api.get(path).header("ocp-apim-subscription-key", key);
        request.header("authorization", &format!("Bearer {token}")).send()
    };
    let bad_page = "/payroll/api/companies?pageSize=0";
    let good = keys.primary.as_str();
    for _ in 0..3 {
        assert!(request("x", "x", bad_page).problem(401).contains("subscription key"));
        assert!(request(good, "x", bad_page).problem(401).contains("access token"));
        assert!(request(good, &narrow, bad_page).problem(403).contains("SVC.ES.EquipoContex"));
    }
    assert!(
        request(good, &api.token, bad_page).problem(400).contains("pageSize"),
        "refused calls do not count against the limit"
    );
    assert!(request(good, &api.token, bad_page).problem(429).contains("Rate limit"));
    request(good, &narrow, bad_page).problem(403);
    request(good, "x", bad_page).problem(401);
    assert!(request("x", "x", bad_page).problem(401).contains("subscription key"));
    assert!(request(good, &api.token, "/invoicing/api/changes").problem(401).contains("subscription key"));
}

/// The client had all products when the token was issued; then the operator takes some away.
#[test]
fn each_area_requires_its_product_among_those_of_the_client() {
    let api = ApiFixture::new();
    let operator = OperatorApi(api.sign_in.server);
    let client = format!("/clients/{}", api.sign_in.app.id);
    for products in [&["accounting"][..], &["payroll"], &["invoicing"], &["accounting", "payroll"]] {
        assert_eq!(operator.patch(&client, &json!({"products": products})).status, 200);
        for (path, _, product) in AREAS {
            let response = api.get(path).send();
            if products.contains(&product) {
                assert!([200, 400].contains(&response.status), "{products:?} at {path}: {response:?}");
            } else {
                let message = response.problem(403);
                assert!(message.contains(&format!("not registered for the product {product}")), "{message}");
            }
        }
        let invoicing_webhooks = api.get("/invoicing/api/webhooks").send().status;
        assert_eq!(invoicing_webhooks == 200, products.contains(&"invoicing"), "{products:?}");
        let accounting_webhooks = api.get("/accounting/api/customers/webhooks/events").send().status;
        assert_eq!(accounting_webhooks == 200, products.contains(&"accounting"), "{products:?}");
    }
}
