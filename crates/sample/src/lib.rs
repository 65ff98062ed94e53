//! Sample data that a Spanish accountant would believe, as change lines for the ingest API.
//!
//! [`changes`] is the whole API: a [`Plan`] in, an iterator of NDJSON lines out. Each record is computed from the
//! seed and its own number, so the generator keeps no state, needs constant memory and repeats itself exactly.

mod accounting;
mod amounts;
mod calendar;
mod change_line;
mod chart;
mod company;
mod core_records;
mod goods_sectors;
mod invoicing;
mod invoicing_documents;
mod journal;
mod legal_form;
mod names;
mod party;
mod payroll;
mod resource;
mod rng;
mod sectors;
mod service_sectors;
#[cfg(test)]
mod tests;
mod transactions;

use std::iter::once;

use crate::company::Company;

/// How much data to generate. The number of suppliers, invoices and journals follows from these.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Two plans with the same seed and the same numbers give the same lines.
    pub seed: u64,
    /// Companies with accounting records.
    pub companies: u32,
    /// Customers of each company.
    pub customers_per_company: u32,
}

/// The records of one tenant, one change per line (without the line break). A company comes before its records,
/// and an account before the customer or supplier that it belongs to.
pub fn changes(plan: Plan) -> impl Iterator<Item = String> {
    (0..plan.companies)
        .flat_map(move |index| company_records(Company::new(plan.seed, index, plan.customers_per_company)))
        .chain(payroll::companies(plan))
        .chain(invoicing::records(plan))
}

fn company_records(company: Company) -> impl Iterator<Item = String> {
    once(accounting::company(company))
        .chain(accounting::accounting_years(company))
        .chain(accounting::chart(company))
        .chain(accounting::customers(company))
        .chain(accounting::suppliers(company))
        .chain(core_records::records(company))
        .chain(transactions::records(company))
}
