//! A company's master data: the company itself, accounting years, chart of accounts, customers and suppliers.

use crate::change_line::ChangeLine;
use crate::chart;
use crate::company::{Account, Company};
use crate::legal_form::LegalForm;
use crate::party::Party;
use crate::resource::Resource;

// Ids of the charts of accounts in the accounting product: the full one, and the one for small companies.
const FULL_CHART: u64 = 1;
const SMALL_CHART: u64 = 2;

pub(crate) fn company(company: Company) -> String {
    let Party { legal_form, vat_name, vat_number, .. } = company.party();
    let chart = if matches!(legal_form, LegalForm::PublicLimited | LegalForm::Cooperative) {
        FULL_CHART
    } else {
        SMALL_CHART
    };
    ChangeLine::new(Resource::Companies, None, company.id)
        .text("vatName", &vat_name)
        .text("vatNumber", &vat_number)
        .number("chartOfAccountId", chart)
        .number("accountLength", company.account_length)
        .finish()
}

pub(crate) fn accounting_years(company: Company) -> impl Iterator<Item = String> {
    [2025_u32, 2026].into_iter().map(move |year| {
        company
            .record(Resource::AccountingYears, year)
            .number("year", year)
            .display("startDate", format_args!("{year}-01-01"))
            .display("endDate", format_args!("{year}-12-31"))
            .flag("isClosed", year < 2026)
            .number("accountLength", company.account_length)
            .finish()
    })
}

pub(crate) fn chart(company: Company) -> impl Iterator<Item = String> {
    chart::accounts(company.is_self_employed(), company.banks())
        .map(move |(account, name)| account_line(company, account, &company.account_code(account), &name))
}

/// Each customer's account, followed by the customer.
pub(crate) fn customers(company: Company) -> impl Iterator<Item = String> {
    (1..=company.customers).flat_map(move |number| {
        let customer = company.customer(number);
        let account = Account::customer(number);
        let entity = (!customer.vat_number.is_empty()).then(|| company.customer_entity_id(number));
        let code = company.account_code(account);
        let description =
            if customer.vat_name.is_empty() { &customer.trade_name } else { &customer.vat_name };
        let line = company
            .record(Resource::Customers, number)
            .text("tradeName", &customer.trade_name)
            .text("vatNumber", &customer.vat_number)
            .text("vatName", &customer.vat_name)
            .text("accountCode", &code);
        let line = match entity {
            Some(entity) => line.id("vatNumberCorrelationId", entity),
            None => line.text("vatNumberCorrelationId", ""),
        };
        let line = line.id("accountCodeCorrelationId", company.account_id(account));
        [account_line(company, account, &code, description), line.finish()]
    })
}

/// Each supplier's account, followed by the supplier.
pub(crate) fn suppliers(company: Company) -> impl Iterator<Item = String> {
    (1..=company.suppliers).flat_map(move |number| {
        let supplier = company.supplier(number);
        let account = Account::supplier(number);
        let code = company.account_code(account);
        let line = company
            .record(Resource::Suppliers, number)
            .text("tradeName", &supplier.trade_name)
            .text("vatNumber", &supplier.vat_number)
            .text("vatName", &supplier.vat_name)
            .text("accountCode", &code)
            .id("vatNumberCorrelationId", company.supplier_entity_id(number))
            .id("accountCodeCorrelationId", company.account_id(account));
        [account_line(company, account, &code, &supplier.vat_name), line.finish()]
    })
}

fn account_line(company: Company, account: Account, code: &str, description: &str) -> String {
    company
        .change_line(Resource::Accounts, company.account_id(account))
        .text("code", code)
        .text("description", description)
        .finish()
}
