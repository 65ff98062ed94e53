//! Sample data that a Spanish accountant would believe, as change lines for the changes door. Everything
//! follows from the seed and a record's place, so nothing is remembered and any amount can be asked for.

mod accounting;
mod bill;
mod books;
mod calendar;
mod chance;
mod chart;
mod company;
mod documents;
mod entities;
mod form;
mod goods;
mod invoicing;
mod journal;
mod line;
mod names;
mod party;
mod payroll;
mod resource;
mod sectors;
mod services;
#[cfg(test)]
mod tests;

use std::iter::once;

use company::Company;

/// How much is wanted; the volumes of everything else follow from these.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) companies: u32,
    pub(crate) customers_per_company: u32,
}

/// The records of one tenant, one change a line: a company before its records, an account before its owner.
pub(crate) fn changes(plan: Plan) -> impl Iterator<Item = String> {
    (0..plan.companies)
        .flat_map(move |index| records(Company::new(plan.seed, index, plan.customers_per_company)))
        .chain(payroll::companies(plan))
        .chain(invoicing::entities(plan))
}

fn records(company: Company) -> impl Iterator<Item = String> {
    once(accounting::company(company))
        .chain(accounting::accounting_years(company))
        .chain(accounting::chart(company))
        .chain(accounting::customers(company))
        .chain(accounting::suppliers(company))
        .chain(entities::all(company))
        .chain(books::year(company))
}
