//! The members of the records that the contract documents.

use serde_json::{Value, json};

use crate::harness::{ApiFixture, HttpResponse, account, company, customer, items, members, shared_api};

/// UTC, seven fraction digits.
#[track_caller]
fn assert_version(record: &Value) {
    let text = record["version"].as_str().unwrap();
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
    assert_eq!(shape, "9999-99-99T99:99:99.9999999Z", "{record}");
    let sequence = record["sequenceVersion"].as_str().unwrap();
    assert!(
        sequence.parse::<u64>().is_ok_and(|number| number > 0 && number.to_string() == sequence),
        "{record}"
    );
}

#[test]
fn a_company_has_the_contracts_members() {
    let api = ApiFixture::new();
    let mut line = company("c-1");
    line["data"] = json!({
        "vatName": "Panadería \"Ñandú\" 😀", "vatNumber": "B12345674", "chartOfAccountId": 0, "accountLength": 12
    });
    api.ingest.send_lines(&[line]);
    let listed = items(&api.read("/accounting/api/companies"));
    assert_eq!(listed.len(), 1);
    let record = &listed[0];
    let known = [
        "accountLength",
        "chartOfAccountId",
        "correlationId",
        "sequenceVersion",
        "state",
        "vatName",
        "vatNumber",
        "version",
    ];
    assert_eq!(members(record), known);
    assert_eq!(
        (&record["vatName"], &record["vatNumber"]),
        (&json!("Panadería \"Ñandú\" 😀"), &json!("B12345674"))
    );
    assert_eq!((&record["chartOfAccountId"], &record["accountLength"]), (&json!(0), &json!(12)), "numbers");
    assert_eq!((&record["state"], &record["correlationId"]), (&json!("Enabled"), &json!("c-1")));
    assert_eq!(record["sequenceVersion"], "1");
    assert_version(record);
    assert_eq!(&api.read("/accounting/api/companies/c-1").json(), record, "read by id it is the same");
}

#[test]
fn a_customer_has_the_contracts_members() {
    let mut full = customer("records", "u1", "Bar «Manolo»");
    full["data"] = json!({
        "tradeName": "Bar «Manolo»", "vatNumber": "12345678Z", "vatName": "Manolo", "accountCode": "430000001",
        "vatNumberCorrelationId": "v-1", "accountCodeCorrelationId": "a-1"
    });
    shared_api().ingest.send_lines(&[
        company("records"),
        full.clone(),
        customer("records", "u2", "Casa Pepa"),
    ]);
    let listed = items(&shared_api().read_for_company("records", "/accounting/api/customers"));
    let known = [
        "accountCode",
        "accountCodeCorrelationId",
        "correlationId",
        "sequenceVersion",
        "state",
        "tradeName",
        "vatName",
        "vatNumber",
        "vatNumberCorrelationId",
        "version",
    ];
    for record in &listed {
        assert_eq!(members(record), known);
        assert!(record.as_object().unwrap().values().all(Value::is_string), "{record}");
        assert_eq!(record["state"], "Enabled");
        assert_version(record);
    }
    for (name, value) in full["data"].as_object().unwrap() {
        assert_eq!(&listed[0][name], value);
    }
    for empty in ["vatNumber", "vatName", "vatNumberCorrelationId"] {
        assert_eq!(listed[1][empty], "", "{empty} may be empty, never absent");
    }
    assert_eq!(shared_api().read_for_company("records", "/accounting/api/customers/u1").json(), listed[0]);
}

const CUSTOMER: &str = "tradeName state vatNumber vatName accountCode correlationId vatNumberCorrelationId \
                        accountCodeCorrelationId version sequenceVersion";

/// The names of the members of a record, alone or in a list, in their order.
fn order(response: &HttpResponse) -> String {
    let record = response.text().trim_start_matches('[').trim_end_matches(']');
    let object = domain::json::Object::parse(record.as_bytes()).unwrap();
    object.members().map(|(name, _)| name).collect::<Vec<_>>().join(" ")
}

