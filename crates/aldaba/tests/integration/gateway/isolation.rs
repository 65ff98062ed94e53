//! Tenant isolation: no read returns another tenant's data.

use domain::Resource;
use domain::catalogue::Owner;
use serde_json::{Value, json};

use crate::harness::{
    ALL_SCOPES, ApiFixture, SignInFixture, Tokens, bank, column, company, items, unlimited_server,
};

fn payroll(code: u64, name: &str) -> Value {
    json!({
        "area": "payroll", "resource": "companies", "action": "upsert",
        "data": {"companyCode": code, "companyName": name, "identifierNumber": ""}
    })
}

/// Creates records with the same ids in every tenant; `mark` makes their content differ.
fn fill(api: &ApiFixture<'_>, mark: &str) {
    let mut lines = vec![company("shared"), company(mark), payroll(1, mark), bank("b", mark)];
    lines[0]["data"]["vatName"] = json!(mark);
    for resource in Resource::accounting_family().filter(|one| one.owner() == Owner::Company) {
        let data = match resource.as_str() {
            "customers" => {
                json!({"tradeName": mark, "accountCode": "430000001", "accountCodeCorrelationId": "a"})
            }
            "accounts" => json!({"code": "430000001", "description": mark}),
            _ => json!({ "name": mark }),
        };
        lines.push(json!({
            "area": resource.area().as_str(), "resource": resource.as_str(), "company": "shared",
            "action": "upsert", "correlationId": "x", "data": data, "user": mark
        }));
    }
    let answer = api.ingest.send_lines(&lines);
    assert_eq!(answer.rejected, 0, "{answer:?}");
}

#[test]
fn reads_return_only_the_tenants_own_records() {
    let (one, other) = (ApiFixture::new(), ApiFixture::new());
    fill(&one, "first-office");
    fill(&other, "second-office");
    for (api, mine, theirs) in
        [(&one, "first-office", "second-office"), (&other, "second-office", "first-office")]
    {
        let assert_isolated = |text: &str, path: &str| {
            assert!(text.contains(mine) && !text.contains(theirs), "{path}: {text}");
        };
        for resource in Resource::accounting_family().filter(|one| one.owner() == Owner::Company) {
            let path = resource.path();
            assert_isolated(api.read_for_company("shared", &path).text(), &path);
            assert_isolated(api.read_for_company("shared", &format!("{path}/x")).text(), &path);
            assert_isolated(api.read_for_company("shared", &format!("{path}/changes")).text(), &path);
            api.get_for_company(theirs, &path).send().problem(404);
            api.get_for_company(theirs, &format!("{path}/x")).send().problem(404);
            api.get_for_company(theirs, &format!("{path}/changes")).send().problem(404);
        }
        assert_isolated(api.read("/accounting/api/companies").text(), "companies");
        assert_isolated(api.read("/accounting/api/companies/shared").text(), "company");
        assert_isolated(api.read("/accounting/api/companies/changes").text(), "companies' changes");
        assert_isolated(api.read("/payroll/api/companies").text(), "payroll");
        assert_isolated(
            api.read("/payroll/api/companies?filter=companyCode%20ge%200&OrderBy=companyName").text(),
            "filter",
        );
        api.get(&format!("/accounting/api/companies/{theirs}")).send().problem(404);
        assert_eq!(items(&api.read("/invoicing/api/changes")).len(), 1);
    }
}

#[test]
fn etags_of_one_tenant_do_not_match_in_another() {
    let (one, other) = (ApiFixture::new(), ApiFixture::new());
    fill(&one, "first-office");
    fill(&other, "second-office");
    for path in [
        "/accounting/api/companies",
        "/accounting/api/companies/shared",
        "/accounting/api/customers",
        "/accounting/api/customers/x",
        "/accounting/api/customers/changes",
        "/payroll/api/companies",
        "/payroll/api/companies?OrderBy=companyName",
    ] {
        let context = if path.contains("accounting") { "{\"clientId\":\"shared\"}" } else { "" };
        let mine = one.get(path).header("context", context).send();
        let theirs =
            other.get(path).header("context", context).header("if-none-match", mine.header("etag")).send();
        assert_eq!(theirs.status, 200, "{path}: the same path, another tenant's records");
        assert_ne!(theirs.body, mine.body);
    }
}

#[test]
fn a_user_of_two_tenants_reads_the_chosen_tenant() {
    let fixture = SignInFixture::on(unlimited_server(), 2, &[]);
    let reader = ApiFixture::new();
    for tenant in &fixture.tenants {
        unlimited_server().ingest_client(tenant).send_lines(&[company(&format!("of-{tenant}"))]);
    }
    for tenant in &fixture.tenants {
        let request = fixture.authorization_request().with("scope", ALL_SCOPES);
        let page = fixture.authorize_for_tenant(&fixture.browser(), &request, tenant);
        let tokens = Tokens::from_response(&fixture.exchange(&page.params()["code"]));
        let bearer = format!("Bearer {}", tokens.access());
        let response = reader.get("/accounting/api/companies").header("authorization", &bearer).send();
        assert_eq!(column(&response, "correlationId"), [format!("of-{tenant}")]);
    }
}
