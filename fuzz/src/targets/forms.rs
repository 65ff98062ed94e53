//! The forms and the JSON bodies of the portal and the console.

use pages::Params;

use super::text;

const NAMES: [&str; 5] = ["a", "b", "token", "redirectUris", "name"];

/// The same values from a form and from the JSON object with the same members, within the limits, and none with a NUL character.
pub(crate) fn page_form(data: &[u8]) -> u64 {
    let form = Params::from_json(data).unwrap_or_else(|| Params::parse(data));
    let mut pairs = Vec::new();
    for name in NAMES {
        let values: Vec<&str> = form.all(name).collect();
        assert_eq!(form.get(name), values.first().copied());
        assert_eq!(form.is_set(name), !values.is_empty());
        assert!(values.iter().all(|value| !value.is_empty() && !value.contains('\0')), "{values:?}");
        pairs.extend(values.into_iter().map(|value| (name, value)));
    }
    let mut again = form_urlencoded::Serializer::new(String::new());
    let again = again.extend_pairs(&pairs).finish();
    let parsed = Params::parse(again.as_bytes());
    let written: Vec<(&str, &str)> =
        NAMES.into_iter().flat_map(|name| parsed.all(name).map(move |value| (name, value))).collect();
    if pairs.len() <= 100 {
        assert_eq!(written, pairs, "{}", text(data));
    }
    let present = NAMES.iter().fold(0, |present, name| present << 1 | u64::from(form.is_set(name)));
    present << 8 | pairs.len().min(200) as u64
}
