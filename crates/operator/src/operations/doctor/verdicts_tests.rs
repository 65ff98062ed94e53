//! Each verdict at its limits.

use std::net::{IpAddr, Ipv4Addr};

use super::*;
use crate::operations::doctor::{Examination, Verdict};

const NOW: &str = "2026-11-15T08:30:00Z";

fn now() -> Ticks {
    Ticks::parse_iso(NOW).unwrap()
}

fn code(finding: &Finding) -> &'static str {
    finding.code()
}

#[test]
fn clocks_that_differ_are_judged_by_how_much() {
    let difference = |seconds, is_corrected| code(&clock(ClockFacts::Difference { seconds, is_corrected }));
    assert_eq!(difference(0.9, false), "clock_agrees");
    assert_eq!(difference(-1.1, false), "clock_off");
    assert_eq!(difference(-2.6, true), "clock_wrong");
    assert_eq!(code(&clock(ClockFacts::NoOther)), "clock_alone");
    assert_eq!(code(&clock(ClockFacts::Unknown)), "clock_unknown");
}

#[test]
fn disks_fill_up() {
    let judge = |free_bytes, total_bytes| {
        let space = Ok(DiskSpace { free_bytes, total_bytes });
        code(&disk(&[DiskFacts { directory: "/data".into(), space }])[0])
    };
    assert_eq!(judge(255 * MIB, 100 * GIB), "disk_full");
    assert_eq!(judge(GIB, 4 * GIB), "disk_low");
    assert_eq!(judge(4 * GIB, 100 * GIB), "disk_low", "less than a twentieth");
    assert_eq!(judge(6 * GIB, 100 * GIB), "disk_free");
    assert_eq!(judge(60 * GIB, 4000 * GIB), "disk_free", "plenty, whatever the share");
    assert_eq!(code(&disk(&[])[0]), "disk_remote");
    let unknown = DiskFacts { directory: "/data".into(), space: Err("gone".into()) };
    assert_eq!(code(&disk(&[unknown])[0]), "disk_unknown");
    assert_eq!((size(1536 * MIB), size(512 * 1024)), ("1.5 GiB".into(), "0.5 MiB".into()));
}

#[test]
fn descriptors_must_suffice_for_the_configuration() {
    let judge = |limit, needed, open| code(&descriptors(DescriptorFacts { limit, needed, open }));
    assert_eq!(judge(1000, 1000, Some(10)), "descriptors_enough");
    assert_eq!(judge(1000, 1000, None), "descriptors_enough");
    assert_eq!(judge(999, 1000, Some(10)), "descriptors_short");
    assert_eq!(judge(1000, 900, Some(801)), "descriptors_nearly_used");
}

fn address() -> AddressFacts {
    AddressFacts {
        key: "server.base_url",
        url: "https://api.example.com".into(),
        is_loopback: false,
        is_operators: false,
        lookup: Some(Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)])),
        response: AddressResponse::Alive,
    }
}

#[test]
fn addresses_must_be_https_resolve_and_answer() {
    let judge = |facts: AddressFacts| code(&addresses(&[facts])[0]);
    assert_eq!(judge(address()), "address_answers");
    assert_eq!(judge(AddressFacts { url: String::new(), ..address() }), "address_missing");
    assert_eq!(judge(AddressFacts { url: "http://api.example.com".into(), ..address() }), "address_plain");
    assert_eq!(judge(AddressFacts { lookup: Some(Err("no".into())), ..address() }), "address_unresolved");
    let local = AddressFacts { url: "http://localhost:80".into(), is_loopback: true, ..address() };
    assert_eq!(judge(local.clone()), "address_local");
    assert_eq!(judge(AddressFacts { is_operators: true, ..local }), "address_answers");
    for (response, expected) in [
        (AddressResponse::Other(502), "address_other"),
        (AddressResponse::BadCertificate("expired".into()), "address_certificate"),
        (AddressResponse::Unreachable("refused".into()), "address_silent"),
        (AddressResponse::NotTried, "address_not_tried"),
    ] {
        assert_eq!(judge(AddressFacts { response, ..address() }), expected);
    }
}

