//! Filters the scheme of a URL before a page links to it.

/// Stands in for a URL that must not be followed: a link to the page itself.
const INERT: &str = "#";

/// Returns the URL if it is relative or its scheme is `http` or `https`, and `#` for every other scheme
/// (`javascript:`, `data:`, unknown ones).
pub fn safe_href(text: &str) -> &str {
    let Some((before, _)) = text.split_once(':') else { return text };
    if before.contains(['/', '?', '#']) {
        return text;
    }
    // Browsers drop white space and control characters before they parse the scheme.
    let scheme: String = before.chars().filter(|&c| c > ' ' && !c.is_control()).collect();
    if scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http") { text } else { INERT }
}

#[cfg(test)]
mod tests {
    use super::safe_href;

    #[test]
    fn relative_and_http_urls_are_unchanged() {
        for text in
            ["/auth/core", "?lang=en", "#top", "", "page", "https://a.example/b?c=d:e", "HTTP://localhost:1/"]
        {
            assert_eq!(safe_href(text), text);
        }
    }

    #[test]
    fn other_schemes_are_replaced() {
        for text in [
            "javascript:alert(1)",
            " \u{1}JavaScript:alert(1)",
            "java\nscript:alert(1)",
            "data:text/html,x",
            "unknown-scheme:x",
            ":",
        ] {
            assert_eq!(safe_href(text), "#", "{text:?}");
        }
    }
}
