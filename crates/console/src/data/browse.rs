//! The handlers of lists: the companies of a tenant, what there is of each resource, the records of one.

use domain::{Resource, TenantId};
use operator::admin::{Admin, AdminError, CollectionName, RECORD_ROWS_MAX, RecordPageJson};
use pages::{Format, PageContext, PageError, Response};

use super::paths;
use super::views::data::{DataPage, Owner};
use super::views::records::RecordsPage;
use super::views::{Owners, title_of};
use crate::context::Context;

const ROWS: usize = 50;
/// How many records one CSV file holds.
const CSV_ROWS: usize = 1_000;

/// The companies of a tenant with what belongs to the tenant itself, or what one company has.
pub(crate) async fn data(context: &Context) -> Result<Response, PageError> {
    let admin = context.admin();
    let tenant = admin.tenant(&TenantId::new(context.segment("tenant"))).await?;
    let company = context.query.get("company");
    let resources = admin.record_catalogue(tenant.id.as_str(), company).await?.resources;
    let companies = CollectionName { tenant: tenant.id, resource: Resource::companies(), company: None };
    let (page, company) = match company {
        None => (Some(read(context, &admin, &companies).await?), None),
        Some(id) => {
            let record = admin.record(&companies.record(id)).await?;
            let name = record.data.as_deref().and_then(title_of);
            (None, Some(Owner { id: id.to_owned(), name: name.unwrap_or_default() }))
        }
    };
    let tenant = Owner { id: companies.tenant.to_string(), name: tenant.name };
    Ok(context.show(&DataPage { tenant, company, resources, companies: page, offset: offset(context) }))
}

/// The records of one resource.
pub(crate) async fn records(context: &Context) -> Result<Response, PageError> {
    let admin = context.admin();
    let tenant = admin.tenant(&TenantId::new(context.segment("tenant"))).await?;
    let area = context.query.get("area").unwrap_or_default();
    let (resource, company) = (context.segment("resource"), context.query.get("company"));
    let of = CollectionName::parse(tenant.id.as_str(), area, resource, company)?;
    let wanted = context.query.get("record").map(str::trim).filter(|id| !id.is_empty());
    let mut not_found = None;
    if let Some(id) = wanted {
        match admin.find_record_id(&of, id).await? {
            Some(id) if context.format == Format::Html => {
                return Ok(pages::see_other(&paths::record(context, &of.record(&id), "")));
            }
            Some(_) => {}
            None => not_found = Some(id.to_owned()),
        }
    }
    let (page, owners) = (read(context, &admin, &of).await?, owners(context, &of).await?);
    Ok(context.show(&RecordsPage { of, owners, page, offset: offset(context), not_found }))
}

/// The names of the tenant and of the company that records belong to.
pub(super) async fn owners(context: &Context, of: &CollectionName) -> Result<Owners, PageError> {
    let admin = context.admin();
    let tenant = admin.tenant(&of.tenant).await?.name;
    let Some(id) = &of.company else { return Ok(Owners { tenant, company: None }) };
    let companies =
        CollectionName { tenant: of.tenant.clone(), resource: Resource::companies(), company: None };
    // A company that was deleted has no name any more.
    let name = match admin.record(&companies.record(id)).await {
        Ok(record) => record.data.as_deref().and_then(title_of),
        Err(AdminError::NotFound(_)) => None,
        Err(error) => return Err(error.into()),
    };
    Ok(Owners { tenant, company: Some(name.unwrap_or_else(|| id.clone())) })
}

/// A page of the list, or as many records as a file holds.
async fn read(context: &Context, admin: &Admin, of: &CollectionName) -> Result<RecordPageJson, PageError> {
    let is_csv = context.format == Format::Csv;
    let rows = if is_csv { RECORD_ROWS_MAX } else { ROWS };
    let mut page = admin.records(of, offset(context), rows).await?;
    while is_csv
        && page.records.len() < CSV_ROWS
        && let Some(next) = page.next
    {
        let more = admin.records(of, next, rows).await?;
        page.records.extend(more.records);
        page.next = more.next;
    }
    Ok(page)
}

fn offset(context: &Context) -> u64 {
    context.query.get("offset").and_then(|text| text.parse().ok()).unwrap_or_default()
}
