//! A delivery as text that people read and copy: its body with line breaks, and its request for curl.

use domain::signature::{
    ACCOUNTING_HEADER, INVOICING_HEADER, STANDARD_ID, STANDARD_SIGNATURE, STANDARD_TIMESTAMP,
};
use domain::webhook::Family;
use domain::{Guid, Ticks};

/// Stands where a signature belongs.
const PLACEHOLDER: &str = "<signature>";

/// JSON with line breaks. Members stay in their order and numbers as they are written; what is not JSON stays as it is.
pub fn pretty(json: &str) -> String {
    if serde_json::from_str::<&serde_json::value::RawValue>(json).is_err() {
        return json.to_owned();
    }
    let (mut text, mut depth) = (String::with_capacity(json.len() * 2), 0usize);
    let (mut is_string, mut is_escaped) = (false, false);
    let break_line = |text: &mut String, depth: usize| {
        text.push('\n');
        text.extend(std::iter::repeat_n("  ", depth));
    };
    let mut chars = json.chars().peekable();
    while let Some(one) = chars.next() {
        if is_string {
            text.push(one);
            is_string = one != '"' || is_escaped;
            is_escaped = one == '\\' && !is_escaped;
            continue;
        }
        match one {
            '{' | '[' => {
                text.push(one);
                while chars.next_if(char::is_ascii_whitespace).is_some() {}
                if let Some(end) = chars.next_if(|next| matches!(next, '}' | ']')) {
                    text.push(end);
                } else {
                    depth += 1;
                    break_line(&mut text, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                break_line(&mut text, depth);
                text.push(one);
            }
            ',' => {
                text.push(one);
                break_line(&mut text, depth);
            }
            ':' => text.push_str(": "),
            one if one.is_ascii_whitespace() => {}
            one => {
                is_string = one == '"';
                text.push(one);
            }
        }
    }
    text
}

/// The request of an attempt for curl, without its signatures: they need the secret.
pub fn curl(url: &str, family: Family, id: Option<Guid>, at: Ticks, body: &str) -> String {
    let contract_header = match family {
        Family::Accounting => ACCOUNTING_HEADER,
        Family::Invoicing => INVOICING_HEADER,
    };
    let id = id.map(|id| id.to_string()).unwrap_or_default();
    let headers = [
        ("content-type", "application/json; charset=utf-8".to_owned()),
        (contract_header, format!("sha256={PLACEHOLDER}")),
        (STANDARD_ID, id),
        (STANDARD_TIMESTAMP, at.unix_seconds().to_string()),
        (STANDARD_SIGNATURE, format!("v1,{PLACEHOLDER}")),
    ];
    let headers = headers.map(|(name, value)| format!("  -H {} \\\n", quoted(&format!("{name}: {value}"))));
    format!("curl -X POST {} \\\n{}  --data-raw {}", quoted(url), headers.concat(), quoted(body))
}

/// One word for a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_get_line_breaks_and_keep_their_order_and_numbers() {
        let json = r#"{"b":1.10,"a":[{"x":"a,\"{ b"},[], {}],"c":{}}"#;
        let expected = "{\n  \"b\": 1.10,\n  \"a\": [\n    {\n      \"x\": \"a,\\\"{ b\"\n    },\n    [],\n    {}\n  ],\n  \"c\": {}\n}";
        assert_eq!(pretty(json), expected);
        assert_eq!(pretty(expected), expected);
        assert_eq!(pretty("not {json"), "not {json");
    }

    #[test]
    fn curl_has_the_body_and_no_signature() {
        let at = Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap();
        let id = Guid::from_bytes([7; 16]);
        let line = curl("https://a.example/h?a=1&b=2", Family::Invoicing, Some(id), at, r#"{"n":"d'Or"}"#);
        for part in [
            "curl -X POST 'https://a.example/h?a=1&b=2' \\\n",
            "  -H 'ms-signature: sha256=<signature>' \\\n",
            "  -H 'webhook-signature: v1,<signature>' \\\n",
            "  -H 'webhook-timestamp: 1794731400' \\\n",
            r#"  --data-raw '{"n":"d'\''Or"}'"#,
        ] {
            assert!(line.contains(part), "{part}: {line}");
        }
        assert!(line.contains(&format!("webhook-id: {id}")), "{line}");
        let accounting = curl("https://a.example/", Family::Accounting, None, at, "{}");
        assert!(accounting.contains("'svc-webhook-signature: sha256=<signature>'"), "{accounting}");
    }
}
