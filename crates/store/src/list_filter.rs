//! Which rows a list of teams, clients or subscriptions shows. A search finds ids and names that begin with a text: each is a
//! range of an index, so that a page costs the same however many rows there are.

use domain::TeamId;

use crate::{ListCursor, ListQuery};

/// Sorts behind every text that begins like the range.
const LAST: char = '\u{10ffff}';

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListFilter {
    /// Only what this team owns. A list of teams does not look at it.
    pub team: Option<TeamId>,
    pub state: Option<ListedState>,
    /// The beginning of an id or, in upper or lower case (of ASCII), of a name. The rows come with ids first, then by name.
    pub text: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedState {
    Active,
    /// Of a subscription: suspended.
    Disabled,
    /// Subscriptions alone.
    Cancelled,
}

impl ListedState {
    pub const ALL: [Self; 3] = [Self::Active, Self::Disabled, Self::Cancelled];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Disabled => "disabled",
            Self::Cancelled => "cancelled",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// The table of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListTable {
    pub(crate) name: &'static str,
    pub(crate) has_team: bool,
    pub(crate) can_be_cancelled: bool,
}

pub(crate) const TEAMS: ListTable = ListTable { name: "teams", has_team: false, can_be_cancelled: false };
pub(crate) const CLIENTS: ListTable = ListTable { name: "clients", has_team: true, can_be_cancelled: false };
pub(crate) const SUBSCRIPTIONS: ListTable =
    ListTable { name: "subscriptions", has_team: true, can_be_cancelled: true };

/// The texts from `from` up to `to`, which is not among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextRange {
    pub(crate) from: String,
    pub(crate) to: String,
}

impl TextRange {
    fn of_prefix(prefix: &str) -> Self {
        Self { from: prefix.to_owned(), to: format!("{prefix}{LAST}") }
    }
}

/// A search, from its beginning or from a cursor on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Search {
    pub(crate) ids: TextRange,
    /// Of names in lower case.
    pub(crate) names: TextRange,
    pub(crate) after: SearchPosition,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SearchPosition {
    /// The ids after this one, then all names.
    Ids(String),
    /// The names after that of the row with this id.
    Names(String),
}

impl ListFilter {
    pub fn of_team(team: &TeamId) -> Self {
        Self { team: Some(team.clone()), ..Self::default() }
    }

    fn searched(&self) -> Option<&str> {
        self.text.as_deref().map(str::trim).filter(|text| !text.is_empty())
    }

    /// What is searched for; None: the list is in order of creation.
    pub(crate) fn search(&self, query: &ListQuery) -> Option<Search> {
        let text = self.searched()?;
        let after = match &query.after {
            None => SearchPosition::Ids(String::new()),
            Some(ListCursor { id, .. }) if id.starts_with(text) => SearchPosition::Ids(id.clone()),
            Some(ListCursor { id, .. }) => SearchPosition::Names(id.clone()),
        };
        let (ids, names) = (TextRange::of_prefix(text), TextRange::of_prefix(&text.to_ascii_lowercase()));
        Some(Search { ids, names, after })
    }

    /// The conditions on team and state; `team` is the placeholder of the team's id.
    pub(crate) fn conditions(&self, table: ListTable, team: &str) -> String {
        let by_team = match &self.team {
            Some(_) if table.has_team => format!("team_id = {team}"),
            _ => format!("CAST({team} AS TEXT) IS NULL"),
        };
        // The index of states is one of an expression, so that no other query uses it: of a team there are few rows, and a
        // search reads a range of ids or names.
        let is_whole = self.team_parameter(table).is_none() && self.searched().is_none();
        let standing = if is_whole { "standing * 1" } else { "standing" };
        let not_cancelled = if table.can_be_cancelled { " AND cancelled_at IS NULL" } else { "" };
        match self.state {
            None => by_team,
            Some(ListedState::Active) => format!("{by_team} AND {standing} = 1{not_cancelled}"),
            Some(ListedState::Disabled) => format!("{by_team} AND {standing} = 0{not_cancelled}"),
            Some(ListedState::Cancelled) if table.can_be_cancelled => {
                format!("{by_team} AND cancelled_at IS NOT NULL")
            }
            Some(ListedState::Cancelled) => format!("{by_team} AND 1 = 0"),
        }
    }

    /// The parameter of `conditions`.
    pub(crate) fn team_parameter(&self, table: ListTable) -> Option<&str> {
        self.team.as_ref().filter(|_| table.has_team).map(TeamId::as_str)
    }
}

#[cfg(feature = "memory")]
mod in_memory {
    use super::{ListFilter, ListedState, SearchPosition};
    use crate::listing::ListRow;
    use crate::{Client, ListPage, ListQuery, Status, Subscription, Team};

    /// What a filter looks at.
    pub(crate) trait Filtered: ListRow + Clone {
        fn name(&self) -> &str;
        fn is_of(&self, team: &domain::TeamId) -> bool;
        fn state(&self) -> ListedState;
    }

    fn listed(status: Status) -> ListedState {
        if status == Status::Active { ListedState::Active } else { ListedState::Disabled }
    }

