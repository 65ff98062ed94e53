//! Records of tenants as the operator sees them: which there are, one record, its history from the change log, who was
//! notified of it, and edits by hand. The API and the console show the same.

mod diff;
mod edit;
mod history;
mod notified;

use domain::catalogue::Owner;
use domain::event::EventKind;
use domain::json::{Object, write_string};
use domain::{Area, CorrelationId, Resource, TenantId};
use serde::Serialize;
use serde_json::value::RawValue;
use store::{PageQuery, RecordLogQuery, StoreError};
use utoipa::ToSchema;

use super::{Admin, AdminError, Result};

pub use diff::{MemberDiffJson, RecordDiffJson};
pub use edit::{EDIT_REASON_CHARS_MAX, EditAction, EditedRecordJson, NewRecordEdit};
pub use history::{ChangedMemberJson, RecordChangeJson, RecordHistoryJson};
pub use notified::{NotifiedPageJson, NotifiedQuery, NotifiedWebhookJson};

pub const RECORD_ROWS_DEFAULT: usize = 50;
pub const RECORD_ROWS_MAX: usize = 100;

/// How many entries of a record's log decide its status.
const STATUS_ROWS: usize = 20;

/// The records of one resource in a company, or in the tenant itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionName {
    pub tenant: TenantId,
    pub resource: Resource,
    pub company: Option<String>,
}

impl CollectionName {
    /// The company is needed exactly where the resource belongs to one.
    pub fn parse(tenant: &str, area: &str, resource: &str, company: Option<&str>) -> Result<Self> {
        let found = Area::parse(area).and_then(|area| Resource::find(area, resource));
        let missing = || AdminError::NotFound(format!("resource \"{resource}\" in the area \"{area}\""));
        let resource = found.ok_or_else(missing)?;
        let name = resource.as_str();
        let invalid = |why: String| Err(AdminError::Invalid(why));
        let company = match (resource.owner(), company) {
            (Owner::Company, None) => {
                return invalid(format!("company is missing: {name} belong to a company"));
            }
            (Owner::Tenant, Some(_)) => {
                return invalid(format!("leave company out: {name} belong to the tenant"));
            }
            (Owner::Company, Some(company)) if CorrelationId::parse(company).is_err() => {
                return Err(AdminError::NotFound(format!("company {company:?}")));
            }
            (Owner::Company, Some(company)) => Some(company.to_owned()),
            (Owner::Tenant, None) => None,
        };
        Ok(Self { tenant: TenantId::new(tenant), resource, company })
    }

    pub fn record(&self, id: &str) -> RecordName {
        RecordName { collection: self.clone(), id: id.to_owned() }
    }

    fn missing_company(&self) -> AdminError {
        AdminError::NotFound(format!("company \"{}\"", self.company.as_deref().unwrap_or_default()))
    }
}

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordName {
    pub collection: CollectionName,
    /// Its correlation id; of a payroll company, its code.
    pub id: String,
}

impl RecordName {
    fn missing(&self) -> AdminError {
        AdminError::NotFound(format!("record \"{}\" of {}", self.id, self.collection.resource.as_str()))
    }

    fn log_query(&self, before: Option<u64>, rows_max: usize) -> RecordLogQuery {
        let CollectionName { tenant, resource, company } = self.collection.clone();
        RecordLogQuery {
            tenant,
            resource,
            company: company.map(Into::into),
            correlation_id: self.id.as_str().into(),
            before,
            rows_max,
        }
    }
}

/// The resources of the catalogue, with the number of records of each.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = RecordCatalogue)]
pub struct RecordCatalogueJson {
    /// Those of the company, or those that belong to the tenant itself.
    pub resources: Vec<ResourceCountJson>,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ResourceCount)]
pub struct ResourceCountJson {
    #[schema(examples("accounting"))]
    pub area: &'static str,
    #[schema(examples("customers"))]
    pub resource: &'static str,
    #[schema(examples(1200))]
    pub records: u64,
}

/// Records in order of creation.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = RecordPage)]
pub struct RecordPageJson {
    pub records: Vec<ListedRecordJson>,
    /// How many records there are in all.
    pub total: u64,
    /// Send it as `offset` to get the next page; null on the last page.
    #[schema(required = true)]
    pub next: Option<u64>,
}

/// A record in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ListedRecord)]
pub struct ListedRecordJson {
    /// Its correlation id; of a payroll company, its code.
    pub id: String,
    /// `Enabled` or `Disabled`; null where the resource has no state.
    #[schema(required = true)]
    pub state: Option<String>,
    /// The time of its last change; null for payroll companies.
    #[schema(required = true)]
    pub version: Option<String>,
    /// The number of its last change in the log; null for payroll companies.
    #[schema(required = true)]
    pub sequence_version: Option<String>,
    /// The record as applications read it.
    #[schema(value_type = Object)]
    pub data: Box<RawValue>,
}

/// Whether a record is stored and, if not, what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RecordStatus)]
pub enum RecordStatus {
    Stored,
    Deleted,
    /// It was deleted together with its company.
    DeletedWithCompany,
    /// The log has only failures of other systems with it.
    OnlyFailures,
}

