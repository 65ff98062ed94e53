//! Renders `Changes` of an invoicing notification: the top-level members whose value changed.

use crate::json::{Object, canonical, write_string};

/// `[{"Name","Value"},…]` with the members that differ. `before` and `after` are the members of the stored record, as
/// JSON without the braces.
pub fn render(before: &str, after: &str) -> String {
    let before = parse(before);
    let after = parse(after);
    let mut out = String::from("[");
    for (name, value) in after.members() {
        if before.get(name).is_none_or(|old| !is_same_value(old, value)) {
            push(&mut out, name, &value_text(value));
        }
    }
    for (name, _) in before.members().filter(|(name, _)| after.get(name).is_none()) {
        push(&mut out, name, "");
    }
    out.push(']');
    out
}

/// Whether two values are equal; the order of members in nested objects does not matter.
fn is_same_value(old: &str, new: &str) -> bool {
    old == new || (old.len() == new.len() && canonical(old) == canonical(new))
}

fn parse(members: &str) -> Object {
    Object::parse(format!("{{{members}}}").as_bytes()).unwrap_or_else(|_| Object::empty())
}

/// A string unquoted, null as the empty string, everything else as JSON text.
fn value_text(value: &str) -> String {
    match value.as_bytes().first() {
        Some(b'"') => serde_json::from_str(value).unwrap_or_default(),
        Some(b'n') => String::new(),
        _ => value.to_owned(),
    }
}

fn push(out: &mut String, name: &str, value: &str) {
    if out.len() > 1 {
        out.push(',');
    }
    out.push_str("{\"Name\":");
    write_string(name, out);
    out.push_str(",\"Value\":");
    write_string(value, out);
    out.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn created_record_lists_all_its_members() {
        assert_eq!(
            render("", r#""a":"x\ny","b":1.50,"c":true,"d":null,"e":{"f":[1]}"#),
            r#"[{"Name":"a","Value":"x\ny"},{"Name":"b","Value":"1.50"},{"Name":"c","Value":"true"},{"Name":"d","Value":""},{"Name":"e","Value":"{\"f\":[1]}"}]"#
        );
    }

    #[test]
    fn order_of_nested_members_is_not_a_change() {
        assert_eq!(
            render(r#""a":{"x":1,"y":2},"b":1"#, r#""a":{"y":2,"x":1},"b":2"#),
            r#"[{"Name":"b","Value":"2"}]"#
        );
    }

    #[test]
    fn update_lists_changed_and_removed_members_only() {
        assert_eq!(
            render(r#""a":1,"b":2,"c":3"#, r#""a":1,"b":5"#),
            r#"[{"Name":"b","Value":"5"},{"Name":"c","Value":""}]"#
        );
    }
}
