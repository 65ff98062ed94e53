//! Names and how they are answered while they misbehave.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use super::name_server::{FORMAT_ERROR, NO_SUCH_NAME, NameAnswer, REFUSED, SERVER_FAILURE};

pub(super) const CASES_ZONE: &str = "receivers.example";
/// Where the good receivers are, in the network of the proof.
pub(super) const PUBLIC_V4: Ipv4Addr = Ipv4Addr::new(93, 184, 215, 14);
pub(super) const PUBLIC_V6: Ipv6Addr = Ipv6Addr::new(0x2606, 0x2800, 0x21f, 0xcb07, 0, 0, 0, 0x14);
/// The first of many.
const MANY_V4: Ipv4Addr = Ipv4Addr::new(93, 184, 0, 1);
const MANY: u32 = 300;

const REFUSED_ADDRESS: &[&str] = &["the host is not a public address"];
const UNRESOLVED: &[&str] = &["does not resolve"];
const NO_NAME: &[&str] = &["there is no such name"];
const NO_ADDRESS: &[&str] = &["the name has no address"];
/// The two families are asked for apart, so that a name that changes between them may have none for a moment.
const OTHER_FAMILY: &[&str] = &["the host is not a public address", "the name has no address"];
/// Nonsense is like no answer.
const NO_ANSWER: &[&str] = &["timed out resolving the name", "does not resolve"];
/// An answer that comes late may leave the rest of the attempt too little time.
const LATE: &[&str] = &["timed out", "does not resolve"];

/// Whether deliveries arrive in spite of the answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Works {
    Never,
    Sometimes,
    /// It is unusual but valid.
    Always,
}

pub(super) struct Case {
    /// The first label of the name.
    pub(super) label: &'static str,
    pub(super) answer: NameAnswer,
    pub(super) works: Works,
    /// One of these is in every reason.
    pub(super) reasons: &'static [&'static str],
}

impl Case {
    pub(super) fn host(&self) -> String {
        format!("{}.{CASES_ZONE}", self.label)
    }

    pub(super) fn is_private(&self) -> bool {
        self.reasons.first() == REFUSED_ADDRESS.first()
    }

    /// The answers that do not change and do not come late.
    pub(super) fn is_refused_at_subscription(&self) -> bool {
        let is_fixed =
            !matches!(self.answer, NameAnswer::Silence | NameAnswer::Garbage | NameAnswer::WrongQuestion(_));
        self.works == Works::Never && is_fixed
    }
}

/// Whether a good receiver is there.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address == PUBLIC_V4 || address.octets()[..2] == MANY_V4.octets()[..2],
        IpAddr::V6(address) => address == PUBLIC_V6,
    }
}

pub(super) fn good_answer() -> NameAnswer {
    NameAnswer::Addresses(public())
}

fn public() -> Vec<IpAddr> {
    vec![PUBLIC_V4.into(), PUBLIC_V6.into()]
}

fn many() -> Vec<IpAddr> {
    (0..MANY).map(|number| Ipv4Addr::from_bits(MANY_V4.to_bits() + number).into()).collect()
}

fn address(text: &str) -> Vec<IpAddr> {
    text.parse().into_iter().collect()
}

pub(super) fn cases() -> Vec<Case> {
    [failures(), private_addresses(), unusual()].into_iter().flatten().collect()
}

fn failures() -> Vec<Case> {
    let case = |label, answer, reasons| Case { label, answer, works: Works::Never, reasons };
    vec![
        case("servfail", NameAnswer::Code(SERVER_FAILURE), UNRESOLVED),
        case("refused", NameAnswer::Code(REFUSED), UNRESOLVED),
        case("format-error", NameAnswer::Code(FORMAT_ERROR), UNRESOLVED),
        case("nxdomain", NameAnswer::Code(NO_SUCH_NAME), NO_NAME),
        case("empty", NameAnswer::Addresses(Vec::new()), NO_ADDRESS),
        case("silence", NameAnswer::Silence, NO_ANSWER),
        case("too-late", NameAnswer::Late(Duration::from_secs(8), public()), NO_ANSWER),
        case("garbage", NameAnswer::Garbage, NO_ANSWER),
        case("wrong-question", NameAnswer::WrongQuestion(public()), NO_ANSWER),
        case("loop", NameAnswer::Alias(format!("loop.{CASES_ZONE}")), UNRESOLVED),
        case("alias-to-nothing", NameAnswer::Alias("nothing.example".into()), UNRESOLVED),
    ]
}

