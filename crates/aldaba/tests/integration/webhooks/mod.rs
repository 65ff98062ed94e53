//! The management of webhooks, both families, as integrators call it: through the gate, over real HTTP.

mod accounting;
mod authorization;
mod crash;
mod delivery;
mod delivery_fixture;
mod https;
mod invoicing;
mod nodes;
mod rotation;
mod rules;
mod states;

use std::sync::OnceLock;

use hyper::Method;
use serde_json::{Value, json};

use crate::harness::{ApiFixture, HttpResponse, Installation, ServeProcess, SubscriptionKeys};

/// Nobody listens there.
const URL: &str = "http://127.0.0.1:9/hook";
const NOBODY: &str = "00000000-0000-0000-0000-000000000000";

/// A server whose receivers may live on this machine.
fn webhook_server() -> &'static ServeProcess {
    static SERVER: OnceLock<ServeProcess> = OnceLock::new();
    SERVER.get_or_init(|| {
        let set = [
            "gateway.rate_per_minute=0",
            "egress.loopback=true",
            "delivery.host_check=off",
            "delivery.webhooks_max=100",
        ];
        ServeProcess::start_shared(Installation::new(), &set)
    })
}

fn keys() -> &'static SubscriptionKeys {
    static KEYS: OnceLock<SubscriptionKeys> = OnceLock::new();
    KEYS.get_or_init(|| SubscriptionKeys::new(webhook_server(), &[]))
}

/// An application with a tenant of its own.
fn app() -> ApiFixture<'static> {
    ApiFixture::on(webhook_server(), keys())
}

/// The 19 prefixes, as the contract has them, and one name of an event of each.
const PREFIXES: [(&str, &str); 19] = [
    ("/accounting/api/accounts", "Svc.ACC.Accounts.AccountDisabled"),
    ("/accounting/api/charges", "Svc.ACC.Charges.ChargeDeleted"),
    ("/accounting/api/payments", "Svc.ACC.Payments.PaymentDeleted"),
    ("/accounting/api/customers", "Svc.ACC.Customers.CustomerDisabled"),
    ("/accounting/api/suppliers", "Svc.ACC.Suppliers.SupplierDisabled"),
    ("/accounting/api/inputInvoices", "Svc.ACC.InputInvoices.InputInvoiceDeleted"),
    ("/accounting/api/issuedInvoices", "Svc.ACC.IssuedInvoices.IssuedInvoiceDeleted"),
    ("/accounting/api/journals", "Svc.ACC.Journals.JournalDeleted"),
    ("/accounting/api/companies", "Svc.ACC.Companies.CompanyDeleted"),
    ("/accounting/api/accountingYears", "Svc.ACC.AccountingYears.AccountingYearDeleted"),
    ("/accounting-core/api/persons", "Svc.COR.Persons.PersonDeleted"),
    (
        "/accounting-core/api/corporateLegalEntities",
        "Svc.COR.CorporateLegalEntities.CorporateLegalEntityDeleted",
    ),
    (
        "/accounting-core/api/individualLegalEntities",
        "Svc.COR.IndividualLegalEntities.IndividualLegalEntityDeleted",
    ),
    ("/accounting-core/api/activities", "Svc.COR.Activities.ActivityDeleted"),
    ("/accounting-core/api/activities/estimations", "Svc.COR.Estimations.EstimationDeleted"),
    ("/accounting-core/api/legalEntityLicences", "Svc.COR.LegalEntityLicences.LegalEntityLicenceDeleted"),
    ("/accounting-core/api/activities/prorates", "Svc.COR.Prorates.ProrateDeleted"),
    (
        "/accounting-core/api/incomeAllocationLegalEntities",
        "Svc.COR.IncomeAllocationLegalEntities.IncomeAllocationLegalEntityDeleted",
    ),
    ("/accounting-import/api/integrationFiles", "Svc.IMP.IntegrationFiles.IntegrationFileDeleted"),
];
const CUSTOMERS: &str = "/accounting/api/customers";

/// A call as the contract has it, with the context `none`.
fn send(api: &ApiFixture<'_>, method: Method, path: &str, body: Option<&Value>) -> HttpResponse {
    let request =
        api.request(method, path).header("context", "none").header("content-type", "application/json");
    match body {
        Some(body) => request.body(body.to_string()).send(),
        None => request.send(),
    }
}

fn get(api: &ApiFixture<'_>, path: &str) -> HttpResponse {
    send(api, Method::GET, path, None)
}

fn subscription_body(event: &str) -> Value {
    json!({
        "thirdPartyApplicationName": "Panel", "url": URL, "secret": "s3cret", "eventTypes": [event],
    })
}

/// A done operation; tells the webhook's id.
#[track_caller]
fn expect_state(response: &HttpResponse, state: u64) -> String {
    assert_eq!(response.status, 200, "{response:?}");
    let told = response.json();
    let id = told["webhookId"].as_str().unwrap().to_owned();
    assert_eq!(told, json!({"responseState": state, "webhookId": id, "errors": []}));
    id
}

/// A refused operation: also an error body.
#[track_caller]
fn expect_refusal(response: &HttpResponse, status: u16, webhook: &str, code: &str) {
    assert_eq!(
        (response.status, response.header("content-type")),
        (status, "application/json"),
        "{response:?}"
    );
    let told = response.json();
    assert_eq!((&told["statusCode"], &told["message"]), (&json!(status), &told["errors"][0]["message"]));
    assert_eq!((&told["responseState"], &told["webhookId"]), (&json!(1), &json!(webhook)), "{response:?}");
    assert_eq!(told["errors"][0]["code"], code, "{response:?}");
    assert_eq!(told["requestId"], response.header("x-request-id"));
}
