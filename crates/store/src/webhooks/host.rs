//! The host of a receiver, as the databases' indexes have it.

/// In lower case, without port and final dot. `url` is one that was accepted.
pub fn receiver_host(url: &str) -> String {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = match authority.strip_prefix('[') {
        Some(_) => authority.find(']').map_or(authority.len(), |at| at + 1),
        None => authority.find(['/', '?', '#', ':']).unwrap_or(authority.len()),
    };
    let host = authority.get(..end).unwrap_or_default();
    host.trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_has_no_port_and_no_path() {
        for (url, host) in [
            ("https://Hooks.Example:8443/a?b#c", "hooks.example"),
            ("https://hooks.example.", "hooks.example"),
            ("https://hooks.example?a=/b", "hooks.example"),
            ("http://[2001:DB8::1]:80/", "[2001:db8::1]"),
            ("hooks.example", "hooks.example"),
            ("", ""),
        ] {
            assert_eq!(receiver_host(url), host, "{url}");
        }
    }
}