/// A record, or what the log still has of a deleted one.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StoredRecord)]
pub struct RecordJson {
    pub tenant: String,
    #[schema(examples("accounting"))]
    pub area: &'static str,
    #[schema(examples("customers"))]
    pub resource: &'static str,
    /// The company that it belongs to; null where it belongs to the tenant.
    #[schema(required = true)]
    pub company: Option<String>,
    /// Its correlation id; of a payroll company, its code.
    pub id: String,
    pub status: RecordStatus,
    /// `Enabled` or `Disabled`; null where the resource has no state, and of a record that is gone.
    #[schema(required = true)]
    pub state: Option<String>,
    /// The number of its last change, 0 for a record that is gone: send it with an edit to make sure that nothing changed
    /// in between.
    #[schema(pattern = "^[0-9]+$", examples("1018"))]
    pub sequence_version: String,
    /// The record as applications read it; null where it is gone.
    #[schema(required = true, value_type = Option<Object>)]
    pub data: Option<Box<RawValue>>,
    /// Its newest entry in the log; null where the log no longer has one.
    #[schema(required = true)]
    pub last_change: Option<RecordChangeJson>,
}

impl RecordJson {
    /// The record as an upsert takes it: without the members that the service sets. None where the record is gone.
    pub fn editable_data(&self) -> Option<String> {
        let object = Object::parse(self.data.as_ref()?.get().as_bytes()).ok()?;
        let is_own = |name: &str| match name {
            "correlationId" | "version" | "sequenceVersion" => self.area == Area::Payroll.as_str(),
            "state" => self.state.is_none(),
            // Without it, a payroll company gets the time of the change.
            "lastUpdate" => self.area != Area::Payroll.as_str(),
            _ => true,
        };
        let mut text = String::from("{");
        for (name, value) in object.members().filter(|(name, _)| is_own(name)) {
            if text.len() > 1 {
                text.push(',');
            }
            write_string(name, &mut text);
            text.push(':');
            text.push_str(value);
        }
        text.push('}');
        Some(text)
    }
}

impl Admin {
    /// The resources that a company has records of, or those of the tenant itself.
    pub async fn record_catalogue(&self, tenant: &str, company: Option<&str>) -> Result<RecordCatalogueJson> {
        let tenant = self.tenant(&TenantId::new(tenant)).await?.id;
        let sizes = self.store.collection_sizes(&tenant, company).await?;
        let missing = || AdminError::NotFound(format!("company \"{}\"", company.unwrap_or_default()));
        let sizes = sizes.ok_or_else(missing)?;
        let owner = if company.is_some() { Owner::Company } else { Owner::Tenant };
        let count = |resource: Resource| {
            let size = sizes.iter().find(|size| size.resource == resource);
            ResourceCountJson {
                area: resource.area().as_str(),
                resource: resource.as_str(),
                records: size.map_or(0, |size| size.records),
            }
        };
        let resources = Resource::all().filter(|resource| resource.owner() == owner).map(count).collect();
        Ok(RecordCatalogueJson { resources })
    }

    /// A page of records in order of creation, as the APIs list them. It costs the same wherever it is.
    pub async fn records(&self, of: &CollectionName, offset: u64, rows_max: usize) -> Result<RecordPageJson> {
        self.tenant(&of.tenant).await?;
        let query = PageQuery {
            tenant: of.tenant.clone(),
            company: of.company.as_deref().map(Into::into),
            resource: of.resource,
            offset,
            rows_max: rows_max.clamp(1, RECORD_ROWS_MAX),
        };
        let page = self.store.page(&query).await?.ok_or_else(|| of.missing_company())?;
        let records = page
            .bodies
            .iter()
            .map(|body| ListedRecordJson::new(of.resource, body))
            .collect::<Result<Vec<_>>>()?;
        let end = offset.saturating_add(u64::try_from(records.len()).unwrap_or(u64::MAX));
        let next = Some(end).filter(|end| *end < page.total && !records.is_empty());
        Ok(RecordPageJson { records, total: page.total, next })
    }

    /// A record, also a deleted one if the log still has it.
    pub async fn record(&self, name: &RecordName) -> Result<RecordJson> {
        let CollectionName { tenant, resource, company } = &name.collection;
        self.tenant(tenant).await?;
        let stored = self.store.find_record(tenant, company.as_deref(), *resource, &name.id).await?;
        let log = self.store.read_record_log(&name.log_query(None, STATUS_ROWS)).await?;
        if stored.is_none() && log.is_empty() {
            return Err(name.missing());
        }
        let object = stored.as_ref().map(|record| parsed(&record.body)).transpose()?;
        let status = match &stored {
            Some(_) => RecordStatus::Stored,
            None => status_from_log(log.iter().map(|event| event.entry.kind)),
        };
        Ok(RecordJson {
            tenant: tenant.to_string(),
            area: resource.area().as_str(),
            resource: resource.as_str(),
            company: company.clone(),
            id: name.id.clone(),
            status,
            state: object.as_ref().and_then(|object| state(*resource, object)),
            sequence_version: stored.as_ref().map_or(0, |record| record.sequence).to_string(),
            data: stored.as_ref().map(|record| raw(&record.body)).transpose()?,
            last_change: log.into_iter().next().map(|event| event.entry.into()),
        })
    }

