//! The first and last address of every refused range, and the effect of the operator's allow list.

use super::{EgressPolicy, is_wide};

fn why(policy: &EgressPolicy, address: &str) -> Option<&'static str> {
    policy.refusal_reason(address.parse().unwrap())
}

/// The first and last address of each range are refused, their public neighbours are not.
#[test]
fn ipv4_ranges_are_refused_to_their_edges() {
    let strict = EgressPolicy::default();
    for (first, last, reason) in [
        ("0.0.0.0", "0.255.255.255", "unspecified"),
        ("10.0.0.0", "10.255.255.255", "private network"),
        ("100.64.0.0", "100.127.255.255", "carrier's shared network"),
        ("127.0.0.0", "127.255.255.255", "loopback"),
        ("169.254.0.0", "169.254.255.255", "link-local"),
        ("172.16.0.0", "172.31.255.255", "private network"),
        ("192.0.0.0", "192.0.0.255", "protocol assignments"),
        ("192.0.2.0", "192.0.2.255", "documentation"),
        ("192.88.99.0", "192.88.99.255", "6to4 relay"),
        ("192.168.0.0", "192.168.255.255", "private network"),
        ("198.18.0.0", "198.19.255.255", "benchmarking"),
        ("198.51.100.0", "198.51.100.255", "documentation"),
        ("203.0.113.0", "203.0.113.255", "documentation"),
        ("224.0.0.0", "239.255.255.255", "multicast"),
        ("233.252.0.0", "233.252.0.255", "documentation"),
        ("240.0.0.0", "255.255.255.254", "reserved"),
        ("255.255.255.255", "255.255.255.255", "broadcast"),
        ("169.254.169.254", "169.254.169.254", "cloud metadata"),
        ("168.63.129.16", "168.63.129.16", "cloud metadata"),
        ("100.100.100.200", "100.100.100.200", "cloud metadata"),
        ("192.0.0.192", "192.0.0.192", "cloud metadata"),
        ("169.254.170.2", "169.254.170.23", "cloud metadata"),
    ] {
        assert_eq!(why(&strict, first), Some(reason), "{first}");
        assert_eq!(why(&strict, last), Some(reason), "{last}");
    }
    for public in [
        "1.0.0.0",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "168.63.129.15",
        "168.63.129.17",
        "172.15.255.255",
        "172.32.0.0",
        "191.255.255.255",
        "192.0.1.0",
        "192.0.3.0",
        "192.88.98.255",
        "192.88.100.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "198.51.99.255",
        "198.51.101.0",
        "203.0.112.255",
        "203.0.114.0",
        "223.255.255.255",
    ] {
        assert_eq!(why(&strict, public), None, "{public}");
    }
}

#[test]
fn ipv6_ranges_are_refused_to_their_edges() {
    let strict = EgressPolicy::default();
    for (first, last, reason) in [
        ("::", "::", "unspecified"),
        ("::1", "::1", "loopback"),
        ("64:ff9b::", "64:ff9b::ffff:ffff", "IPv4 in IPv6"),
        ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "IPv4 in IPv6"),
        ("100::", "100::ffff:ffff:ffff:ffff", "discarded"),
        ("2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", "IPv4 in IPv6"),
        ("2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", "benchmarking"),
        ("2001:10::", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff", "ORCHID"),
        ("2001:20::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff", "ORCHID"),
        ("2001:1::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "protocol assignments"),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "documentation"),
        ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "IPv4 in IPv6"),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "documentation"),
        ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "segment routing"),
        ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "private network"),
        ("fd00:ec2::254", "fd20:ce::254", "cloud metadata"),
        ("fd00:ec2::23", "fe80::a9fe:a9fe", "cloud metadata"),
        ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "link-local"),
        ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "site-local"),
        ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "multicast"),
        ("4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "not a public address"),
        ("100:0:0:1::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "not a public address"),
        ("0:0:0:1::", "64:ff9b:0:0:0:1::", "not a public address"),
    ] {
        assert_eq!(why(&strict, first), Some(reason), "{first}");
        assert_eq!(why(&strict, last), Some(reason), "{last}");
    }
    for public in [
        "2000::",
        "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "2001:200::",
        "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
        "2001:db9::",
        "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "2003::",
        "2606:4700:4700::1111",
        "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "3fff:1000::",
    ] {
        assert_eq!(why(&strict, public), None, "{public}");
    }
}

