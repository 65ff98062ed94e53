//! The egress policy: which IP addresses deliveries may connect to. Public ones, and the ranges that the operator
//! allows.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;

/// The shortest prefixes of a range that does not open a large part of the internet.
pub const ALLOW_PREFIX_V4_MIN: u8 = 8;
pub const ALLOW_PREFIX_V6_MIN: u8 = 16;

/// What the operator allows beyond public addresses.
#[derive(Clone, Debug, Default)]
pub struct EgressPolicy {
    /// A metadata address is allowed only by an entry for this one address.
    pub allow: Vec<IpNet>,
    /// Allow loopback addresses; for development.
    pub loopback: bool,
}

impl EgressPolicy {
    /// Why connecting to an address is refused; `None` if it is allowed.
    pub fn refusal_reason(&self, address: IpAddr) -> Option<&'static str> {
        let embedded = match address {
            IpAddr::V4(_) => None,
            IpAddr::V6(address) => embedded_v4(address),
        };
        if self.allows(address) || embedded.is_some_and(|address| self.allows(IpAddr::V4(address))) {
            return None;
        }
        match (address, embedded) {
            (IpAddr::V4(address), _) => self.refusal_reason_v4(address),
            (IpAddr::V6(_), Some(inside)) => Some(self.refusal_reason_v4(inside).unwrap_or("IPv4 in IPv6")),
            (IpAddr::V6(address), None) => self.refusal_reason_v6(address),
        }
    }

    fn allows(&self, address: IpAddr) -> bool {
        let needs_its_own_entry = is_metadata(address);
        let names_it = |range: &IpNet| range.prefix_len() == range.max_prefix_len();
        self.allow.iter().any(|range| range.contains(&address) && (!needs_its_own_entry || names_it(range)))
    }

    fn refusal_reason_v4(&self, address: Ipv4Addr) -> Option<&'static str> {
        if self.loopback && address.is_loopback() {
            return None;
        }
        let bits = address.to_bits();
        let is_in = |(start, length, _): &&(Ipv4Addr, u32, _)| (bits ^ start.to_bits()) >> (32 - length) == 0;
        REFUSED_V4.iter().find(is_in).map(|(_, _, why)| *why)
    }

    fn refusal_reason_v6(&self, address: Ipv6Addr) -> Option<&'static str> {
        if self.loopback && address.is_loopback() {
            return None;
        }
        let bits = address.to_bits();
        let is_in =
            |(start, length, _): &&(Ipv6Addr, u32, _)| (bits ^ start.to_bits()) >> (128 - length) == 0;
        match REFUSED_V6.iter().find(is_in) {
            Some((_, _, why)) => Some(why),
            None if bits >> 125 == 0b001 => None,
            None => Some("not a public address"),
        }
    }
}

/// The IPv4 address embedded in an IPv4-mapped (`::ffff:a.b.c.d`) or IPv4-compatible (`::a.b.c.d`) address.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let is_itself = address.is_unspecified() || address.is_loopback();
    address.to_ipv4().filter(|_| !is_itself)
}

/// Whether an allowed range opens a large part of the internet: of IPv6, or of IPv4, also where IPv6 contains it.
pub fn is_wide(range: &IpNet) -> bool {
    match range {
        IpNet::V4(range) => range.prefix_len() < ALLOW_PREFIX_V4_MIN,
        IpNet::V6(range) => {
            let contains_v4 = CONTAIN_V4.iter().any(|(start, length)| {
                range.prefix_len() >= *length && contains(*start, *length, range.network())
            });
            let prefix_min = if contains_v4 { 96 + ALLOW_PREFIX_V4_MIN } else { ALLOW_PREFIX_V6_MIN };
            range.prefix_len() < prefix_min
        }
    }
}

/// Whether a cloud's metadata service answers at this address, or at the IPv4 address in it.
fn is_metadata(address: IpAddr) -> bool {
    let is_metadata_v4 =
        |address: Ipv4Addr| REFUSED_V4.iter().any(|(start, _, why)| *why == METADATA && *start == address);
    match address {
        IpAddr::V4(address) => is_metadata_v4(address),
        IpAddr::V6(address) => {
            let last_bits = u32::try_from(address.to_bits() & u128::from(u32::MAX)).unwrap_or_default();
            let in_v4 = CONTAIN_V4.iter().any(|(start, length)| contains(*start, *length, address));
            REFUSED_V6.iter().any(|(start, _, why)| *why == METADATA && *start == address)
                || (in_v4 && is_metadata_v4(Ipv4Addr::from_bits(last_bits)))
        }
    }
}