    /// The id of the record that somebody means: as it is, or a GUID in another case. None if there is no such record and
    /// the log has none.
    pub async fn find_record_id(&self, of: &CollectionName, id: &str) -> Result<Option<String>> {
        let CollectionName { tenant, resource, company } = of;
        let company = company.as_deref();
        if self.store.find_record(tenant, company, *resource, id).await?.is_some() {
            return Ok(Some(id.to_owned()));
        }
        if let Some(guid) = domain::Guid::parse(id) {
            let found = self.store.find_guid(tenant, company, *resource, &guid.to_string()).await?;
            if let Some(found) = found {
                return Ok(Some(found.into()));
            }
        }
        let log = self.store.read_record_log(&of.record(id).log_query(None, 1)).await?;
        Ok((!log.is_empty()).then(|| id.to_owned()))
    }
}

/// The status of a record that is not stored, from the kinds of its newest changes, newest first.
fn status_from_log(kinds: impl IntoIterator<Item = EventKind>) -> RecordStatus {
    match kinds.into_iter().find(|kind| *kind != EventKind::ErrorOccurred) {
        Some(EventKind::Deleted) => RecordStatus::Deleted,
        Some(_) => RecordStatus::DeletedWithCompany,
        None => RecordStatus::OnlyFailures,
    }
}

impl ListedRecordJson {
    fn new(resource: Resource, body: &str) -> Result<Self> {
        let object = parsed(body)?;
        let id = if resource == Resource::payroll_companies() {
            object.get("companyCode").unwrap_or_default().to_owned()
        } else {
            text(&object, "correlationId").unwrap_or_default()
        };
        let is_payroll = resource.area() == Area::Payroll;
        let own = |name| text(&object, name).filter(|_| !is_payroll);
        Ok(Self {
            id,
            state: state(resource, &object),
            version: own("version"),
            sequence_version: own("sequenceVersion"),
            data: raw(body)?,
        })
    }
}

fn state(resource: Resource, object: &Object) -> Option<String> {
    text(object, "state").filter(|_| resource.has_state())
}

/// A member that is text.
fn text(object: &Object, name: &str) -> Option<String> {
    object.get(name).and_then(|value| serde_json::from_str(value).ok())
}

fn parsed(body: &str) -> Result<Object> {
    Object::parse(body.as_bytes()).map_err(|error| StoreError::Internal(error.to_string()).into())
}

fn raw(body: &str) -> Result<Box<RawValue>> {
    RawValue::from_string(body.to_owned()).map_err(|error| StoreError::Internal(error.to_string()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn company_is_named_exactly_where_the_resource_belongs_to_one() {
        let parse = |area, resource, company| CollectionName::parse("t", area, resource, company);
        assert_eq!(parse("accounting", "customers", Some("c")).unwrap().company.as_deref(), Some("c"));
        assert_eq!(parse("accounting", "companies", None).unwrap().resource, Resource::companies());
        for (area, resource, company) in [
            ("accounting", "customers", None),
            ("accounting", "companies", Some("c")),
            ("invoicing", "Bank", Some("c")),
        ] {
            assert!(matches!(parse(area, resource, company), Err(AdminError::Invalid(_))), "{resource}");
        }
        for (area, resource, company) in [
            ("accounting", "Bank", None),
            ("nothing", "customers", None),
            ("accounting", "customers", Some("a\0b")),
            ("", "", None),
        ] {
            assert!(matches!(parse(area, resource, company), Err(AdminError::NotFound(_))), "{area}");
        }
    }

    #[test]
    fn newest_change_that_is_no_failure_decides_what_became_of_a_record() {
        use EventKind::{Created, Deleted, ErrorOccurred, Updated};
        assert_eq!(status_from_log([ErrorOccurred, Deleted, Updated, Created]), RecordStatus::Deleted);
        assert_eq!(status_from_log([Updated, Deleted, Created]), RecordStatus::DeletedWithCompany);
        assert_eq!(status_from_log([ErrorOccurred]), RecordStatus::OnlyFailures);
    }

    #[test]
    fn listed_record_has_the_members_that_the_store_sets() {
        let body =
            r#"{"code":"1","correlationId":"a","state":"Disabled","version":"v","sequenceVersion":"7"}"#;
        let listed = ListedRecordJson::new(Resource::accounts(), body).unwrap();
        assert_eq!((listed.id.as_str(), listed.state.as_deref()), ("a", Some("Disabled")));
        assert_eq!(listed.sequence_version.as_deref(), Some("7"));
        let body = r#"{"companyCode":12,"companyName":"Norte","identifierNumber":"","lastUpdate":"x"}"#;
        let listed = ListedRecordJson::new(Resource::payroll_companies(), body).unwrap();
        assert_eq!((listed.id.as_str(), listed.state, listed.version), ("12", None, None));
    }
}