    impl Filtered for Team {
        fn name(&self) -> &str {
            &self.name
        }

        fn is_of(&self, _: &domain::TeamId) -> bool {
            true
        }

        fn state(&self) -> ListedState {
            listed(self.status)
        }
    }

    impl Filtered for Client {
        fn name(&self) -> &str {
            &self.name
        }

        fn is_of(&self, team: &domain::TeamId) -> bool {
            self.team.as_ref() == Some(team)
        }

        fn state(&self) -> ListedState {
            listed(self.status)
        }
    }

    impl Filtered for Subscription {
        fn name(&self) -> &str {
            &self.name
        }

        fn is_of(&self, team: &domain::TeamId) -> bool {
            self.team.as_ref() == Some(team)
        }

        fn state(&self) -> ListedState {
            if self.cancelled_at.is_some() { ListedState::Cancelled } else { listed(self.status) }
        }
    }

    impl ListFilter {
        /// The page of a list in memory, which comes in any order.
        pub(crate) fn page_of_all<'a, T: Filtered + 'a>(
            &self,
            query: &ListQuery,
            all: impl Iterator<Item = &'a T>,
        ) -> ListPage<T> {
            let is_wanted = |row: &&T| {
                self.team.as_ref().is_none_or(|team| row.is_of(team))
                    && self.state.is_none_or(|state| row.state() == state)
            };
            let Some(search) = self.search(query) else {
                return query.page_of_all(all.filter(is_wanted).cloned());
            };
            let all: Vec<&T> = all.collect();
            let id = |row: &T| row.list_cursor().id;
            // Ids come before names, each in its order.
            let key = |row: &T| {
                let id = id(row);
                let is_id = (&search.ids.from..&search.ids.to).contains(&&id);
                if is_id { (false, String::new(), id) } else { (true, row.name().to_ascii_lowercase(), id) }
            };
            let after = match &search.after {
                SearchPosition::Ids(after) => (false, String::new(), after.clone()),
                SearchPosition::Names(after) => {
                    let found = all.iter().find(|row| id(row) == *after);
                    (
                        true,
                        found.map(|row| row.name().to_ascii_lowercase()).unwrap_or_default(),
                        after.clone(),
                    )
                }
            };
            let matches = |(is_name, name, _): &(bool, String, String)| {
                !is_name || (&search.names.from..&search.names.to).contains(&name)
            };
            let wanted = all.into_iter().filter(is_wanted).map(|row| (key(row), row));
            let mut rows: Vec<_> = wanted.filter(|(key, _)| *key > after && matches(key)).collect();
            rows.sort_by(|(one, _), (other, _)| one.cmp(other));
            query.page(rows.into_iter().map(|(_, row)| row.clone()).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::Ticks;

    use super::*;

    fn position(text: &str, after: Option<&str>) -> Option<SearchPosition> {
        let filter = ListFilter { text: Some(text.into()), ..ListFilter::default() };
        let after = after.map(|id| ListCursor { created_at: Ticks(1), id: id.into() });
        filter.search(&ListQuery { after, rows_max: 1 }).map(|search| search.after)
    }

    #[test]
    fn search_begins_with_ids_and_goes_on_with_names() {
        assert_eq!(position(" ", None), None);
        assert_eq!(position("pan", None), Some(SearchPosition::Ids(String::new())));
        assert_eq!(position("pan", Some("panel")), Some(SearchPosition::Ids("panel".into())));
        assert_eq!(position("pan", Some("3f8a")), Some(SearchPosition::Names("3f8a".into())));
    }

    #[test]
    fn index_of_states_is_for_whole_lists_alone() {
        let of = |team: bool, text: &str, state| ListFilter {
            team: team.then(|| TeamId::new("panel")),
            state: Some(state),
            text: Some(text.into()),
        };
        let active = |team, text| of(team, text, ListedState::Active).conditions(CLIENTS, "?4");
        assert_eq!(active(false, ""), "CAST(?4 AS TEXT) IS NULL AND standing * 1 = 1");
        assert_eq!(active(false, "a"), "CAST(?4 AS TEXT) IS NULL AND standing = 1");
        assert_eq!(active(true, ""), "team_id = ?4 AND standing = 1");
        let team = of(true, "", ListedState::Disabled);
        assert_eq!(team.conditions(TEAMS, "?4"), "CAST(?4 AS TEXT) IS NULL AND standing * 1 = 0");
        assert_eq!((team.team_parameter(TEAMS), team.team_parameter(CLIENTS)), (None, Some("panel")));
        let cancelled = of(true, "", ListedState::Cancelled).conditions(SUBSCRIPTIONS, "?4");
        assert_eq!(cancelled, "team_id = ?4 AND cancelled_at IS NOT NULL");
    }

    #[test]
    fn range_has_what_begins_with_the_text() {
        let TextRange { from, to } = TextRange::of_prefix("pán");
        for (text, is_in) in
            [("pán", true), ("pánico", true), ("pán\u{ffff}", true), ("pá", false), ("páo", false)]
        {
            assert_eq!((from.as_str()..to.as_str()).contains(&text), is_in, "{text}");
        }
    }
}
