//! Parameters of a query or a form.

use axum::http::request::Parts;

/// Requests with more parameters are refused.
const COUNT_MAX: usize = 100;
const VALUE_BYTES_MAX: usize = 256 * 1024;

#[derive(Clone, Debug, Default)]
pub struct Params(Vec<(String, String)>);

impl Params {
    /// Those of a query or of an `application/x-www-form-urlencoded` body; what is beyond the limits is left out.
    pub fn parse(text: &[u8]) -> Self {
        let pairs = form_urlencoded::parse(text).take(COUNT_MAX);
        let pairs = pairs.filter(|(_, value)| value.len() <= VALUE_BYTES_MAX && !value.contains('\0'));
        Self(pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// Those of a request's query.
    pub fn of_query(parts: &Parts) -> Self {
        Self::parse(parts.uri.query().unwrap_or_default().as_bytes())
    }

    /// Those of a JSON object: texts, numbers and truth values, or lists of texts.
    pub fn from_json(body: &[u8]) -> Option<Self> {
        let serde_json::Value::Object(members) = serde_json::from_slice(body).ok()? else { return None };
        let mut pairs = Vec::new();
        for (name, value) in members.into_iter().take(COUNT_MAX) {
            match value {
                serde_json::Value::Array(items) => {
                    let texts = items.iter().take(COUNT_MAX).filter_map(|item| item.as_str());
                    pairs.extend(texts.map(|text| (name.clone(), text.to_owned())));
                }
                serde_json::Value::String(text) => pairs.push((name, text)),
                serde_json::Value::Null => {}
                other => pairs.push((name, other.to_string())),
            }
        }
        pairs.retain(|(_, value)| value.len() <= VALUE_BYTES_MAX && !value.contains('\0'));
        Some(Self(pairs))
    }

    /// The first value that is not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(own, value)| own == name && !value.is_empty());
        found.map(|(_, value)| value.as_str())
    }

    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(move |(own, value)| own == name && !value.is_empty())
            .map(|(_, value)| value.as_str())
    }

    pub fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Whether anything but the language, the format and what was done is set: a filter, or a page after the first.
    pub fn has_any(&self) -> bool {
        !self.with(&["lang", "done", "format"], []).is_empty()
    }

    /// The query without some parameters, plus others: URLs hold the state of a view.
    pub fn with<'a>(&self, without: &[&str], plus: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
        let kept =
            self.0.iter().filter(|(name, value)| !without.contains(&name.as_str()) && !value.is_empty());
        let kept = kept.map(|(name, value)| (name.as_str(), value.as_str()));
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(kept).extend_pairs(plus);
        query.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_keeps_the_state_of_a_view() {
        let params = Params::parse(b"state=failed&page=3&event=a%20b&lang=");
        assert_eq!(params.with(&["page"], [("format", "csv")]), "state=failed&event=a+b&format=csv");
        assert_eq!(params.get("event"), Some("a b"));
        assert_eq!(params.get("lang"), None);
        assert!(params.has_any() && !Params::parse(b"lang=es&done=x&state=").has_any());
    }

    #[test]
    fn json_and_form_are_alike() {
        let json =
            Params::from_json(br#"{"do":"ask","products":["a","b"],"sandbox":true,"n":3,"x":null}"#).unwrap();
        assert_eq!(json.all("products").collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!((json.get("sandbox"), json.get("n"), json.get("x")), (Some("true"), Some("3"), None));
        assert!(Params::from_json(b"[1]").is_none());
    }
}
