//! The catalogue as a Markdown page.

use std::fmt::Write as _;

use super::{ErrorGroup, Explanation};

const INTRODUCTION: &str = "# Error codes

Every error of the public APIs and of the operator's API has the same body:

```json
{
  \"statusCode\": 400,
  \"code\": \"invalid_parameter\",
  \"message\": \"pageSize must be a whole number from 1 to 1000.\",
  \"requestId\": \"4be1f7c2-0a58-4f53-8e52-97d1a3c60b14\",
  \"errors\": [{\"code\": \"invalid_parameter\", \"message\": \"…\", \"field\": \"pageSize\"}]
}
```

`code` is for programs: it never changes its meaning, and a later version may add codes, so treat an unknown one by its HTTP
status. `message` is for people. `errors`, where present, lists every fault with its own code and the field at fault. The
OAuth endpoints answer with OAuth's own `error` and `error_description` instead.

The service shows this list at `/docs/errors`, in Spanish too.
";

/// The whole page. `docs/errors.md` is its text.
pub fn markdown() -> String {
    let mut page = INTRODUCTION.to_owned();
    for group in ErrorGroup::ALL {
        let (title, about) = describe(group);
        let _ =
            write!(page, "\n## {title}\n\n{about}\n\n| Code | Status | Cause | Cure |\n|---|---|---|---|\n");
        for entry in group.entries() {
            let Explanation { cause, cure } = entry.english;
            let _ = writeln!(page, "| `{}` | {} | {cause} | {cure} |", entry.code, entry.code.status());
        }
    }
    page
}

fn describe(group: ErrorGroup) -> (&'static str, &'static str) {
    match group {
        ErrorGroup::Access => ("Access", "Keys, tokens, scopes and limits."),
        ErrorGroup::Requests => ("Requests", "Paths, parameters, headers and bodies, in every API."),
        ErrorGroup::Webhooks => ("Webhooks", "Subscriptions, deliveries and replays."),
        ErrorGroup::Changes => (
            "Changes",
            "The ingest of changes and the edits of records in the operator's API. A code with the status 200 is in the report \
             about the lines of a request.",
        ),
        ErrorGroup::Operator => ("Administration", "The operator's API."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// To update the page, run this test with `ALDABA_UPDATE_DOCS=1`.
    #[test]
    fn page_in_the_repository_is_in_step() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors.md");
        if std::env::var_os("ALDABA_UPDATE_DOCS").is_some() {
            std::fs::write(path, markdown()).unwrap();
        }
        let stored = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            stored == markdown(),
            "docs/errors.md is out of date: run this test with ALDABA_UPDATE_DOCS=1"
        );
    }
}