fn private_addresses() -> Vec<Case> {
    let case = |label, addresses| {
        let answer = NameAnswer::Addresses(addresses);
        Case { label, answer, works: Works::Never, reasons: REFUSED_ADDRESS }
    };
    let mut one_of_many = many();
    one_of_many.extend(address("10.0.0.5"));
    let mut cases = vec![
        case("private-10", address("10.0.0.5")),
        case("private-172", address("172.16.0.5")),
        case("private-192", address("192.168.0.5")),
        case("carrier", address("100.64.0.5")),
        case("metadata", address("169.254.169.254")),
        case("azure", address("168.63.129.16")),
        case("loopback", address("127.0.0.1")),
        case("loopback-other", address("127.9.9.9")),
        case("unspecified", address("0.0.0.0")),
        case("loopback-6", address("::1")),
        case("mapped", address("::ffff:127.0.0.1")),
        case("mapped-metadata", address("::ffff:169.254.169.254")),
        case("compatible", address("::127.0.0.1")),
        case("nat64", address("64:ff9b::7f00:1")),
        case("sixtofour", address("2002:7f00:1::")),
        case("unique-local", address("fd00::1")),
        case("link-local-6", address("fe80::1")),
        case("public-then-private", [public(), address("10.0.0.5")].concat()),
        case("public-4-private-6", [vec![PUBLIC_V4.into()], address("::1")].concat()),
        case("one-of-many", one_of_many),
    ];
    for (label, answer) in [
        ("chain-to-private", NameAnswer::Chain(6, address("10.0.0.5"))),
        ("alias-to-private", NameAnswer::Alias(format!("private-10.{CASES_ZONE}"))),
    ] {
        cases.push(Case { label, answer, works: Works::Never, reasons: REFUSED_ADDRESS });
    }
    let (public_4, public_6) = (vec![PUBLIC_V4.into()], vec![PUBLIC_V6.into()]);
    for (label, public, private, reasons) in [
        ("rebinding", &public_4, "127.0.0.1", REFUSED_ADDRESS),
        ("rebinding-6", &public_6, "::1", REFUSED_ADDRESS),
        ("rebinding-unique-local", &public_6, "fd00::1", REFUSED_ADDRESS),
        ("rebinding-mapped", &public_6, "::ffff:169.254.169.254", REFUSED_ADDRESS),
        ("rebinding-4-to-6", &public_4, "::1", OTHER_FAMILY),
        ("rebinding-6-to-4", &public_6, "10.0.0.5", OTHER_FAMILY),
    ] {
        let answer = NameAnswer::InTurn(vec![public.clone(), address(private)]);
        cases.push(Case { label, answer, works: Works::Sometimes, reasons });
    }
    cases
}

fn unusual() -> Vec<Case> {
    let case = |label, answer| Case { label, answer, works: Works::Always, reasons: &[] };
    let lossy = NameAnswer::Lossy(public());
    vec![
        case("many", NameAnswer::Addresses(many())),
        case("chain", NameAnswer::Chain(6, public())),
        case("alias", NameAnswer::Alias(format!("good-0.{CASES_ZONE}"))),
        case("late", NameAnswer::Late(Duration::from_secs(2), public())),
        case("only-6", NameAnswer::Addresses(vec![PUBLIC_V6.into()])),
        Case { label: "lossy", answer: lossy, works: Works::Sometimes, reasons: LATE },
    ]
}
