//! Properties of every `context` header, every paging query, and the credentials and the feed's query of every request. The fuzz
//! targets and the property tests call the same functions.

mod requests;

use axum::http::{HeaderMap, HeaderValue, Uri};
use domain::fuzzing::signature;
use web::ErrorResponse;

use crate::context::{CONTEXT, Context};
use crate::paging::{PAGE_NUMBER_MAX, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, Paging};
use crate::query::Query;
pub use requests::{feed_query, gateway_credentials};

const PATH: &str = "/accounting/api/customers";

/// Parses any bytes as the header. The result is no valid header, an error that names the header, no company, or a
/// company that round-trips.
pub fn context(data: &[u8]) -> u64 {
    let data = data.strip_suffix(b"\n").unwrap_or(data);
    let Ok(value) = HeaderValue::from_bytes(data) else { return 0 };
    let text = std::str::from_utf8(data).map(str::trim).unwrap_or_default();
    let outcome = match parse_context([value.clone()]) {
        Err(error) => {
            assert_names(&error, &[CONTEXT]);
            signature(&error.problem.message)
        }
        Ok(Context::Absent) => {
            assert!(text.is_empty() && std::str::from_utf8(data).is_ok());
            1
        }
        Ok(Context::None) => {
            assert_eq!(text.to_ascii_lowercase(), "none");
            2
        }
        Ok(Context::Company(id)) => {
            assert!(!id.is_empty() && text.starts_with('{') && text.ends_with('}'), "{text:?}");
            // A header cannot contain DEL.
            let again = serde_json::json!({ "clientId": id }).to_string().replace('\u{7f}', "\\u007f");
            let Ok(again) = HeaderValue::from_bytes(again.as_bytes()) else {
                panic!("{again:?} is no valid header value")
            };
            match parse_context([again]) {
                Ok(Context::Company(other)) => assert_eq!(other, id),
                other => panic!("{id:?} came back as {other:?}"),
            }
            3 + u64::from(text.contains('\\'))
        }
    };
    match parse_context([value.clone(), value]) {
        Err(error) => assert_names(&error, &[CONTEXT]),
        Ok(context) => panic!("sent twice, it is {context:?}"),
    }
    outcome
}

fn parse_context<const N: usize>(values: [HeaderValue; N]) -> Result<Context, ErrorResponse> {
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append(CONTEXT, value);
    }
    Context::from_headers(&headers)
}

/// Asserts that the error is a 400 that names one of these fields.
fn assert_names(error: &ErrorResponse, fields: &[&str]) {
    let problem = &error.problem;
    let named = problem.errors.first().and_then(|fault| fault.field.as_deref()).unwrap_or_default();
    assert!(
        problem.status == 400 && fields.contains(&named) && problem.message.contains(named),
        "{problem:?}"
    );
}

/// Parses any bytes as a query. The result is no valid URI, an error that names the parameter, or a page within its
/// bounds whose links lead to the pages of the same list that they name.
pub fn paging(data: &[u8]) -> u64 {
    let data = data.strip_suffix(b"\n").unwrap_or(data);
    let Ok(uri) = Uri::try_from([PATH.as_bytes(), b"?", data].concat()) else { return 0 };
    let query = Query::parse(&uri);
    let paging = match Paging::parse(&query) {
        Ok(paging) => paging,
        Err(error) => {
            assert_names(&error, &["pageNumber", "pageSize"]);
            return signature(&error.problem.message);
        }
    };
    assert!((1..=PAGE_NUMBER_MAX).contains(&paging.number) && (1..=PAGE_SIZE_MAX).contains(&paging.size));
    assert_eq!(paging.number, unchecked_number(&query, "pageNumber").unwrap_or(1));
    assert_eq!(paging.size, unchecked_number(&query, "pageSize").unwrap_or(PAGE_SIZE_DEFAULT));
    let before = u128::from(paging.number - 1) * u128::from(paging.size);
    assert_eq!(u128::from(paging.offset()), before);
    assert!(i64::try_from(before).is_ok() && paging.rows_max() as u64 == paging.size);
    let offset = paging.offset();
    for total in [0, 1, offset, offset + 1, offset + paging.size, offset + paging.size + 1, i64::MAX as u64] {
        check_links(paging, total, &query);
    }
    let known = ["filter", "OrderBy", "pageNumber", "pageSize"].map(|name| query.single(name).ok().flatten());
    known.iter().fold(1, |outcome, value| outcome << 1 | u64::from(value.is_some()))
}

