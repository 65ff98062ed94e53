//! Payroll's companies: half of those whose books are kept, and a few whose wages alone are.

use crate::Plan;
use crate::calendar::{Day, moment};
use crate::chance::{Dice, mix};
use crate::company::Company;
use crate::line::{Guid, Line};
use crate::resource::Resource;

const PAYROLL_ONLY: u32 = 5;

pub(crate) fn companies(plan: Plan) -> impl Iterator<Item = String> {
    let kept = plan.companies.div_ceil(2);
    // Those whose books are kept elsewhere stand past the end of the plan's.
    let indexes = (0..kept).chain((0..PAYROLL_ONLY).map(move |number| plan.companies.saturating_add(number)));
    (1_u32..).zip(indexes).map(move |(code, index)| {
        let company = Company::new(plan.seed, index, plan.customers_per_company).party();
        let mut dice = Dice::new(mix(mix(plan.seed, Resource::PayrollCompanies as u64), u64::from(code)));
        let day = Day::any(&mut dice);
        Line::new(
            Resource::PayrollCompanies,
            None,
            Guid::of(plan.seed, Resource::PayrollCompanies, code.into()),
        )
        .number("companyCode", code)
        .text("companyName", &company.vat_name)
        .text("identifierNumber", &company.vat_number)
        .text("lastUpdate", &moment(day, &mut dice))
        .done()
    })
}
