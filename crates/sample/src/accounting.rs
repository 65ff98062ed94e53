//! The company, its chart of accounts, its customers and suppliers: what the rest of the books refers to.

use crate::chart;
use crate::company::{Account, Company};
use crate::form::Form;
use crate::line::Line;
use crate::party::Party;
use crate::resource::Resource;

/// Charts of accounts as the accounting product numbers them: the full plan, and the one for smaller firms.
const FULL_CHART: u64 = 1;
const SMALL_CHART: u64 = 2;

pub(crate) fn company(company: Company) -> String {
    let Party { form, vat_name, vat_number, .. } = company.party();
    let chart = if matches!(form, Form::Public | Form::Cooperative) { FULL_CHART } else { SMALL_CHART };
    Line::new(Resource::Companies, None, company.id)
        .text("vatName", &vat_name)
        .text("vatNumber", &vat_number)
        .number("chartOfAccountId", chart)
        .number("accountLength", company.account_length)
        .done()
}

pub(crate) fn accounting_years(company: Company) -> impl Iterator<Item = String> {
    [2025_u32, 2026].into_iter().map(move |year| {
        company
            .record(Resource::AccountingYears, year)
            .number("year", year)
            .shown("startDate", format_args!("{year}-01-01"))
            .shown("endDate", format_args!("{year}-12-31"))
            .flag("isClosed", year < 2026)
            .number("accountLength", company.account_length)
            .done()
    })
}

pub(crate) fn chart(company: Company) -> impl Iterator<Item = String> {
    chart::accounts(company.is_self_employed(), company.banks())
        .map(move |(place, name)| account(company, place, &company.account_code(place), &name))
}

/// Each customer's account, and the customer right after it.
pub(crate) fn customers(company: Company) -> impl Iterator<Item = String> {
    (1..=company.customers).flat_map(move |number| {
        let customer = company.customer(number);
        let place = Account::customer(number);
        let entity = (!customer.vat_number.is_empty()).then(|| company.customer_entity_id(number));
        let code = company.account_code(place);
        let described = if customer.vat_name.is_empty() { &customer.trade_name } else { &customer.vat_name };
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
        let line = line.id("accountCodeCorrelationId", company.account_id(place));
        [account(company, place, &code, described), line.done()]
    })
}

/// Each supplier's account, and the supplier right after it.
pub(crate) fn suppliers(company: Company) -> impl Iterator<Item = String> {
    (1..=company.suppliers).flat_map(move |number| {
        let supplier = company.supplier(number);
        let place = Account::supplier(number);
        let code = company.account_code(place);
        let line = company
            .record(Resource::Suppliers, number)
            .text("tradeName", &supplier.trade_name)
            .text("vatNumber", &supplier.vat_number)
            .text("vatName", &supplier.vat_name)
            .text("accountCode", &code)
            .id("vatNumberCorrelationId", company.supplier_entity_id(number))
            .id("accountCodeCorrelationId", company.account_id(place));
        [account(company, place, &code, &supplier.vat_name), line.done()]
    })
}

fn account(company: Company, place: Account, code: &str, description: &str) -> String {
    company
        .line(Resource::Accounts, company.account_id(place))
        .text("code", code)
        .text("description", description)
        .done()
}
