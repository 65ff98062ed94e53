//! The query parameters of lists, which are paged in order of creation, and the text form of their cursor.

use domain::TeamId;
use serde::Deserialize;
use store::{ListCursor, ListFilter, ListQuery, ListedState, SearchFilter};
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
    /// Only those whose e-mail address, name or id begins with this text. ASCII letters of names count in any case. Tenants
    /// come by id, then by name; people by address, then by name, then by id.
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

/// The query parameters of the list of teams.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct TeamSearchParams {
    /// Only rows whose id or name begins with this text; the case of ASCII letters of a name does not matter. They come by
    /// id and name.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    q: Option<NameFilter>,
    /// Only rows with this standing.
    #[param(required = false, inline)]
    standing: Option<Standing>,
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

impl TeamSearchParams {
    pub(super) fn into_parts(self) -> (ListFilter, ListQuery) {
        let filter =
            ListFilter { team: None, state: self.standing.map(Into::into), text: self.q.map(|text| text.0) };
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
    /// Only rows whose id or name begins with this text; the case of ASCII letters of a name does not matter. They come by
    /// id and name.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    q: Option<NameFilter>,
    /// Only rows with this standing.
    #[param(required = false, inline)]
    standing: Option<Standing>,
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
    pub(super) fn into_parts(self) -> (ListFilter, ListQuery) {
        let team = self.team.map(|team| TeamId::new(team.0));
        let filter =
            ListFilter { team, state: self.standing.map(Into::into), text: self.q.map(|text| text.0) };
        (filter, page_query(self.page_size, self.after))
    }
}

/// The query parameters of the list of subscriptions.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct SubscriptionListParams {
    /// Only what this team owns.
    #[param(value_type = String, required = false, min_length = 1, max_length = 100, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    team: Option<ChosenId>,
    /// Only rows whose id or name begins with this text; the case of ASCII letters of a name does not matter. They come by
    /// id and name.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    q: Option<NameFilter>,
    /// Only subscriptions with this standing.
    #[param(required = false, inline)]
    standing: Option<SubscriptionStanding>,
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

impl SubscriptionListParams {
    pub(super) fn into_parts(self) -> (ListFilter, ListQuery) {
        let team = self.team.map(|team| TeamId::new(team.0));
        let filter =
            ListFilter { team, state: self.standing.map(Into::into), text: self.q.map(|text| text.0) };
        (filter, page_query(self.page_size, self.after))
    }
}

#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Standing {
    Active,
    Disabled,
}

impl From<Standing> for ListedState {
    fn from(standing: Standing) -> Self {
        match standing {
            Standing::Active => Self::Active,
            Standing::Disabled => Self::Disabled,
        }
    }
}

/// Of a subscription: `cancelled` is final.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum SubscriptionStanding {
    Active,
    Suspended,
    Cancelled,
}

impl From<SubscriptionStanding> for ListedState {
    fn from(standing: SubscriptionStanding) -> Self {
        match standing {
            SubscriptionStanding::Active => Self::Active,
            SubscriptionStanding::Suspended => Self::Disabled,
            SubscriptionStanding::Cancelled => Self::Cancelled,
        }
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

/// The creation time and the id of the last row of a page.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct PageCursor(ListCursor);

/// The `next` of a page.
pub(super) fn next_text(cursor: Option<&ListCursor>) -> Option<String> {
    cursor.map(ToString::to_string)
}

impl TryFrom<String> for PageCursor {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let cursor: ListCursor = text.parse()?;
        match ChosenId::try_from(cursor.id.clone()) {
            Ok(_) => Ok(Self(cursor)),
            Err(_) => Err(format!("{text:?} is not the next of an earlier page")),
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::Ticks;

    use super::*;

    #[test]
    fn page_size_has_no_sign() {
        assert_eq!(PageSize::try_from("5".to_owned()).map(|size| size.0), Ok(5));
        for wrong in ["", "0", "+5", "-5", "1001"] {
            assert!(PageSize::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_canonical_cursors_are_read() {
        for wrong in
            ["", "1", "x.a", "01.a", "+1.a", "-1.a", "-0.a", "1.", "1.ñ", "1..", "1234567890123456789.a"]
        {
            assert!(PageCursor::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
        let cursor = ListCursor { created_at: Ticks(17), id: "a.b".into() };
        assert_eq!(next_text(Some(&cursor)).as_deref(), Some("17.a.b"));
        assert_eq!(PageCursor::try_from("17.a.b".to_owned()), Ok(PageCursor(cursor)));
    }
}