fn contains(start: Ipv6Addr, length: u8, address: Ipv6Addr) -> bool {
    (address.to_bits() ^ start.to_bits()) >> (128 - u32::from(length)) == 0
}

/// IPv6 ranges that end with an IPv4 address: IPv4-compatible, IPv4-mapped, NAT64.
const CONTAIN_V4: [(Ipv6Addr, u8); 3] = [
    (Ipv6Addr::UNSPECIFIED, 96),
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96),
    (v6([0x64, 0xff9b], 0), 96),
];

const METADATA: &str = "cloud metadata";
const PRIVATE: &str = "private network";
const LINK_LOCAL: &str = "link-local";
const DOCUMENTATION: &str = "documentation";
const TUNNEL: &str = "IPv4 in IPv6";

/// Refused ranges with their reasons; the first match wins. From the IANA special-purpose address registries (RFC 6890).
const REFUSED_V4: [(Ipv4Addr, u32, &str); 23] = [
    (Ipv4Addr::new(169, 254, 169, 254), 32, METADATA),
    // The credentials of containers on AWS.
    (Ipv4Addr::new(169, 254, 170, 2), 32, METADATA),
    (Ipv4Addr::new(169, 254, 170, 23), 32, METADATA),
    // A public address, but Azure's platform services answer there. The next two are the metadata services of Alibaba
    // and Oracle.
    (Ipv4Addr::new(168, 63, 129, 16), 32, METADATA),
    (Ipv4Addr::new(100, 100, 100, 200), 32, METADATA),
    (Ipv4Addr::new(192, 0, 0, 192), 32, METADATA),
    (Ipv4Addr::UNSPECIFIED, 8, "unspecified"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, PRIVATE),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "carrier's shared network"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "loopback"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, LINK_LOCAL),
    (Ipv4Addr::new(172, 16, 0, 0), 12, PRIVATE),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "protocol assignments"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, DOCUMENTATION),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "6to4 relay"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, PRIVATE),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "benchmarking"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, DOCUMENTATION),
    (Ipv4Addr::new(203, 0, 113, 0), 24, DOCUMENTATION),
    (Ipv4Addr::new(233, 252, 0, 0), 24, DOCUMENTATION),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "multicast"),
    (Ipv4Addr::BROADCAST, 32, "broadcast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "reserved"),
];

const REFUSED_V6: [(Ipv6Addr, u32, &str); 22] = [
    (v6([0xfd00, 0xec2], 0x254), 128, METADATA),
    (v6([0xfd00, 0xec2], 0x23), 128, METADATA),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe), 128, METADATA),
    (v6([0xfd20, 0xce], 0x254), 128, METADATA),
    (Ipv6Addr::UNSPECIFIED, 128, "unspecified"),
    (Ipv6Addr::LOCALHOST, 128, "loopback"),
    (v6([0x64, 0xff9b], 0), 96, TUNNEL),
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48, TUNNEL),
    (v6([0x100, 0], 0), 64, "discarded"),
    (v6([0x2001, 0], 0), 32, TUNNEL),
    (v6([0x2001, 2], 0), 48, "benchmarking"),
    (v6([0x2001, 0x10], 0), 28, "ORCHID"),
    (v6([0x2001, 0x20], 0), 28, "ORCHID"),
    (v6([0x2001, 0xdb8], 0), 32, DOCUMENTATION),
    (v6([0x2001, 0], 0), 23, "protocol assignments"),
    (v6([0x2002, 0], 0), 16, TUNNEL),
    (v6([0x3fff, 0], 0), 20, DOCUMENTATION),
    (v6([0x5f00, 0], 0), 16, "segment routing"),
    (v6([0xfc00, 0], 0), 7, PRIVATE),
    (v6([0xfe80, 0], 0), 10, LINK_LOCAL),
    (v6([0xfec0, 0], 0), 10, "site-local"),
    (v6([0xff00, 0], 0), 8, "multicast"),
];

const fn v6(start: [u16; 2], end: u16) -> Ipv6Addr {
    Ipv6Addr::new(start[0], start[1], 0, 0, 0, 0, 0, end)
}

#[cfg(test)]
mod tests;
