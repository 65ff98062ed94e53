//! The reasons of refusals in Spanish. The rules that refuse are shared with the operator's API, which says them in English.

/// The Spanish form of a reason, from pairs of English and Spanish patterns in which `{}` stands for what the reason names.
pub fn translate_reason<'a>(
    pairs: impl IntoIterator<Item = &'a (&'static str, &'static str)>,
    why: &str,
) -> Option<String> {
    pairs.into_iter().find_map(|(english, spanish)| Some(fill(spanish, &taken(english, why)?)))
}

/// What stands in the places of a pattern; none if the text is another.
fn taken<'a>(pattern: &str, text: &'a str) -> Option<Vec<&'a str>> {
    let mut parts = pattern.split("{}");
    let mut rest = text.strip_prefix(parts.next()?)?;
    let (mut found, mut parts) = (Vec::new(), parts.peekable());
    while let Some(part) = parts.next() {
        // The last part ends the text; others end at their first occurrence.
        let end = if parts.peek().is_none() { rest.strip_suffix(part)?.len() } else { rest.find(part)? };
        found.push(rest.get(..end)?);
        rest = rest.get(end + part.len()..)?;
    }
    rest.is_empty().then_some(found)
}

/// `{}` takes the values in their order, `{1}` the second one.
fn fill(pattern: &str, values: &[&str]) -> String {
    let second = pattern.replace("{1}", values.get(1).unwrap_or(&""));
    let mut parts = second.split("{}");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for (part, value) in parts.zip(values.iter().chain(std::iter::repeat(&""))) {
        text.push_str(value);
        text.push_str(part);
    }
    text
}
