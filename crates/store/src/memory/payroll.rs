//! Payroll queries in memory: filters every company and sorts the matches.

use domain::Resource;
use domain::filter::CompanyFields;
use domain::record::PayrollCompany;

use super::{State, collection_id};
use crate::plan::{CollectionKey, NO_COMPANY};
use crate::{Page, PayrollQuery, Result, StoreError};

pub(super) fn page(state: &State, query: &PayrollQuery) -> Result<Page> {
    let unknown = || StoreError::UnknownTenant(query.tenant.as_str().to_owned());
    let tenant_no = state.tenant_no(&query.tenant).ok_or_else(unknown)?;
    let head = state.heads.get(&tenant_no).ok_or_else(unknown)?.bounds.head;
    let collection = collection_id(
        tenant_no,
        CollectionKey { company_no: NO_COMPANY, resource: Resource::payroll_companies() },
    );
    let version = state.collections.get(&collection).copied().unwrap_or_default().version;
    let mut found: Vec<(PayrollCompany, &str)> = state
        .records
        .range((collection, 0)..=(collection, u64::MAX))
        .filter_map(|(_, (_, stored))| Some((PayrollCompany::from_body(&stored.body)?, stored.body.as_str())))
        .filter(|(company, _)| query.filter.as_ref().is_none_or(|filter| filter.matches(&subject(company))))
        .collect();
    if let Some(order) = &query.order {
        found.sort_by(|(one, _), (other, _)| order.compare(&subject(one), &subject(other)));
    }
    let offset = usize::try_from(query.offset).unwrap_or(usize::MAX);
    let bodies = found.iter().skip(offset).take(query.rows_max).map(|(_, body)| *body).collect();
    Ok(Page { bodies, total: found.len() as u64, version, head })
}

fn subject(company: &PayrollCompany) -> CompanyFields<'_> {
    CompanyFields {
        code: company.code,
        name: &company.name,
        identifier: &company.identifier,
        last_update: company.last_update.unwrap_or_default(),
    }
}
