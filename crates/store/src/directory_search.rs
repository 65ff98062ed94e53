//! Finds tenants and accounts by the beginning of a name, an e-mail address or an id, and lists those in a state.

use async_trait::async_trait;
use domain::{AccountId, Realm, TenantId};

use crate::listing::ListRow;
use crate::{Account, ListPage, ListQuery, Result, Status, Tenant, TenantMembership};

/// Longer texts name nothing.
const PREFIX_CHARS_MAX: usize = 254;

/// Which rows of a list; all conditions hold together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchFilter {
    /// The beginning of an e-mail address, a name or an id.
    prefix: Option<String>,
    pub status: Option<Status>,
}

impl SearchFilter {
    /// `text` as somebody typed it; one of spaces alone names everything.
    pub fn new(text: Option<&str>, status: Option<Status>) -> Self {
        let prefix = text.map(str::trim).filter(|text| !text.is_empty());
        // PostgreSQL has no NUL in its texts, so nothing begins with one.
        let prefix =
            prefix.map(|text| text.replace('\0', "\u{fffd}").chars().take(PREFIX_CHARS_MAX).collect());
        Self { prefix, status }
    }

    pub fn prefix(&self) -> Option<&str> {
        self.prefix.as_deref()
    }
}

/// What a prefix is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchField {
    Email,
    Name,
    Id,
}

impl SearchField {
    /// The text as the keys of this field have it. SQL lowers ASCII letters alone, in both databases.
    fn key(self, text: &str) -> String {
        match self {
            Self::Email => text.to_lowercase(),
            Self::Name => text.to_ascii_lowercase(),
            Self::Id => text.to_owned(),
        }
    }

    /// The keys that begin with a prefix: from the first on, before the second.
    pub(crate) fn range(self, prefix: &str) -> (String, String) {
        let from = self.key(prefix);
        let until = format!("{from}{}", char::MAX);
        (from, until)
    }
}

/// A row that can be searched for.
pub(crate) trait SearchRow: ListRow {
    /// In the order of the results: a row is found by the first field that begins with the prefix.
    const FIELDS: &'static [SearchField];

    fn text(&self, field: SearchField) -> &str;
}

impl SearchRow for Account {
    const FIELDS: &'static [SearchField] = &[SearchField::Email, SearchField::Name, SearchField::Id];

    fn text(&self, field: SearchField) -> &str {
        match field {
            SearchField::Email => &self.email,
            SearchField::Name => &self.given_name,
            SearchField::Id => self.id.as_str(),
        }
    }
}

impl SearchRow for Tenant {
    const FIELDS: &'static [SearchField] = &[SearchField::Id, SearchField::Name];

    fn text(&self, field: SearchField) -> &str {
        match field {
            SearchField::Name => &self.name,
            SearchField::Email | SearchField::Id => self.id.as_str(),
        }
    }
}

/// One range of an index: the rows that a field finds and the fields before it do not, by key and id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SearchStep {
    pub(crate) field: SearchField,
    /// Only keys from this one on; with this key, only ids after `after_id`.
    pub(crate) from: String,
    pub(crate) after_id: String,
    pub(crate) until: String,
    /// Fields that must not begin with the prefix.
    pub(crate) passed: &'static [SearchField],
}

/// The field that finds a row, by its position.
fn position<R: SearchRow>(prefix: &str, row: &R) -> Option<usize> {
    R::FIELDS.iter().position(|field| field.key(row.text(*field)).starts_with(&field.key(prefix)))
}

/// The ranges that hold the rows after this one, or all. Nothing comes after a row that is not found any more.
pub(crate) fn search_steps<R: SearchRow>(prefix: &str, after: Option<&R>) -> Vec<SearchStep> {
    let first = match after {
        Some(row) => position(prefix, row),
        None => Some(0),
    };
    let Some(first) = first else { return Vec::new() };
    let step = |(at, field): (usize, &SearchField)| {
        let (from, until) = field.range(prefix);
        let passed = R::FIELDS.get(..at).unwrap_or_default();
        let step = SearchStep { field: *field, from, after_id: String::new(), until, passed };
        match after.filter(|_| at == first) {
            Some(row) => {
                SearchStep { from: field.key(row.text(*field)), after_id: row.list_cursor().id, ..step }
            }
            None => step,
        }
    };
    R::FIELDS.iter().enumerate().skip(first).map(step).collect()
}

