//! Completeness, references, account codes and tax identifiers of the sample.

mod totals;

use std::collections::{HashMap, HashSet};

use domain::tax_id::{self, Check};
use serde_json::Value;

use crate::{Plan, changes};

const PLAN: Plan = Plan { seed: 1, companies: 3, customers_per_company: 40 };
const RESOURCES: &str = "accounting/accounts accounting/charges accounting/payments accounting/customers \
    accounting/suppliers accounting/inputInvoices accounting/issuedInvoices accounting/journals \
    accounting/companies accounting/accountingYears core/persons core/corporateLegalEntities \
    core/individualLegalEntities core/activities core/estimations core/legalEntityLicences core/prorates \
    core/incomeAllocationLegalEntities import/integrationFiles payroll/companies invoicing/Customer \
    invoicing/Product invoicing/Supplier invoicing/Representative invoicing/Contact invoicing/Due \
    invoicing/SaleInvoice invoicing/PurchaseInvoice invoicing/SaleOffer invoicing/SaleOrder \
    invoicing/PurchaseOrder invoicing/SaleDeliveryNote invoicing/PurchaseDeliveryNote invoicing/Bank \
    invoicing/IncomeType invoicing/ExpenseType invoicing/CompanyData invoicing/CompanySettings";

fn read(plan: Plan) -> Vec<Value> {
    changes(plan)
        .map(|line| serde_json::from_str(&line).unwrap_or_else(|why| panic!("{why}: {line}")))
        .collect()
}

/// Several plans, so that every legal form occurs.
fn samples() -> impl Iterator<Item = Value> {
    (0..12).flat_map(|seed| read(Plan { seed, companies: 4, customers_per_company: 60 }))
}

fn of<'a>(lines: &'a [Value], area: &'a str, resource: &'a str) -> impl Iterator<Item = &'a Value> {
    lines.iter().filter(move |line| line["area"] == area && line["resource"] == resource)
}

#[track_caller]
fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap_or_else(|| panic!("no text {member} in {value}"))
}

fn is_guid(text: &str) -> bool {
    let groups: Vec<usize> = text.split('-').map(str::len).collect();
    groups == [8, 4, 4, 4, 12]
        && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'))
        && text.as_bytes()[14] == b'8'
        && matches!(text.as_bytes()[19], b'8' | b'9' | b'a' | b'b')
}

#[test]
fn same_seed_gives_same_lines_and_another_seed_other_ids() {
    let lines = || changes(PLAN).collect::<Vec<_>>();
    assert_eq!(lines(), lines());
    let other = read(Plan { seed: 2, ..PLAN });
    let ids = |lines: &[Value]| {
        of(lines, "accounting", "companies").map(|line| line["correlationId"].clone()).collect::<Vec<_>>()
    };
    assert!(ids(&read(PLAN)).iter().all(|id| !ids(&other).contains(id)));
}

