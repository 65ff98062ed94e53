//! The query parameters of lists, which are paged in order of creation, and the text form of their cursor.

use domain::{TeamId, Ticks};
use serde::Deserialize;
use store::{ListCursor, ListQuery, SearchFilter};
use utoipa::{IntoParams, ToSchema};

use super::schema_types::{ChosenId, NameFilter};
use crate::page_size::{ROWS_DEFAULT, parse_page_size};

/// The query parameters of a list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ListParams {
    /// The largest number of items on the page.
    #[param(value_type = u16, required = false, minimum = 1, maximum = 1000, default = 100)]
    page_size: Option<PageSize>,
    /// The `next` of the previous page; leave it out for the first page.
    #[param(
        value_type = String,
        required = false,
        pattern = "^(0|[1-9][0-9]{0,17})\\.[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
    )]
    after: Option<PageCursor>,
}

impl From<ListParams> for ListQuery {
    fn from(params: ListParams) -> Self {
        page_query(params.page_size, params.after)
    }
}

/// The query parameters of a list that can be searched.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct SearchParams {
    /// Only those whose e-mail address, name or id begins with this text. ASCII letters of names count in any case. Items come
    /// by what was compared: addresses first, then names, then ids.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    q: Option<NameFilter>,
    /// Only those with this standing.
    #[param(inline, required = false)]
    standing: Option<StandingName>,
    /// The largest number of items on the page.
    #[param(value_type = u16, required = false, minimum = 1, maximum = 1000, default = 100)]
    page_size: Option<PageSize>,
    /// The `next` of the previous page; leave it out for the first page.
    #[param(
        value_type = String,
        required = false,
        pattern = "^(0|[1-9][0-9]{0,17})\\.[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
    )]
    after: Option<PageCursor>,
}

/// A standing to filter by.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum StandingName {
    Active,
    Disabled,
    Unconfirmed,
}

impl SearchParams {
    pub(super) fn into_parts(self) -> (SearchFilter, ListQuery) {
        let status = self.standing.map(|standing| match standing {
            StandingName::Active => store::Status::Active,
            StandingName::Disabled => store::Status::Disabled,
            StandingName::Unconfirmed => store::Status::Unconfirmed,
        });
        let filter = SearchFilter::new(self.q.as_ref().map(|text| text.0.as_str()), status);
        (filter, page_query(self.page_size, self.after))
    }
}

/// The query parameters of a list of what teams own.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct TeamListParams {
    /// Only what this team owns.
    #[param(value_type = String, required = false, min_length = 1, max_length = 100, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    team: Option<ChosenId>,
    /// The largest number of items on the page.
    #[param(value_type = u16, required = false, minimum = 1, maximum = 1000, default = 100)]
    page_size: Option<PageSize>,
    /// The `next` of the previous page; leave it out for the first page.
    #[param(
        value_type = String,
        required = false,
        pattern = "^(0|[1-9][0-9]{0,17})\\.[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
    )]
    after: Option<PageCursor>,
}

impl TeamListParams {
    pub(super) fn into_parts(self) -> (Option<TeamId>, ListQuery) {
        (self.team.map(|team| TeamId::new(team.0)), page_query(self.page_size, self.after))
    }
}

/// The query of a page.
pub(super) fn page_query(page_size: Option<PageSize>, after: Option<PageCursor>) -> ListQuery {
    ListQuery { after: after.map(|cursor| cursor.0), rows_max: page_size.map_or(ROWS_DEFAULT, |size| size.0) }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct PageSize(pub(super) usize);

impl TryFrom<String> for PageSize {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        parse_page_size(&text).map(Self)
    }
}

/// `<ticks>.<id>`: the creation time and the id of the last row of a page.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct PageCursor(ListCursor);

/// The `next` of a page.
pub(super) fn next_text(cursor: Option<&ListCursor>) -> Option<String> {
    cursor.map(|cursor| format!("{}.{}", cursor.created_at.0, cursor.id))
}

impl TryFrom<String> for PageCursor {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parse = || {
            let (ticks, id) = text.split_once('.')?;
            let cursor = ListCursor { created_at: Ticks(ticks.parse().ok()?), id: id.to_owned() };
            let is_canonical = next_text(Some(&cursor)).as_ref() == Some(&text)
                && cursor.created_at.0 >= 0
                && ticks.len() <= 18;
            (is_canonical && ChosenId::try_from(cursor.id.clone()).is_ok()).then_some(Self(cursor))
        };
        parse().ok_or_else(|| format!("{text:?} is not the next of an earlier page"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_cursors_are_read() {
        for wrong in ["", "1", "x.a", "01.a", "-1.a", "1.", "1.ñ", "1..", "1234567890123456789.a"] {
            assert!(PageCursor::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
        let cursor = ListCursor { created_at: Ticks(17), id: "a.b".into() };
        assert_eq!(next_text(Some(&cursor)).as_deref(), Some("17.a.b"));
        assert_eq!(PageCursor::try_from("17.a.b".to_owned()), Ok(PageCursor(cursor)));
    }
}
