//! Lists in pages: oldest first, each page with a mark from which the next goes on.

use domain::Ticks;
use serde::Deserialize;
use utoipa::IntoParams;

use super::schema_types::ChosenId;
use crate::page_size::{ROWS_DEFAULT, parse_page_size};

/// What a page is asked with.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ListParams {
    /// How many a page has at the most.
    #[param(value_type = u16, required = false, minimum = 1, maximum = 1000, default = 100)]
    page_size: Option<PageSize>,
    /// The `next` of the page before; leave it out for the first page.
    #[param(
        value_type = String,
        required = false,
        pattern = "^(0|[1-9][0-9]{0,17})\\.[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
    )]
    after: Option<PageCursor>,
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

/// Where a page ended: when its last one was made, and its id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
struct PageCursor(Ticks, String);

impl PageCursor {
    fn of(one: &impl Listed) -> Self {
        let (created_at, id) = one.place();
        Self(created_at, id.to_owned())
    }

    fn text(&self) -> String {
        format!("{}.{}", self.0.0, self.1)
    }
}

impl TryFrom<String> for PageCursor {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let read = || {
            let (ticks, id) = text.split_once('.')?;
            let mark = Self(Ticks(ticks.parse().ok()?), id.to_owned());
            let is_ours = mark.text() == text && mark.0.0 >= 0 && ticks.len() <= 18;
            (is_ours && ChosenId::try_from(mark.1.clone()).is_ok()).then_some(mark)
        };
        read().ok_or_else(|| format!("{text:?} is not the next of an earlier page"))
    }
}

/// Something that stands in a list.
pub(super) trait Listed {
    /// When it was made, and its id.
    fn place(&self) -> (Ticks, &str);
}

/// Cuts a page out of all there are, and says where the next one begins.
pub(super) fn page<T: Listed>(mut all: Vec<T>, ask: &ListParams) -> (Vec<T>, Option<String>) {
    all.sort_by(|one, other| one.place().cmp(&other.place()));
    if let Some(mark) = &ask.after {
        all.retain(|one| one.place() > (mark.0, mark.1.as_str()));
    }
    let size = ask.page_size.map_or(ROWS_DEFAULT, |size| size.0);
    let goes_on = all.len() > size;
    all.truncate(size);
    let next = all.last().filter(|_| goes_on).map(|last| PageCursor::of(last).text());
    (all, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct One(i64, &'static str);

    impl Listed for One {
        fn place(&self) -> (Ticks, &str) {
            (Ticks(self.0), self.1)
        }
    }

    #[test]
    fn pages_leave_nothing_out_and_nothing_twice() {
        let all = || vec![One(2, "b"), One(1, "z"), One(2, "a"), One(2, "c"), One(3, "a")];
        let mut seen = Vec::new();
        let mut after = None;
        loop {
            let (some, next) = page(all(), &ListParams { page_size: Some(PageSize(2)), after });
            seen.extend(some.iter().map(|one| (one.0, one.1)));
            let Some(next) = next else { break };
            after = Some(PageCursor::try_from(next).unwrap());
        }
        assert_eq!(seen, [(1, "z"), (2, "a"), (2, "b"), (2, "c"), (3, "a")]);
    }

    #[test]
    fn only_marks_of_ours_are_read() {
        for wrong in ["", "1", "x.a", "01.a", "-1.a", "1.", "1.ñ", "1..", "1234567890123456789.a"] {
            assert!(PageCursor::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
        assert_eq!(PageCursor::try_from("17.a.b".to_owned()), Ok(PageCursor(Ticks(17), "a.b".into())));
    }
}