#[test]
fn iterator_is_send() {
    fn assert_send(_: impl Iterator<Item = String> + Send + 'static) {}
    assert_send(changes(PLAN));
}

#[test]
fn sample_has_exactly_the_known_resources() {
    let mut counts: HashMap<String, u32> = HashMap::new();
    for line in read(PLAN) {
        *counts.entry(format!("{}/{}", text(&line, "area"), text(&line, "resource"))).or_default() += 1;
    }
    let found: HashSet<&str> = counts.keys().map(String::as_str).collect();
    assert_eq!(found, RESOURCES.split_whitespace().collect());
    assert_eq!(counts["accounting/companies"], 3);
    assert_eq!(counts["accounting/customers"], 120);
    assert_eq!((counts["invoicing/CompanyData"], counts["invoicing/CompanySettings"]), (1, 1));
}

#[test]
fn every_line_has_the_members_of_the_ingest_api() {
    let mut ids = HashSet::new();
    for line in samples() {
        assert_eq!(line["action"], "upsert");
        for member in ["user", "sourceInterface", "sourceAction"] {
            assert!(!text(&line, member).is_empty(), "{line}");
        }
        let data = line["data"].as_object().expect("data");
        for owned in ["state", "version", "sequenceVersion", "correlationId"] {
            assert!(!data.contains_key(owned), "{line}");
        }
        let (area, resource) = (text(&line, "area"), text(&line, "resource"));
        let owned_by_company = matches!(area, "accounting" | "core" | "import") && resource != "companies";
        assert_eq!(line.get("company").is_some(), owned_by_company, "{line}");
        if area == "payroll" {
            assert!(line.get("correlationId").is_none() && data["companyCode"].is_u64(), "{line}");
        } else {
            let id = text(&line, "correlationId").to_owned();
            assert!(is_guid(&id), "{id}");
            assert!(ids.insert((resource.to_owned(), id)), "twice: {line}");
        }
    }
}

#[test]
fn references_point_to_earlier_lines() {
    // Only the first customers have a record of their legal entity, and it follows later.
    let unchecked = ["vatNumberCorrelationId"];
    let mut seen: HashSet<String> = HashSet::new();
    for line in samples() {
        if let Some(company) = line["company"].as_str() {
            assert!(seen.contains(company), "{line}");
        }
        for (name, value) in line["data"].as_object().expect("data") {
            let refers = (name.ends_with("CorrelationId") || name.ends_with("Id")) && value.is_string();
            if refers && !unchecked.contains(&name.as_str()) {
                assert!(seen.contains(value.as_str().unwrap()), "{name} of {line}");
            }
        }
        seen.extend(line["correlationId"].as_str().map(str::to_owned));
    }
}

#[test]
fn account_codes_have_the_length_of_their_company() {
    let mut lengths: HashMap<String, u64> = HashMap::new();
    let mut codes: HashMap<(String, String), String> = HashMap::new();
    for line in samples() {
        let data = &line["data"];
        match (text(&line, "area"), text(&line, "resource")) {
            ("accounting", "companies") => {
                let length = data["accountLength"].as_u64().expect("length");
                assert!((8..=12).contains(&length));
                lengths.insert(text(&line, "correlationId").to_owned(), length);
            }
            ("accounting", "accounts") => {
                let (company, code) = (text(&line, "company").to_owned(), text(data, "code").to_owned());
                assert_eq!(code.len() as u64, lengths[&company]);
                assert!(
                    code.bytes().all(|digit| digit.is_ascii_digit()) && !text(data, "description").is_empty()
                );
                let id = text(&line, "correlationId").to_owned();
                assert!(codes.insert((company, code), id).is_none(), "twice: {line}");
            }
            ("accounting", resource @ ("customers" | "suppliers")) => {
                let code = text(data, "accountCode");
                assert!(code.starts_with(if resource == "customers" { "430" } else { "400" }), "{line}");
                let key = (text(&line, "company").to_owned(), code.to_owned());
                assert_eq!(codes.get(&key).map(String::as_str), data["accountCodeCorrelationId"].as_str());
            }
            _ => {}
        }
    }
    assert_eq!(lengths.values().collect::<HashSet<_>>().len(), 5, "8 to 12 all occur");
}

#[test]
fn tax_identifiers_are_valid_or_absent() {
    let mut nameless = 0;
    for line in samples() {
        let data = &line["data"];
        let members = data["members"].as_array().into_iter().flatten();
        for holder in members.chain([data]) {
            for member in ["vatNumber", "identifierNumber"] {
                if let Some(number) = holder[member].as_str().filter(|number| !number.is_empty()) {
                    assert_eq!(tax_id::check(number), Check::Valid, "{line}");
                }
            }
        }
        if line["resource"] == "customers" {
            let empty = ["vatNumber", "vatName", "vatNumberCorrelationId"]
                .map(|member| text(data, member).is_empty());
            assert!(empty == [true; 3] || empty == [false; 3], "{line}");
            nameless += u32::from(empty[0]);
        }
    }
    assert_eq!(nameless, 12 * 4 * 5, "one in twelve of 60");
}

/// Account code and trade name of each customer, cut from the line's text: parsing JSON would take much longer.
fn customers(plan: Plan) -> impl Iterator<Item = [String; 2]> {
    let cut = |line: &str, member: &str| {
        let start = line.find(&format!("\"{member}\":\"")).expect("member") + member.len() + 4;
        line[start..].split('"').next().unwrap_or_default().to_owned()
    };
    changes(plan)
        .filter(|line| line.contains("\"resource\":\"customers\""))
        .map(move |line| [cut(&line, "accountCode"), cut(&line, "tradeName")])
}

#[test]
fn account_codes_of_100_000_customers_are_unique() {
    let plan = Plan { seed: 9, companies: 1, customers_per_company: 100_000 };
    let (mut codes, mut names) = (HashSet::new(), HashSet::new());
    for [code, name] in customers(plan) {
        assert!(code.starts_with("430") && (9..=12).contains(&code.len()), "{code}");
        assert!(codes.insert(code));
        names.insert(name);
    }
    assert_eq!(codes.len(), 100_000);
    assert!(names.len() > 90_000, "{} names", names.len());
}

#[test]
fn names_of_1_000_customers_rarely_repeat() {
    let plan = Plan { seed: 3, companies: 1, customers_per_company: 1_000 };
    let names: HashSet<String> = customers(plan).map(|[_, name]| name).collect();
    assert!(names.len() > 970, "{} names", names.len());
    let accented = names.iter().filter(|name| !name.is_ascii()).count();
    assert!(accented > 300, "{accented} with accents");
}

#[test]
fn account_codes_grow_with_the_number_of_customers() {
    let lengths = |customers_per_company| {
        let plan = Plan { seed: 1, companies: 5, customers_per_company };
        (0..plan.companies).map(move |index| {
            crate::company::Company::new(plan.seed, index, plan.customers_per_company).account_length
        })
    };
    assert_eq!(lengths(40).min(), Some(8));
    assert_eq!(lengths(99_999).min(), Some(8));
    assert_eq!(lengths(100_000).min(), Some(9));
    assert_eq!(lengths(1_000_000).min(), Some(10));
}

#[test]
fn small_plans_work() {
    for (companies, customers_per_company) in [(0, 0), (1, 0), (1, 1), (2, 7), (1, 8)] {
        let lines = read(Plan { seed: 5, companies, customers_per_company });
        assert_eq!(of(&lines, "accounting", "companies").count(), companies as usize);
        assert_eq!(of(&lines, "invoicing", "SaleInvoice").count(), 8);
    }
}
