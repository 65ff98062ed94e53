//! Judges facts: pure functions, one for each check.

use std::time::Duration;

use domain::Ticks;

use super::facts::{
    AddressFacts, AddressResponse, CertificateFacts, CertificateFile, ClockFacts, DescriptorFacts, DiskFacts,
    DiskSpace, HostLookup, Listener, MailFacts, PostgresFacts, ProxyFacts, SqliteFacts, SqliteIntegrity,
    StoreFacts,
};
use super::{Check, Finding, Outcome};

const CLOCK_SECONDS_GOOD: f64 = 1.0;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// Below this, writes are about to fail.
const DISK_BYTES_MIN: u64 = 256 * MIB;
const DISK_BYTES_LOW: u64 = 2 * GIB;
/// A disk that is this full, in percent, is worth a warning unless much is left.
const DISK_PERCENT_LOW: u64 = 5;
const DISK_BYTES_PLENTY: u64 = 50 * GIB;
const CERTIFICATE_ENDS_SOON: Duration = Duration::from_secs(21 * 24 * 60 * 60);
const POSTGRES_VERSION_MIN: u32 = 150_000;

pub fn configuration(faults: &[String]) -> Finding {
    if faults.is_empty() {
        return Finding::new(Check::Configuration, Outcome::ConfigurationValid, []);
    }
    Finding::new(Check::Configuration, Outcome::ConfigurationInvalid, [&faults.join("; ")])
}

pub fn clock(facts: ClockFacts) -> Finding {
    let finding =
        |outcome, seconds: f64| Finding::new(Check::Clock, outcome, [&format!("{:.1}", seconds.abs())]);
    match facts {
        ClockFacts::NoOther => finding(Outcome::ClockAlone, 0.0),
        ClockFacts::Unknown => finding(Outcome::ClockUnknown, 0.0),
        ClockFacts::Difference { seconds, is_corrected: true } => finding(Outcome::ClockWrong, seconds),
        ClockFacts::Difference { seconds, .. } if seconds.abs() > CLOCK_SECONDS_GOOD => {
            finding(Outcome::ClockOff, seconds)
        }
        ClockFacts::Difference { seconds, .. } => finding(Outcome::ClockAgrees, seconds),
    }
}

/// None: the data is on a server, and there is no directory.
pub fn disk(facts: &[DiskFacts]) -> Vec<Finding> {
    if facts.is_empty() {
        return vec![Finding::new(Check::Disk, Outcome::DiskRemote, [])];
    }
    facts.iter().map(one_disk).collect()
}

fn one_disk(DiskFacts { directory, space }: &DiskFacts) -> Finding {
    let DiskSpace { free_bytes, total_bytes } = match space {
        Ok(space) => *space,
        Err(why) => return Finding::new(Check::Disk, Outcome::DiskUnknown, [directory, why]),
    };
    let is_nearly_used = free_bytes / 100 < total_bytes / 10_000 * DISK_PERCENT_LOW;
    let outcome = if free_bytes < DISK_BYTES_MIN {
        Outcome::DiskFull
    } else if free_bytes < DISK_BYTES_LOW || (is_nearly_used && free_bytes < DISK_BYTES_PLENTY) {
        Outcome::DiskLow
    } else {
        Outcome::DiskFree
    };
    Finding::new(Check::Disk, outcome, [directory, &size(free_bytes), &size(total_bytes)])
}

/// `1.5 GiB`.
fn size(bytes: u64) -> String {
    let (unit, name) = if bytes >= GIB { (GIB, "GiB") } else { (MIB, "MiB") };
    let tenths = bytes / (unit / 10);
    format!("{}.{} {name}", tenths / 10, tenths % 10)
}

pub fn descriptors(facts: DescriptorFacts) -> Finding {
    let DescriptorFacts { limit, needed, open } = facts;
    let outcome = if needed > limit {
        Outcome::DescriptorsShort
    } else if open.is_some_and(|open| open > limit / 10 * 8) {
        Outcome::DescriptorsNearlyUsed
    } else {
        Outcome::DescriptorsEnough
    };
    let open = open.map_or_else(|| "?".to_owned(), |open| open.to_string());
    Finding::new(Check::Descriptors, outcome, [&limit.to_string(), &needed.to_string(), &open])
}

pub fn addresses(facts: &[AddressFacts]) -> Vec<Finding> {
    facts.iter().map(one_address).collect()
}

