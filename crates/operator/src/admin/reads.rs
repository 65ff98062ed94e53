//! Who read what: which client read which resource of which company of a tenant, how often and when.

use domain::{Area, ClientId, TenantId, Ticks};
use serde::Serialize;
use store::{ReadCursor, ReadDay, ReadQuery, ReadTarget};
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use super::{Admin, AdminError, Result, names_schema};
use crate::page_size::{ROWS_DEFAULT, ROWS_MAX};

/// Which reads of a tenant to list; all conditions must hold.
#[derive(Clone, Debug, Default)]
pub struct ReadsRequest {
    pub client: Option<String>,
    pub target: Option<ReadTarget>,
    pub company: Option<String>,
    /// Only of the day (UTC) of this time, or later.
    pub since: Option<Ticks>,
    /// Only of the day (UTC) of this time, or earlier.
    pub until: Option<Ticks>,
    /// The `next` of the previous page.
    pub before: Option<String>,
    pub rows_max: Option<usize>,
}

/// What a client read of a resource of a company on one day.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Read)]
pub struct ReadJson {
    /// The day, UTC.
    #[schema(format = Date, examples("2026-11-15"))]
    pub day: String,
    /// The client's id.
    #[schema(examples("panel"))]
    pub client: String,
    #[schema(schema_with = areas)]
    pub area: &'static str,
    /// The last segment of the resource's path; `changes` is the feed of all invoicing entities.
    #[schema(examples("journals"))]
    pub resource: &'static str,
    /// The company's correlationId. Null: what was read belongs to the tenant, or to companies beyond 20,000 rows a day.
    #[schema(required = true)]
    pub company: Option<String>,
    /// Successful reads of the day.
    #[schema(minimum = 1, examples(17))]
    pub reads: u64,
    /// The same by hour, UTC; the first is midnight to one.
    #[schema(min_items = 24, max_items = 24)]
    pub hours: Vec<u64>,
}

/// Who read what, newest day first.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ReadPage)]
pub struct ReadPageJson {
    pub reads: Vec<ReadJson>,
    /// Send it as `before` to get the next page; null on the last page.
    #[schema(required = true)]
    pub next: Option<String>,
}

impl From<ReadDay> for ReadJson {
    fn from(row: ReadDay) -> Self {
        Self {
            day: Ticks::from_day(row.day).date(),
            reads: row.total(),
            client: row.client.to_string(),
            area: row.target.area().as_str(),
            resource: row.target.as_str(),
            company: row.company.map(String::from),
            hours: row.hours.to_vec(),
        }
    }
}

impl Admin {
    /// A page of who read what in a tenant, newest day first.
    pub async fn reads(&self, tenant: &TenantId, request: &ReadsRequest) -> Result<ReadPageJson> {
        let rows_max = request.rows_max.unwrap_or(ROWS_DEFAULT);
        if !(1..=ROWS_MAX).contains(&rows_max) {
            return Err(AdminError::Invalid(format!("a page has 1 to {ROWS_MAX} rows, not {rows_max}")));
        }
        self.tenant(tenant).await?;
        let query = ReadQuery {
            tenant: tenant.clone(),
            client: request.client.as_deref().map(ClientId::new),
            target: request.target,
            company: request.company.as_deref().map(Into::into),
            since_day: request.since.map(Ticks::day),
            until_day: request.until.map(Ticks::day),
            before: request.before.as_deref().map(parse_read_cursor).transpose()?,
            rows_max,
        };
        let page = self.store.list_reads(&query).await?;
        let next = page.next.as_ref().map(format_cursor);
        Ok(ReadPageJson { reads: page.rows.into_iter().map(ReadJson::from).collect(), next })
    }
}

/// `accounting/journals`
pub fn parse_read_target(text: &str) -> Option<ReadTarget> {
    let (area, name) = text.split_once('/')?;
    let area = Area::ALL.into_iter().find(|one| one.as_str() == area)?;
    ReadTarget::find(area, name)
}

/// The names that `parse_read_target` reads.
pub(crate) fn read_target_names() -> Vec<String> {
    ReadTarget::all().map(|target| format!("{}/{}", target.area().as_str(), target.as_str())).collect()
}

fn areas() -> RefOr<Schema> {
    names_schema(None, Area::ALL.map(Area::as_str))
}

/// `<day>.<resource>.<client>`, and the company after a space.
fn format_cursor(cursor: &ReadCursor) -> String {
    let ReadCursor { day, client, resource, company } = cursor;
    let separator = if company.is_empty() { "" } else { " " };
    format!("{day}.{resource}.{client}{separator}{company}")
}

pub(crate) fn parse_read_cursor(text: &str) -> Result<ReadCursor> {
    let parse = || {
        let (position, company) = text.split_once(' ').unwrap_or((text, ""));
        let mut parts = position.splitn(3, '.');
        let day = parts.next()?.parse().ok().filter(|day| (0..10_000_000).contains(day))?;
        let resource = parts.next()?.parse().ok().filter(|code| (0..1000).contains(code))?;
        let client = ClientId::new(parts.next().filter(|client| !client.is_empty())?);
        let cursor = ReadCursor { day, client, resource, company: company.into() };
        (format_cursor(&cursor) == text && !text.contains('\0')).then_some(cursor)
    };
    parse().ok_or_else(|| AdminError::Invalid("before must be the `next` value of a previous page".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_names() {
        let names = read_target_names();
        assert!(names.iter().any(|name| name == "payroll/companies") && names.len() == 21, "{names:?}");
        for name in names {
            let target = parse_read_target(&name).unwrap();
            assert_eq!(format!("{}/{}", target.area().as_str(), target.as_str()), name);
        }
        for wrong in ["", "journals", "accounting/", "accounting/changes", "x/journals"] {
            assert_eq!(parse_read_target(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn only_canonical_cursors_are_read() {
        for company in ["", "c1", "ñ x.1\n", " "] {
            let cursor = ReadCursor {
                day: 739_000,
                client: ClientId::new("a.b"),
                resource: 8,
                company: company.into(),
            };
            assert_eq!(parse_read_cursor(&format_cursor(&cursor)).unwrap(), cursor);
        }
        for wrong in ["", "1", "1.2", "1.2.", "01.2.a", "1.+2.a", "-1.2.a", "1.2.a ", "1.1000.a", "1.2.a b\0"]
        {
            assert!(parse_read_cursor(wrong).is_err(), "{wrong}");
        }
    }
}