/// A numeric parameter, parsed without the checks.
fn unchecked_number(query: &Query<'_>, name: &'static str) -> Option<u64> {
    query.single(name).ok()?.and_then(|text| text.parse().ok())
}

fn check_links(paging: Paging, total: u64, query: &Query<'_>) {
    let headers: Vec<_> = paging.headers(total, ["", PATH], query).collect();
    let text = |name: &str| {
        let value =
            headers.iter().find(|(known, _)| known == name).and_then(|(_, value)| value.to_str().ok());
        value.unwrap_or_else(|| panic!("no {name} for {query:?}"))
    };
    let Paging { number, size } = paging;
    let pages = total.div_ceil(size);
    let counts: serde_json::Value = serde_json::from_str(text("x-pagination")).unwrap_or_default();
    let expected = serde_json::json!({
        "totalCount": total, "pageSize": size, "currentPage": number, "totalPages": pages
    });
    assert_eq!(counts, expected);
    let mut relations = Vec::new();
    for link in text("link").split(", ") {
        let (address, relation) = link.split_once(">; rel=\"").unwrap_or_default();
        let Ok(uri) = Uri::try_from(address.trim_start_matches('<')) else { panic!("{link}") };
        let relation = relation.trim_end_matches('"');
        let page = match relation {
            "first" => 1,
            "prev" => (number - 1).min(pages.max(1)),
            "next" => number + 1,
            _ => pages.max(1),
        };
        relations.push(relation);
        let other = Query::parse(&uri);
        // The last page of an unrealistically long list may exceed the maximum.
        if page <= PAGE_NUMBER_MAX {
            assert_eq!(Paging::parse(&other).ok(), Some(Paging { number: page, size }), "{link}");
        }
        for name in ["filter", "OrderBy"] {
            assert_eq!(query.single(name).ok(), other.single(name).ok(), "{link}: {name} of {query:?}");
        }
        let known = ["filter", "OrderBy", "pageNumber", "pageSize"];
        let (all, listed) =
            (form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()), other.select(&known));
        assert_eq!(
            (uri.path(), all.count()),
            (PATH, listed.count()),
            "{link} carries more than the list needs"
        );
    }
    let expected =
        [("first", true), ("prev", number > 1), ("next", number < pages), ("last", true)].into_iter();
    let expected: Vec<&str> =
        expected.filter(|(_, is_there)| *is_there).map(|(relation, _)| relation).collect();
    assert_eq!(relations, expected);
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn replay(target: &str, entry: fn(&[u8]) -> u64) {
        let seeds = format!("{}/../../fuzz/seeds/{target}", env!("CARGO_MANIFEST_DIR"));
        let files: Vec<_> = std::fs::read_dir(&seeds).unwrap().map(|file| file.unwrap().path()).collect();
        assert!(!files.is_empty(), "{seeds} is empty");
        for file in files {
            entry(&std::fs::read(file).unwrap());
        }
    }

    #[test]
    fn seeds_pass() {
        replay("context", context);
        replay("paging", paging);
    }

    proptest! {
        #[test]
        fn any_context(data in vec(any::<u8>(), 0..200)) {
            context(&data);
        }

        #[test]
        fn nearly_a_context(text in "[ \\t]{0,2}\\{ ?\"(clientId|clientid|x)\" ?: ?(\"([a-zñ\u{1f600}/ -]|\\\\(u00[0-7][0-9a-f]|u00f1|ud83d\\\\ude00|ud83d|n|\"|x)){0,6}\"|1|null)(,\"clientId\":\"b\")?\\}[ x]?") {
            context(text.as_bytes());
        }

        #[test]
        fn any_query(data in vec(any::<u8>(), 0..200)) {
            paging(&data);
        }

        #[test]
        fn nearly_a_query(text in "((pageNumber|PAGESIZE|pageSize|page%4eumber|filter|Filter|orderby|OrderBy|subscription-key|x)=([0-9]{0,14}|1000|[a-z%+&;<>\", ]{0,5}|%[0-9a-f]{2}|%C3%B1){0,3}&?){0,4}") {
            paging(text.as_bytes());
        }

        #[test]
        fn any_page(number in 1..=PAGE_NUMBER_MAX, size in 1..=PAGE_SIZE_MAX, filter in any::<String>()) {
            let mut query = form_urlencoded::Serializer::new(String::new());
            query.append_pair("pageNumber", &number.to_string()).append_pair("pageSize", &size.to_string());
            paging(query.append_pair("filter", &filter).finish().as_bytes());
        }
    }
}
