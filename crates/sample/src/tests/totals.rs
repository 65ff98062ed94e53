//! Amounts add up, journals balance, and settlements equal their invoices.

use std::collections::HashMap;

use serde_json::Value;

use super::{PLAN, of, read, samples, text};

#[track_caller]
fn cents(value: &Value, member: &str) -> i64 {
    let written = value[member].as_f64().unwrap_or_else(|| panic!("no amount {member} in {value}"));
    format!("{:.0}", written * 100.0).parse().unwrap()
}

#[test]
fn amounts_add_up() {
    let mut with_withholding = 0;
    for line in samples().filter(|line| line["data"].get("taxableBase").is_some()) {
        let data = &line["data"];
        let sum = |list: &str, member: &str| -> i64 {
            data[list].as_array().expect(list).iter().map(|row| cents(row, member)).sum()
        };
        for row in data["lines"].as_array().expect("lines") {
            let quantity = row["quantity"].as_i64().expect("quantity");
            assert_eq!(cents(row, "amount"), quantity * cents(row, "unitPrice"), "{line}");
        }
        for vat in data["vat"].as_array().expect("vat") {
            let rate = vat["rate"].as_i64().expect("rate");
            assert!([21, 10, 4].contains(&rate));
            assert_eq!(cents(vat, "amount"), (cents(vat, "base") * rate + 50) / 100, "{line}");
        }
        let base = cents(data, "taxableBase");
        assert_eq!(base, sum("lines", "amount"), "{line}");
        assert_eq!(base, sum("vat", "base"), "{line}");
        assert_eq!(cents(data, "vatAmount"), sum("vat", "amount"), "{line}");
        let withheld = cents(data, "withholdingAmount");
        with_withholding += u32::from(withheld > 0);
        assert_eq!(cents(data, "total"), base + cents(data, "vatAmount") - withheld, "{line}");
    }
    assert!(with_withholding > 0, "no professional's fees in the sample");
}

#[test]
fn journals_balance_and_are_numbered_by_date() {
    let mut last: HashMap<String, (u64, String)> = HashMap::new();
    let mut accounts: HashMap<(String, String), String> = HashMap::new();
    for line in samples() {
        let Some(company) = line["company"].as_str().map(str::to_owned) else {
            continue;
        };
        let data = &line["data"];
        if line["resource"] == "accounts" {
            accounts
                .insert((company, text(data, "code").to_owned()), text(&line, "correlationId").to_owned());
        } else if line["resource"] == "journals" {
            let (mut debit, mut credit) = (0, 0);
            for entry in data["lines"].as_array().expect("lines") {
                let account = (company.clone(), text(entry, "accountCode").to_owned());
                assert_eq!(accounts[&account], text(entry, "accountCodeCorrelationId"), "{line}");
                assert!((cents(entry, "debit") == 0) != (cents(entry, "credit") == 0), "{line}");
                debit += cents(entry, "debit");
                credit += cents(entry, "credit");
            }
            assert_eq!((debit, credit), (cents(data, "totalDebit"), cents(data, "totalCredit")), "{line}");
            assert_eq!(debit, credit, "{line}");
            let (number, date) = last.entry(company).or_insert((0, "2026-01-01".to_owned()));
            assert_eq!(data["number"].as_u64(), Some(*number + 1));
            assert!(text(data, "date") >= date.as_str() && text(data, "date") <= "2026-12-31", "{line}");
            (*number, *date) = (*number + 1, text(data, "date").to_owned());
        }
    }
}

#[test]
fn charges_and_payments_equal_their_invoices() {
    let lines = read(PLAN);
    for (settlements, invoices, member) in [
        ("charges", "issuedInvoices", "issuedInvoiceCorrelationId"),
        ("payments", "inputInvoices", "inputInvoiceCorrelationId"),
    ] {
        let invoiced: HashMap<&str, &Value> = of(&lines, "accounting", invoices)
            .map(|line| (text(line, "correlationId"), &line["data"]))
            .collect();
        for settled in of(&lines, "accounting", settlements).map(|line| &line["data"]) {
            let invoice = invoiced[text(settled, member)];
            assert_eq!(cents(settled, "amount"), cents(invoice, "total"));
            assert!(text(settled, "date") >= text(invoice, "date"), "{settled}");
        }
    }
}
