//! What must hold of any context and any page that somebody asks for. The fuzz targets and the property tests call
//! the same entries.

use axum::http::{HeaderMap, HeaderValue, Uri};
use web::ErrorResponse;

use crate::context::{CONTEXT, Context};
use crate::paging::{PAGE_NUMBER_MAX, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, Paging};
use crate::query::Query;

const PATH: &str = "/accounting/api/customers";

/// Any bytes as the header: no header at all, refused by its name, no company, or a company that reads back the
/// same when it is written again.
pub fn context(data: &[u8]) {
    let data = data.strip_suffix(b"\n").unwrap_or(data);
    let Ok(value) = HeaderValue::from_bytes(data) else { return };
    let text = std::str::from_utf8(data).map(str::trim).unwrap_or_default();
    match read([value.clone()]) {
        Err(refusal) => names(&refusal, &[CONTEXT]),
        Ok(Context::Absent) => assert!(text.is_empty() && std::str::from_utf8(data).is_ok()),
        Ok(Context::None) => assert_eq!(text.to_ascii_lowercase(), "none"),
        Ok(Context::Company(id)) => {
            assert!(!id.is_empty() && text.starts_with('{') && text.ends_with('}'), "{text:?}");
            // No header takes this letter as it is.
            let again = serde_json::json!({ "clientId": id }).to_string().replace('\u{7f}', "\\u007f");
            let Ok(again) = HeaderValue::from_bytes(again.as_bytes()) else {
                panic!("no header takes {again:?}")
            };
            match read([again]) {
                Ok(Context::Company(other)) => assert_eq!(other, id),
                other => panic!("{id:?} came back as {other:?}"),
            }
        }
    }
    match read([value.clone(), value]) {
        Err(refusal) => names(&refusal, &[CONTEXT]),
        Ok(read) => panic!("sent twice, it is {read:?}"),
    }
}

fn read<const N: usize>(values: [HeaderValue; N]) -> Result<Context, ErrorResponse> {
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append(CONTEXT, value);
    }
    Context::of(&headers)
}

/// A 400 that names one of these.
fn names(refusal: &ErrorResponse, fields: &[&str]) {
    let problem = &refusal.problem;
    let named = problem.errors.first().and_then(|fault| fault.field.as_deref()).unwrap_or_default();
    assert!(
        problem.status == 400 && fields.contains(&named) && problem.message.contains(named),
        "{problem:?}"
    );
}

/// Any bytes as a query: no address at all, refused by the parameter's name, or a page within its bounds whose
/// links lead to the pages that they promise, of the same list.
pub fn paging(data: &[u8]) {
    let data = data.strip_suffix(b"\n").unwrap_or(data);
    let Ok(uri) = Uri::try_from([PATH.as_bytes(), b"?", data].concat()) else { return };
    let query = Query::of(&uri);
    let paging = match Paging::of(&query) {
        Ok(paging) => paging,
        Err(refusal) => return names(&refusal, &["pageNumber", "pageSize"]),
    };
    assert!((1..=PAGE_NUMBER_MAX).contains(&paging.number) && (1..=PAGE_SIZE_MAX).contains(&paging.size));
    assert_eq!(paging.number, plain(&query, "pageNumber").unwrap_or(1));
    assert_eq!(paging.size, plain(&query, "pageSize").unwrap_or(PAGE_SIZE_DEFAULT));
    let before = u128::from(paging.number - 1) * u128::from(paging.size);
    assert_eq!(u128::from(paging.offset()), before);
    assert!(i64::try_from(before).is_ok() && paging.rows_max() as u64 == paging.size);
    let here = paging.offset();
    for total in [0, 1, here, here + 1, here + paging.size, here + paging.size + 1, i64::MAX as u64] {
        links_lead(paging, total, &query);
    }
}

/// A number as it stands in a query that has it once.
fn plain(query: &Query<'_>, name: &'static str) -> Option<u64> {
    query.one(name).ok()?.and_then(|text| text.parse().ok())
}

fn links_lead(paging: Paging, total: u64, query: &Query<'_>) {
    let headers: Vec<_> = paging.headers(total, ["", PATH], query).collect();
    let text = |name: &str| {
        let value =
            headers.iter().find(|(known, _)| known == name).and_then(|(_, value)| value.to_str().ok());
        value.unwrap_or_else(|| panic!("no {name} for {query:?}"))
    };
    let Paging { number, size } = paging;
    let pages = total.div_ceil(size);
    let told: serde_json::Value = serde_json::from_str(text("x-pagination")).unwrap_or_default();
    let expected = serde_json::json!({
        "totalCount": total, "pageSize": size, "currentPage": number, "totalPages": pages
    });
    assert_eq!(told, expected);
    let mut seen = Vec::new();
    for link in text("link").split(", ") {
        let (address, relation) = link.split_once(">; rel=\"").unwrap_or_default();
        let Ok(uri) = Uri::try_from(address.trim_start_matches('<')) else { panic!("{link}") };
        let relation = relation.trim_end_matches('"');
        let wanted = match relation {
            "first" => 1,
            "prev" => (number - 1).min(pages.max(1)),
            "next" => number + 1,
            _ => pages.max(1),
        };
        seen.push(relation);
        let other = Query::of(&uri);
        // The last page of a list that nobody has may lie further than anybody may ask.
        if wanted <= PAGE_NUMBER_MAX {
            assert_eq!(Paging::of(&other).ok(), Some(Paging { number: wanted, size }), "{link}");
        }
        for name in ["filter", "OrderBy"] {
            assert_eq!(query.one(name).ok(), other.one(name).ok(), "{link}: {name} of {query:?}");
        }
        let known = ["filter", "OrderBy", "pageNumber", "pageSize"];
        let (all, kept) =
            (form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()), other.only(&known));
        assert_eq!(
            (uri.path(), all.count()),
            (PATH, kept.count()),
            "{link} carries more than the list needs"
        );
    }
    let expected =
        [("first", true), ("prev", number > 1), ("next", number < pages), ("last", true)].into_iter();
    let expected: Vec<&str> =
        expected.filter(|(_, is_there)| *is_there).map(|(relation, _)| relation).collect();
    assert_eq!(seen, expected);
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn replay(target: &str, entry: fn(&[u8])) {
        let seeds = format!("{}/../../fuzz/seeds/{target}", env!("CARGO_MANIFEST_DIR"));
        let files: Vec<_> = std::fs::read_dir(&seeds).unwrap().map(|file| file.unwrap().path()).collect();
        assert!(!files.is_empty(), "{seeds} is empty");
        for file in files {
            entry(&std::fs::read(file).unwrap());
        }
    }

    #[test]
    fn the_seeds_hold() {
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