#[test]
fn https_without_a_certificate_needs_a_named_proxy() {
    let facts = ProxyFacts {
        listener: Listener::Public,
        is_https: true,
        has_tls: false,
        trusted: Vec::new(),
        peer_is_client: false,
        unnamed: None,
    };
    let judge = |facts: ProxyFacts| code(&proxies(&[facts])[0]);
    assert_eq!(judge(facts.clone()), "proxy_missing");
    let operators = ProxyFacts { listener: Listener::Operator, ..facts.clone() };
    assert_eq!(judge(operators), "proxy_missing_for_operators");
    assert_eq!(judge(ProxyFacts { trusted: vec!["10.0.0.1/32".into()], ..facts.clone() }), "proxy_named");
    for fine in [
        ProxyFacts { has_tls: true, ..facts.clone() },
        ProxyFacts { is_https: false, ..facts.clone() },
        ProxyFacts { peer_is_client: true, ..facts.clone() },
    ] {
        assert_eq!(judge(fine), "proxy_not_needed");
    }
    let seen = Some(IpAddr::V4(Ipv4Addr::LOCALHOST));
    // Whoever sent the header: the service does not work without a proxy.
    assert_eq!(judge(ProxyFacts { unnamed: seen, ..facts.clone() }), "proxy_missing");
    assert_eq!(judge(ProxyFacts { unnamed: seen, trusted: vec!["10.0.0.1".into()], ..facts }), "proxy_seen");
}

#[test]
fn certificates_are_judged_by_the_worst() {
    let day = Duration::from_secs(24 * 60 * 60);
    let good = CertificateFacts {
        not_before: now().minus(day),
        not_after: now() + day * 90,
        certificates: 2,
        is_self_signed: false,
        is_ordered: true,
        other_hosts: Vec::new(),
    };
    let judge = |chain| {
        let file =
            CertificateFile { key: "server.tls_certificates", path: "a.pem".into(), hosts: vec![], chain };
        code(&certificates(&[file], now())[0])
    };
    assert_eq!(judge(Ok(good.clone())), "certificate_good");
    assert_eq!(judge(Ok(CertificateFacts { not_after: now(), ..good.clone() })), "certificate_ended");
    assert_eq!(
        judge(Ok(CertificateFacts { not_after: now() + day * 21, ..good.clone() })),
        "certificate_ends_soon"
    );
    assert_eq!(
        judge(Ok(CertificateFacts { not_before: now() + day, ..good.clone() })),
        "certificate_not_yet"
    );
    assert_eq!(judge(Ok(CertificateFacts { is_ordered: false, ..good.clone() })), "certificate_order");
    assert_eq!(judge(Ok(CertificateFacts { certificates: 1, ..good.clone() })), "certificate_alone");
    let self_signed = CertificateFacts { is_self_signed: true, certificates: 1, ..good.clone() };
    assert_eq!(judge(Ok(self_signed)), "certificate_self_signed");
    let other = CertificateFacts { other_hosts: vec!["api.example.com".into()], ..good };
    assert_eq!(judge(Ok(other)), "certificate_other_name");
    assert_eq!(judge(Err("no PEM".into())), "certificate_unreadable");
    assert_eq!(code(&certificates(&[], now())[0]), "certificate_none");
}

#[test]
fn names_and_mail_are_tried_where_they_are_configured() {
    let lookup = |host: &str, result| HostLookup { host: host.into(), result };
    assert_eq!(code(&dns(&[])), "dns_nothing");
    assert_eq!(code(&dns(&[lookup("a.example", Ok(vec![]))])), "dns_answers");
    let failed = dns(&[lookup("a.example", Ok(vec![])), lookup("b.example", Err("no".into()))]);
    assert_eq!((code(&failed), failed.values[0].as_str()), ("dns_fails", "b.example"));
    let mail = |connected| Some(MailFacts { server: "smtp.example:25".into(), connected });
    assert_eq!(code(&outbound(None)), "outbound_nothing");
    assert_eq!(code(&outbound(mail(Ok(())).as_ref())), "mail_reachable");
    assert_eq!(code(&outbound(mail(Err("refused".into())).as_ref())), "mail_unreachable");
}