#[test]
fn members_come_in_the_order_of_the_contracts_tables() {
    let api = ApiFixture::new();
    let payroll = json!({
        "area": "payroll", "resource": "companies", "action": "upsert",
        "data": {"lastUpdate": "2026-11-15", "identifierNumber": "", "companyName": "x", "companyCode": 1}
    });
    api.ingest.send_lines(&[company("c"), customer("c", "u", "x"), account("c", "a"), payroll]);
    let order_at = |path: &str| order(&api.read_for_company("c", path));
    for (path, expected) in [
        (
            "/accounting/api/companies",
            "vatName vatNumber state chartOfAccountId accountLength correlationId version sequenceVersion",
        ),
        ("/accounting/api/customers", CUSTOMER),
        ("/accounting/api/accounts/a", "correlationId code description state version sequenceVersion"),
        ("/payroll/api/companies", "companyCode companyName identifierNumber lastUpdate"),
    ] {
        assert_eq!(order_at(path), expected, "{path}");
    }
    let disabled = json!({
        "area": "accounting", "resource": "customers", "company": "c", "action": "disable", "correlationId": "u"
    });
    api.ingest.send_lines(&[disabled]);
    assert_eq!(order_at("/accounting/api/customers/u"), CUSTOMER, "after a change of its state too");
}

#[test]
fn an_account_has_the_contracts_members() {
    shared_api().ingest.send_lines(&[company("books"), account("books", "a-1")]);
    let record = shared_api().read_for_company("books", "/accounting/api/accounts/a-1").json();
    assert_eq!(
        members(&record),
        ["code", "correlationId", "description", "sequenceVersion", "state", "version"]
    );
    assert_eq!((&record["code"], &record["description"]), (&json!("572000001"), &json!("Bancos")));
    assert_eq!((&record["correlationId"], &record["state"]), (&json!("a-1"), &json!("Enabled")));
    assert_version(&record);
    assert_eq!(items(&shared_api().read_for_company("books", "/accounting/api/accounts")), [record]);
}

#[test]
fn records_without_a_schema_are_returned_unchanged() {
    let data = json!({
        "number": "F/2026-1", "total": 1210.50, "paid": false, "note": null, "text": "línea\n\"dos\" \\ 😀",
        "lines": [{"units": 3, "price": 0.1}, {}], "tax": {"rate": 21, "base": []}, "big": 9_007_199_254_740_993_i64,
        "state": "Draft", "": "odd"
    });
    let line = json!({
        "area": "accounting", "resource": "issuedInvoices", "company": "papers", "action": "upsert",
        "correlationId": "i-1", "data": data
    });
    let answer = shared_api().ingest.send_lines(&[company("papers"), line]);
    assert_eq!(answer.counts(), (2, 0), "{answer:?}");
    let record = shared_api().read_for_company("papers", "/accounting/api/issuedInvoices/i-1").json();
    for (name, value) in data.as_object().unwrap() {
        assert_eq!(&record[name], value, "{name}");
    }
    assert_eq!(record["correlationId"], "i-1");
    assert_version(&record);
    assert_eq!(
        record.as_object().unwrap().len(),
        data.as_object().unwrap().len() + 3,
        "no other members: {record}"
    );
}

#[test]
fn a_records_sequence_version_is_that_of_its_last_event() {
    let api = ApiFixture::new();
    api.ingest.send_lines(&[company("c"), company("d")]);
    let head = api.ingest.send_lines(&[customer("c", "u", "Bar")]).head();
    let record = api.read_for_company("c", "/accounting/api/customers/u").json();
    assert_eq!(record["sequenceVersion"], head.to_string());
    api.ingest.send_lines(&[customer("c", "u", "Bar")]);
    assert_eq!(
        api.read_for_company("c", "/accounting/api/customers/u").json(),
        record,
        "an identical upsert changes nothing"
    );
    let later = api.ingest.send_lines(&[customer("c", "u", "Bar Manolo")]).head();
    let changed = api.read_for_company("c", "/accounting/api/customers/u").json();
    assert_eq!(
        (&changed["tradeName"], &changed["sequenceVersion"]),
        (&json!("Bar Manolo"), &json!(later.to_string()))
    );
    assert!(changed["version"].as_str() >= record["version"].as_str());
}

#[test]
fn an_unknown_record_is_404() {
    shared_api().ingest.send_lines(&[company("empty")]);
    for path in
        ["/accounting/api/accounts/x", "/accounting-core/api/persons/x", "/accounting/api/companies/x"]
    {
        let missing = shared_api().get(path).send().status;
        assert!([400, 404].contains(&missing));
    }
    let missing = shared_api().get_for_company("empty", "/accounting/api/accounts/x").send();
    assert_eq!(missing.problem(404), "There is no such record.");
    assert_eq!(
        shared_api().get("/accounting/api/companies/x").send().problem(404),
        "There is no such record."
    );
    assert_eq!(items(&shared_api().read_for_company("empty", "/accounting/api/accounts")), [] as [Value; 0]);
}