fn one_address(facts: &AddressFacts) -> Finding {
    let AddressFacts { key, url, is_loopback, is_operators, lookup, response } = facts;
    let finding = |outcome, why: &str| Finding::new(Check::Addresses, outcome, [key, url, why]);
    if url.is_empty() {
        return finding(Outcome::AddressMissing, "");
    }
    if !url.starts_with("https://") && !is_loopback {
        return finding(Outcome::AddressPlain, "");
    }
    if let Some(Err(why)) = lookup {
        return finding(Outcome::AddressUnresolved, why);
    }
    match response {
        AddressResponse::Other(status) => finding(Outcome::AddressOther, &status.to_string()),
        AddressResponse::BadCertificate(why) => finding(Outcome::AddressCertificate, why),
        AddressResponse::Unreachable(why) => finding(Outcome::AddressSilent, why),
        AddressResponse::NotTried => finding(Outcome::AddressNotTried, ""),
        AddressResponse::Alive if *is_loopback && !is_operators => finding(Outcome::AddressLocal, ""),
        AddressResponse::Alive => finding(Outcome::AddressAnswers, ""),
    }
}

pub fn proxies(facts: &[ProxyFacts]) -> Vec<Finding> {
    facts.iter().map(one_proxy).collect()
}

fn one_proxy(facts: &ProxyFacts) -> Finding {
    let (url, key) = (facts.listener.url_key(), facts.listener.proxies_key());
    let finding = |outcome, what: &str| Finding::new(Check::Proxies, outcome, [url, key, what]);
    let needs_proxy = facts.is_https && !facts.has_tls;
    let is_missing = needs_proxy && facts.trusted.is_empty() && !facts.peer_is_client;
    match facts.listener {
        // Anybody can send the header of a proxy: what fails without one is said first.
        _ if !is_missing && let Some(peer) = facts.unnamed => finding(Outcome::ProxySeen, &peer.to_string()),
        _ if !facts.trusted.is_empty() => finding(Outcome::ProxyNamed, &facts.trusted.join(", ")),
        _ if facts.peer_is_client || !needs_proxy => finding(Outcome::ProxyNotNeeded, ""),
        Listener::Public => finding(Outcome::ProxyMissing, ""),
        Listener::Operator => finding(Outcome::ProxyMissingForOperators, ""),
    }
}

pub fn certificates(files: &[CertificateFile], now: Ticks) -> Vec<Finding> {
    if files.is_empty() {
        return vec![Finding::new(Check::Certificates, Outcome::CertificateNone, [])];
    }
    files.iter().map(|file| one_certificate(file, now)).collect()
}

fn one_certificate(file: &CertificateFile, now: Ticks) -> Finding {
    let finding =
        |outcome, what: &str| Finding::new(Check::Certificates, outcome, [file.key, &file.path, what]);
    let chain: &CertificateFacts = match &file.chain {
        Ok(chain) => chain,
        Err(why) => return finding(Outcome::CertificateUnreadable, why),
    };
    let date = |at: Ticks| at.date();
    if chain.not_after <= now {
        finding(Outcome::CertificateEnded, &date(chain.not_after))
    } else if chain.not_before > now {
        finding(Outcome::CertificateNotYet, &date(chain.not_before))
    } else if !chain.is_ordered {
        finding(Outcome::CertificateOrder, "")
    } else if !chain.other_hosts.is_empty() {
        finding(Outcome::CertificateOtherName, &chain.other_hosts.join(", "))
    } else if chain.not_after <= now + CERTIFICATE_ENDS_SOON {
        finding(Outcome::CertificateEndsSoon, &date(chain.not_after))
    } else if chain.is_self_signed {
        finding(Outcome::CertificateSelfSigned, "")
    } else if chain.certificates == 1 {
        finding(Outcome::CertificateAlone, "")
    } else {
        finding(Outcome::CertificateGood, &date(chain.not_after))
    }
}

pub fn dns(lookups: &[HostLookup]) -> Finding {
    let names = |is_wanted: fn(&&HostLookup) -> bool| {
        let names = lookups.iter().filter(is_wanted).map(|lookup| lookup.host.as_str());
        names.collect::<Vec<_>>().join(", ")
    };
    let failed = names(|lookup| lookup.result.is_err());
    if lookups.is_empty() {
        Finding::new(Check::Dns, Outcome::DnsNothing, [])
    } else if failed.is_empty() {
        Finding::new(Check::Dns, Outcome::DnsAnswers, [&names(|_| true)])
    } else {
        Finding::new(Check::Dns, Outcome::DnsFails, [&failed])
    }
}