#[test]
fn postgres_settings_that_matter() {
    let good = PostgresFacts {
        version: 160_004,
        is_fsync_on: true,
        are_full_pages_written: true,
        synchronous_commit: "on".into(),
        connections_max: 100,
        connections_reserved: 3,
        connections_used: Some(10),
        own_connections_max: 20,
        wal_level: "replica".into(),
        is_archiving: true,
        is_archiving_failing: false,
    };
    let codes =
        |facts: PostgresFacts| -> Vec<_> { store(&StoreFacts::Postgres(facts)).iter().map(code).collect() };
    let all_good =
        ["postgres_version", "postgres_durable", "postgres_connections_enough", "postgres_archives"];
    assert_eq!(codes(good.clone()), all_good);
    assert_eq!(codes(PostgresFacts { version: 140_010, ..good.clone() })[0], "postgres_old");
    for lax in [
        PostgresFacts { is_fsync_on: false, ..good.clone() },
        PostgresFacts { are_full_pages_written: false, ..good.clone() },
        PostgresFacts { synchronous_commit: "off".into(), ..good.clone() },
    ] {
        assert_eq!(codes(lax)[1], "postgres_not_durable");
    }
    let short = PostgresFacts { own_connections_max: 98, ..good.clone() };
    assert_eq!(codes(short)[2], "postgres_connections_short");
    let used = PostgresFacts { connections_used: Some(81), ..good.clone() };
    assert_eq!(codes(used)[2], "postgres_connections_nearly_used");
    let unknown = PostgresFacts { connections_used: None, ..good.clone() };
    assert_eq!(codes(unknown), all_good);
    assert_eq!(
        codes(PostgresFacts { is_archiving_failing: true, ..good.clone() })[3],
        "postgres_archive_fails"
    );
    assert_eq!(codes(PostgresFacts { is_archiving: false, ..good })[3], "postgres_archives_not");
    assert_eq!(code(&store(&StoreFacts::Silent("no".into()))[0]), "store_silent");
    assert_eq!(code(&store(&StoreFacts::Missing)[0]), "store_missing");
}

#[test]
fn sqlite_settings_that_matter() {
    let good = SqliteFacts {
        journal_mode: "wal".into(),
        synchronous: 2,
        bytes: MIB,
        integrity: SqliteIntegrity::Intact,
    };
    let codes =
        |facts: SqliteFacts| -> Vec<_> { store(&StoreFacts::Sqlite(facts)).iter().map(code).collect() };
    assert_eq!(codes(good.clone()), ["sqlite_durable", "sqlite_intact"]);
    assert_eq!(codes(SqliteFacts { journal_mode: "delete".into(), ..good.clone() })[0], "sqlite_not_durable");
    assert_eq!(codes(SqliteFacts { synchronous: 1, ..good.clone() })[0], "sqlite_not_durable");
    let damaged = SqliteIntegrity::Damaged("page 3".into());
    assert_eq!(codes(SqliteFacts { integrity: damaged, ..good.clone() })[1], "sqlite_damaged");
    assert_eq!(codes(SqliteFacts { integrity: SqliteIntegrity::NotChecked, ..good })[1], "sqlite_not_read");
}

#[test]
fn the_worst_finding_decides() {
    let examination = |findings: &[Finding]| Examination { at: now(), findings: findings.into() }.verdict();
    let (good, unknown) = (configuration(&[]), clock(ClockFacts::NoOther));
    let (warning, failure) = (unfinished(Check::Dns), configuration(&["a".into()]));
    assert_eq!(examination(&[good.clone(), unknown]), Verdict::Ok);
    assert_eq!(examination(&[good.clone(), warning.clone()]), Verdict::Warning);
    assert_eq!(examination(&[warning, failure, good]), Verdict::Failure);
}