#[test]
fn ipv4_embedded_in_ipv6_is_refused() {
    let strict = EgressPolicy::default();
    for (address, reason) in [
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:169.254.169.254", "cloud metadata"),
        ("::ffff:10.1.2.3", "private network"),
        ("::ffff:8.8.8.8", "IPv4 in IPv6"),
        ("::127.0.0.1", "loopback"),
        ("::8.8.8.8", "IPv4 in IPv6"),
        ("::2", "unspecified"),
    ] {
        assert_eq!(why(&strict, address), Some(reason), "{address}");
    }
}

#[test]
fn loopback_setting_allows_loopback_only() {
    let local = EgressPolicy { loopback: true, ..EgressPolicy::default() };
    for allowed in ["127.0.0.1", "127.255.255.255", "::1"] {
        assert_eq!(why(&local, allowed), None, "{allowed}");
    }
    for refused in ["0.0.0.0", "::", "10.0.0.1", "::ffff:127.0.0.1", "fd00::1"] {
        assert!(why(&local, refused).is_some(), "{refused}");
    }
}

#[test]
fn allow_list_allows_its_ranges_only() {
    let allow = ["10.1.0.0/16", "fd12::/16", "169.254.7.7/32"].map(|range| range.parse().unwrap()).to_vec();
    let open = EgressPolicy { allow, loopback: false };
    for allowed in ["10.1.0.0", "10.1.255.255", "::ffff:10.1.2.3", "fd12::1", "169.254.7.7"] {
        assert_eq!(why(&open, allowed), None, "{allowed}");
    }
    for refused in ["10.0.255.255", "10.2.0.0", "::ffff:10.2.0.0", "fd13::1", "169.254.169.254", "127.0.0.1"]
    {
        assert!(why(&open, refused).is_some(), "{refused}");
    }
}

#[test]
fn metadata_address_is_allowed_only_by_an_entry_of_its_own() {
    let policy = |ranges: &[&str]| EgressPolicy {
        allow: ranges.iter().map(|range| range.parse().unwrap()).collect(),
        loopback: true,
    };
    let wide = policy(&["0.0.0.0/0", "::/0", "169.254.169.254/31", "fd00:ec2::254/127", "::ffff:0:0/96"]);
    for metadata in [
        "169.254.169.254",
        "169.254.170.2",
        "168.63.129.16",
        "100.100.100.200",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd20:ce::254",
        "fe80::a9fe:a9fe",
        "::ffff:169.254.169.254",
        "::169.254.169.254",
        "64:ff9b::169.254.169.254",
    ] {
        assert!(why(&wide, metadata).is_some(), "{metadata}");
        let own = policy(&[&format!("{metadata}/{}", if metadata.contains(':') { 128 } else { 32 })]);
        assert_eq!(why(&own, metadata), None, "{metadata}");
    }
    assert_eq!(why(&wide, "169.254.169.253"), None);
    assert_eq!(why(&policy(&["169.254.169.254/32"]), "::ffff:169.254.169.254"), None);
}

#[test]
fn ranges_that_open_large_parts_of_the_internet_are_wide() {
    for wide in ["0.0.0.0/0", "0.0.0.0/1", "10.0.0.0/7", "::/0", "2000::/3", "fc00::/7", "fd00::/15"] {
        assert!(is_wide(&wide.parse().unwrap()), "{wide}");
    }
    for ipv4_in_ipv6 in ["::ffff:0:0/96", "::/96", "64:ff9b::/96", "::ffff:0:0/103"] {
        assert!(is_wide(&ipv4_in_ipv6.parse().unwrap()), "{ipv4_in_ipv6}");
    }
    for narrow in ["10.0.0.0/8", "192.168.0.0/16", "8.8.8.8/32", "fd00::/16", "fd12:3456::/48", "::1/128"] {
        assert!(!is_wide(&narrow.parse().unwrap()), "{narrow}");
    }
    assert!(!is_wide(&"::ffff:10.0.0.0/104".parse().unwrap()));
}
