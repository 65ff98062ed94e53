//! Webhook management and deliveries of both families, over real HTTP through the gateway.

mod access;
mod accounting;
mod authorization;
mod crash;
mod delivery;
mod delivery_fixture;
mod https;
mod invoicing;
mod node_restarts;
mod nodes;
mod rotation;
mod rules;
mod states;
mod test_events;

use std::sync::OnceLock;

use hyper::Method;
use serde_json::{Value, json};

use crate::harness::{ApiFixture, EmbeddedServer, HttpResponse, Server, SubscriptionKeys};

/// No server listens there.
const URL: &str = "http://127.0.0.1:9/hook";
const NIL_ID: &str = "00000000-0000-0000-0000-000000000000";

/// A server that may call receivers on loopback.
fn webhook_server() -> &'static Server {
    static SERVER: OnceLock<EmbeddedServer> = OnceLock::new();
    SERVER.get_or_init(|| {
        let set = [
            "gateway.rate_per_minute=0",
            "egress.loopback=true",
            "delivery.host_check=off",
            "delivery.webhooks_max=100",
        ];
        EmbeddedServer::start_shared(&set)
    })
}

fn keys() -> &'static SubscriptionKeys {
    static KEYS: OnceLock<SubscriptionKeys> = OnceLock::new();
    KEYS.get_or_init(|| SubscriptionKeys::new(webhook_server(), &[]))
}

/// An application with its own tenant.
fn app() -> ApiFixture<'static> {
    ApiFixture::on(webhook_server(), keys())
}

/// The contract's 19 prefixes, each with the name of one of its events.
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

/// Sends a request with the context `none`, as the contract prescribes.
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

/// Asserts that the operation succeeded with this state; returns the webhook's id.
#[track_caller]
fn expect_state(response: &HttpResponse, state: u64) -> String {
    assert_eq!(response.status, 200, "{response:?}");
    let result = response.json();
    let id = result["webhookId"].as_str().unwrap().to_owned();
    assert_eq!(result, json!({"responseState": state, "webhookId": id, "errors": []}));
    id
}

/// Asserts that the operation was refused, with the members of the error body.
#[track_caller]
fn expect_refusal(response: &HttpResponse, status: u16, webhook: &str, code: &str) {
    assert_eq!(
        (response.status, response.header("content-type")),
        (status, "application/json"),
        "{response:?}"
    );
    let result = response.json();
    assert_eq!(
        (&result["statusCode"], &result["message"]),
        (&json!(status), &result["errors"][0]["message"])
    );
    assert_eq!(
        (&result["responseState"], &result["webhookId"]),
        (&json!(1), &json!(webhook)),
        "{response:?}"
    );
    assert_eq!(result["errors"][0]["code"], code, "{response:?}");
    assert_eq!(result["requestId"], response.header("x-request-id"));
    response.assert_catalogued(status);
}
