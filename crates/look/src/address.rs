//! The last guard before an address becomes a link.

/// Where nothing can be trusted: the page itself.
const NOWHERE: &str = "#";

/// The address itself where following it loads a page, `#` where it would do anything else (`javascript:`,
/// `data:` and whatever schemes come to be).
pub fn address(text: &str) -> &str {
    let Some((before, _)) = text.split_once(':') else { return text };
    if before.contains(['/', '?', '#']) {
        return text;
    }
    // Browsers drop these before they look at a scheme.
    let scheme: String = before.chars().filter(|&c| c > ' ' && !c.is_control()).collect();
    if scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http") { text } else { NOWHERE }
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn pages_are_linked() {
        for text in
            ["/auth/core", "?lang=en", "#top", "", "here", "https://a.example/b?c=d:e", "HTTP://localhost:1/"]
        {
            assert_eq!(address(text), text);
        }
    }

    #[test]
    fn anything_else_leads_nowhere() {
        for text in [
            "javascript:alert(1)",
            " \u{1}JavaScript:alert(1)",
            "java\nscript:alert(1)",
            "data:text/html,x",
            "a-scheme-of-somebody:x",
            ":",
        ] {
            assert_eq!(address(text), "#", "{text:?}");
        }
    }
}
