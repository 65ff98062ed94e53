//! Payroll companies: half of the companies with accounting records, and a few with payroll only.

use crate::Plan;
use crate::calendar::{Day, timestamp};
use crate::change_line::{ChangeLine, RecordId};
use crate::company::Company;
use crate::resource::Resource;
use crate::rng::{Rng, mix};

const PAYROLL_ONLY: u32 = 5;

pub(crate) fn companies(plan: Plan) -> impl Iterator<Item = String> {
    let with_accounting = plan.companies.div_ceil(2);
    // Companies with payroll only have the indexes after those of the plan.
    let indexes = (0..with_accounting)
        .chain((0..PAYROLL_ONLY).map(move |number| plan.companies.saturating_add(number)));
    (1_u32..).zip(indexes).map(move |(code, index)| {
        let company = Company::new(plan.seed, index, plan.customers_per_company).party();
        let mut rng = Rng::new(mix(mix(plan.seed, Resource::PayrollCompanies as u64), u64::from(code)));
        let day = Day::random(&mut rng);
        ChangeLine::new(
            Resource::PayrollCompanies,
            None,
            RecordId::derive(plan.seed, Resource::PayrollCompanies, code.into()),
        )
        .number("companyCode", code)
        .text("companyName", &company.vat_name)
        .text("identifierNumber", &company.vat_number)
        .text("lastUpdate", &timestamp(day, &mut rng))
        .finish()
    })
}