pub fn outbound(mail: Option<&MailFacts>) -> Finding {
    let Some(MailFacts { server, connected }) = mail else {
        return Finding::new(Check::Outbound, Outcome::OutboundNothing, []);
    };
    match connected {
        Ok(()) => Finding::new(Check::Outbound, Outcome::MailReachable, [server]),
        Err(why) => Finding::new(Check::Outbound, Outcome::MailUnreachable, [server, why]),
    }
}

pub fn store(facts: &StoreFacts) -> Vec<Finding> {
    match facts {
        StoreFacts::Missing => vec![Finding::new(Check::Store, Outcome::StoreMissing, [])],
        StoreFacts::Silent(why) => vec![Finding::new(Check::Store, Outcome::StoreSilent, [why])],
        StoreFacts::Postgres(facts) => postgres(facts),
        StoreFacts::Sqlite(facts) => sqlite(facts),
    }
}

fn postgres(facts: &PostgresFacts) -> Vec<Finding> {
    let (major, minor) = (facts.version / 10_000, facts.version % 10_000);
    let version = format!("{major}.{minor}");
    let is_old = facts.version < POSTGRES_VERSION_MIN;
    let version_outcome = if is_old { Outcome::PostgresOld } else { Outcome::PostgresVersion };
    let settings = [
        ("fsync", facts.is_fsync_on),
        ("full_page_writes", facts.are_full_pages_written),
        ("synchronous_commit", facts.synchronous_commit != "off"),
    ];
    let off: Vec<&str> = settings.into_iter().filter(|(_, is_on)| !is_on).map(|(name, _)| name).collect();
    let durable = if off.is_empty() { Outcome::PostgresDurable } else { Outcome::PostgresNotDurable };
    let archive = match (facts.is_archiving, facts.is_archiving_failing) {
        (true, true) => Outcome::PostgresArchiveFails,
        (true, false) => Outcome::PostgresArchives,
        (false, _) => Outcome::PostgresArchivesNot,
    };
    vec![
        Finding::new(Check::Store, version_outcome, [&version]),
        Finding::new(Check::Store, durable, [&off.join(", ")]),
        postgres_connections(facts),
        Finding::new(Check::Store, archive, [&facts.wal_level]),
    ]
}

fn postgres_connections(facts: &PostgresFacts) -> Finding {
    let usable = facts.connections_max.saturating_sub(facts.connections_reserved);
    let outcome = if facts.own_connections_max > usable {
        Outcome::PostgresConnectionsShort
    } else if facts.connections_used.is_some_and(|used| used >= usable / 10 * 9) {
        Outcome::PostgresConnectionsNearlyUsed
    } else {
        Outcome::PostgresConnectionsEnough
    };
    let [usable, own] = [usable, facts.own_connections_max].map(|number| number.to_string());
    let used = facts.connections_used.map_or_else(|| "?".to_owned(), |used| used.to_string());
    Finding::new(Check::Store, outcome, [&usable, &own, &used])
}

fn sqlite(facts: &SqliteFacts) -> Vec<Finding> {
    let is_safe = facts.journal_mode.eq_ignore_ascii_case("wal") && facts.synchronous >= 2;
    let settings = if is_safe { Outcome::SqliteDurable } else { Outcome::SqliteNotDurable };
    let (integrity, why) = match &facts.integrity {
        SqliteIntegrity::Intact => (Outcome::SqliteIntact, ""),
        SqliteIntegrity::Damaged(why) => (Outcome::SqliteDamaged, why.as_str()),
        SqliteIntegrity::NotChecked => (Outcome::SqliteNotRead, ""),
    };
    vec![
        Finding::new(Check::Store, settings, [&facts.journal_mode, &facts.synchronous.to_string()]),
        Finding::new(Check::Store, integrity, [&size(facts.bytes), why]),
    ]
}

/// A check that had no result in time.
pub fn unfinished(check: Check) -> Finding {
    Finding::new(check, Outcome::Unfinished, [])
}

#[cfg(test)]
#[path = "verdicts_tests.rs"]
mod tests;