/// The page of a search in memory, whose rows come in any order.
#[cfg(feature = "memory")]
pub(crate) fn search_all<R: SearchRow>(
    all: impl Iterator<Item = R>,
    prefix: Option<&str>,
    query: &ListQuery,
) -> ListPage<R> {
    let Some(prefix) = prefix else { return query.page_of_all(all) };
    let rank = |row: &R| {
        let at = position(prefix, row)?;
        let field = R::FIELDS.get(at)?;
        Some((at, field.key(row.text(*field)), row.list_cursor().id))
    };
    let mut found: Vec<_> = all.filter_map(|row| Some((rank(&row)?, row))).collect();
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    let first = match &query.after {
        Some(cursor) => found.iter().position(|((.., id), _)| *id == cursor.id).map(|at| at + 1),
        None => Some(0),
    };
    let rows = found.into_iter().map(|(_, row)| row);
    query.page(rows.skip(first.unwrap_or(usize::MAX)).collect())
}

#[async_trait]
pub trait DirectorySearch: Send + Sync + 'static {
    /// Without a prefix, in order of creation. With one, those whose id begins with it, then those whose name does (ASCII letters
    /// in any case); each by what was compared.
    async fn search_tenants(&self, filter: &SearchFilter, query: &ListQuery) -> Result<ListPage<Tenant>>;

    /// The same for the accounts of a realm: by e-mail address, then by name, then by id.
    async fn search_accounts(
        &self,
        realm: Realm,
        filter: &SearchFilter,
        query: &ListQuery,
    ) -> Result<ListPage<Account>>;

    /// The members of a tenant, oldest membership first.
    async fn tenant_members(
        &self,
        tenant: &TenantId,
        query: &ListQuery,
    ) -> Result<ListPage<TenantMembership>>;

    /// The tenants of a user, oldest membership first.
    async fn user_tenants(&self, user: &AccountId, query: &ListQuery) -> Result<ListPage<TenantMembership>>;
}

#[cfg(test)]
mod tests {
    use domain::Ticks;

    use super::*;

    fn tenant(id: &str, name: &str) -> Tenant {
        Tenant {
            id: TenantId::new(id),
            name: name.into(),
            short_code: id.into(),
            status: Status::Active,
            created_at: Ticks(1),
            revision: 1,
            sandbox_of: None,
        }
    }

    #[test]
    fn search_continues_in_the_range_that_found_the_last_row() {
        let steps = search_steps::<Tenant>("Nor", None);
        let fields: Vec<SearchField> = steps.iter().map(|step| step.field).collect();
        assert_eq!(fields, [SearchField::Id, SearchField::Name]);
        assert_eq!((&*steps[0].from, &*steps[0].until), ("Nor", "Nor\u{10ffff}"));
        assert_eq!((&*steps[1].from, steps[1].passed), ("nor", &[SearchField::Id][..]));
        let by_id = search_steps("Nor", Some(&tenant("Norte-1", "NORTE")));
        assert_eq!((by_id.len(), &*by_id[0].from, &*by_id[0].after_id), (2, "Norte-1", "Norte-1"));
        let by_name = search_steps("Nor", Some(&tenant("x", "NORTE")));
        assert_eq!((by_name.len(), &*by_name[0].from, &*by_name[0].after_id), (1, "norte", "x"));
        assert!(search_steps("Nor", Some(&tenant("x", "x"))).is_empty());
    }

    #[test]
    fn filter_takes_what_somebody_typed() {
        let prefix = |text| SearchFilter::new(Some(text), None).prefix().map(str::to_owned);
        assert_eq!(prefix("  "), None);
        assert_eq!(prefix(" Ana "), Some("Ana".into()));
        assert_eq!(prefix("a\0"), Some("a\u{fffd}".into()));
        assert_eq!(prefix(&"ñ".repeat(1000)).unwrap().chars().count(), PREFIX_CHARS_MAX);
        assert_eq!(SearchFilter::new(None, None), SearchFilter::default());
    }
}
