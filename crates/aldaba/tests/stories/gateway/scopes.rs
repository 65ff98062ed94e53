//! Scopes: each area asks for its own, after key and token and before the limit.

use crate::harness::{Api, Keys, Serve, Site, room};

/// Each area's address, the scope that it asks for, and its product.
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
fn each_scope_opens_its_areas_and_no_other() {
    for scope in SCOPES {
        let token = room().tokens(&format!("openid {scope}")).access().to_owned();
        for (path, needed, _) in AREAS {
            let reply = room().get(path).header("authorization", &format!("Bearer {token}")).send();
            if needed == scope {
                assert!([200, 400].contains(&reply.status), "{scope} at {path}: {reply:?}");
            } else {
                let message = reply.problem(403);
                assert!(message.contains("insufficient_scope"), "{message}");
                let told = format!("Bearer error=\"insufficient_scope\", scope=\"{needed}\"");
                assert_eq!(reply.header("www-authenticate"), told, "{scope} at {path}");
            }
        }
    }
}

#[test]
fn single_records_and_feeds_ask_for_the_same() {
    let token = room().tokens("openid SVC.ES.NEWPOL.COR.API").access().to_owned();
    let bearer = format!("Bearer {token}");
    for path in
        ["/accounting/api/accounts/x", "/accounting/api/accounts/changes", "/accounting/api/companies/x"]
    {
        room().get(path).header("authorization", &bearer).send().problem(403);
    }
    for path in ["/accounting-core/api/persons/x", "/accounting-core/api/activities/estimations/changes"] {
        let reply = room().get(path).header("authorization", &bearer).send();
        reply.problem(400);
    }
}

#[test]
fn key_then_token_then_scope_then_limit_then_the_call() {
    let serve = Serve::start(Site::new(), &["--set", "gateway.rate_per_minute=1"]);
    let keys = Keys::new(&serve, &["accounting", "payroll"]);
    let api = Api::on(&serve, &keys);
    let narrow = api.tokens("openid SVC.ES.NEWPOL.ACC.API").access().to_owned();
    let call = |key: &str, token: &str, path: &str| {
        let call = api.get(path).header("ocp-apim-subscription-key", key);
        call.header("authorization", &format!("Bearer {token}")).send()
    };
    let bad_page = "/payroll/api/companies?pageSize=0";
    let good = keys.primary.as_str();
    for _ in 0..3 {
        assert!(call("x", "x", bad_page).problem(401).contains("subscription key"));
        assert!(call(good, "x", bad_page).problem(401).contains("access token"));
        assert!(call(good, &narrow, bad_page).problem(403).contains("SVC.ES.EquipoContex"));
    }
    assert!(
        call(good, &api.token, bad_page).problem(400).contains("pageSize"),
        "what was refused cost nothing"
    );
    assert!(call(good, &api.token, bad_page).problem(429).contains("Rate limit"));
    call(good, &narrow, bad_page).problem(403);
    call(good, "x", bad_page).problem(401);
    assert!(call("x", "x", bad_page).problem(401).contains("subscription key"));
    assert!(call(good, &api.token, "/invoicing/api/changes").problem(401).contains("subscription key"));
}
