//! Pages of a list in order of creation: by `(created_at, id)`, from a cursor on.

use std::fmt;
use std::str::FromStr;

use domain::Ticks;

/// The largest page that a store returns, whatever the query asks for.
pub const LIST_ROWS_MAX: usize = 1000;

/// The position of a row in its list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListCursor {
    pub created_at: Ticks,
    pub id: String,
}

/// `<ticks>.<id>`, as pages and the operator's API write it.
impl fmt::Display for ListCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.created_at.0, self.id)
    }
}

impl FromStr for ListCursor {
    type Err = String;

    /// Only what `Display` writes is read.
    fn from_str(text: &str) -> Result<Self, String> {
        let parse = || {
            let (ticks, id) = text.split_once('.')?;
            let cursor = Self { created_at: Ticks(ticks.parse().ok()?), id: id.to_owned() };
            let is_canonical = cursor.to_string() == text && cursor.created_at.0 >= 0 && ticks.len() <= 18;
            (is_canonical && !id.is_empty()).then_some(cursor)
        };
        parse().ok_or_else(|| format!("{text:?} is not the next of an earlier page"))
    }
}

/// Which page of a list to read: the rows after the cursor, or the first ones.
#[derive(Clone, Debug)]
pub struct ListQuery {
    pub after: Option<ListCursor>,
    pub rows_max: usize,
}

impl Default for ListQuery {
    fn default() -> Self {
        Self { after: None, rows_max: LIST_ROWS_MAX }
    }
}

impl ListQuery {
    fn rows_max(&self) -> usize {
        self.rows_max.clamp(1, LIST_ROWS_MAX)
    }

    /// The cursor as SQL compares it; without one, a position before every row.
    pub(crate) fn after(&self) -> (i64, &str) {
        self.after.as_ref().map_or((i64::MIN, ""), |cursor| (cursor.created_at.0, &cursor.id))
    }

    /// The `LIMIT`: one row more than the page, to see whether another page follows.
    pub(crate) fn limit(&self) -> i64 {
        i64::try_from(self.rows_max() + 1).unwrap_or(i64::MAX)
    }

    /// The page of the rows that a statement with `limit` found.
    pub(crate) fn page<T: ListRow>(&self, mut rows: Vec<T>) -> ListPage<T> {
        let has_more = rows.len() > self.rows_max();
        rows.truncate(self.rows_max());
        let next = rows.last().filter(|_| has_more).map(ListRow::list_cursor);
        ListPage { rows, next }
    }

    /// The page of a list in memory, which comes in any order.
    #[cfg(feature = "memory")]
    pub(crate) fn page_of_all<T: ListRow>(&self, all: impl Iterator<Item = T>) -> ListPage<T> {
        let mut rows: Vec<T> =
            all.filter(|row| self.after.as_ref().is_none_or(|after| row.list_cursor() > *after)).collect();
        rows.sort_by_key(ListRow::list_cursor);
        self.page(rows)
    }
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListPage<T> {
    pub rows: Vec<T>,
    /// The cursor for the next page; `None` on the last page.
    pub next: Option<ListCursor>,
}

/// A row of a list.
pub(crate) trait ListRow {
    fn list_cursor(&self) -> ListCursor;
}

impl ListRow for crate::TenantMembership {
    fn list_cursor(&self) -> ListCursor {
        self.membership.list_cursor()
    }
}

macro_rules! list_rows {
    ($($row:ty),*) => {$(
        impl ListRow for $row {
            fn list_cursor(&self) -> ListCursor {
                ListCursor { created_at: self.created_at, id: self.id.as_str().to_owned() }
            }
        }
    )*};
}

list_rows!(
    crate::Tenant,
    crate::Account,
    crate::Membership,
    crate::Client,
    crate::Subscription,
    crate::Invitation,
    crate::Team,
    crate::TeamRequest,
    crate::NamedToken
);
