//! The dispatcher and the tickets, without a server.

use std::sync::Arc;
use std::time::Duration;

use domain::{ClientId, GrantId, Guid, MembershipId, Random, Scopes, Secret, TenantId, Ticks, UserId};
use store::{
    Client, Consent, Grant, MasterKey, Membership, Pkce, Session, Status, Tenant, TenantMembership, User,
    Vault,
};

use super::step::{Situation, Step, next};
use super::ticket::{Errand, Opened, SignOutErrand, Tickets};
use crate::grant::Details;
use crate::params::Params;
use crate::request::{self, Authorization};

const NOW: Ticks = Ticks(639_000_000_000_000_000);
const CALLBACK: &str = "https://app.example/callback";

fn client(consent: Consent) -> Client {
    Client {
        id: ClientId::new("app"),
        guid: Guid::from_bytes([1; 16]),
        name: "App".into(),
        redirect_uris: vec![CALLBACK.into()],
        post_logout_uris: Vec::new(),
        pkce: Pkce::IfSent,
        consent,
        callback_id_token: true,
        status: Status::Active,
        created_at: NOW,
    }
}

fn asked(extra: &str) -> Authorization {
    let text = format!("client_id=app&response_type=code&redirect_uri={CALLBACK}&scope=openid+email&{extra}");
    let (params, client) = (Params::parse(text.as_bytes()), client(Consent::None));
    let reply = request::reply(&params, &client).unwrap();
    let hinted = params.get("hinted").map(Into::into);
    request::authorization(&params, reply, &client, hinted).unwrap()
}

fn session(ago: Duration) -> Session {
    Session {
        user: UserId::new("maria"),
        authenticated_at: NOW.minus(ago),
        methods: "password".into(),
        expires_at: NOW + Duration::from_secs(60),
    }
}

fn seat(tenant: &str) -> TenantMembership {
    TenantMembership {
        user: User {
            id: UserId::new("maria"),
            email: "maria@example.com".into(),
            given_name: "María".into(),
            lang: "es".into(),
            password_hash: String::new(),
            status: Status::Active,
            created_at: NOW,
        },
        tenant: Tenant {
            id: TenantId::new(tenant),
            name: tenant.into(),
            short_code: "1".into(),
            status: Status::Active,
            created_at: NOW,
        },
        membership: Membership {
            id: MembershipId::new(format!("m-{tenant}")),
            user: UserId::new("maria"),
            tenant: TenantId::new(tenant),
            modules: String::new(),
            key_user_correlation_id: Guid::from_bytes([2; 16]),
            equipo_user_id: String::new(),
            second_client_id: String::new(),
            created_at: NOW,
            last_used_at: None,
        },
    }
}

fn grant(tenant: &str, scope: &str) -> Grant {
    Grant {
        id: GrantId::new("g"),
        client: ClientId::new("app"),
        user: UserId::new("maria"),
        tenant: TenantId::new(tenant),
        details: Details::new(Scopes::parse(scope).scopes, NOW, "password").write(),
        created_at: NOW,
        last_used_at: NOW,
        expires_at: NOW,
        revoked_at: None,
    }
}

/// What comes next for a signed-in user (or nobody), in few words.
struct Case<'a> {
    extra: &'a str,
    session: Option<Duration>,
    seats: &'a [&'a str],
    grants: &'a [(&'a str, &'a str)],
    consent: Consent,
    chosen: Option<&'a str>,
}

impl Default for Case<'_> {
    fn default() -> Self {
        let session = Some(Duration::from_secs(100));
        Self { extra: "", session, seats: &["one"], grants: &[], consent: Consent::None, chosen: None }
    }
}

fn check(case: &Case<'_>, expected: &str) {
    let (asked, client) = (asked(case.extra), client(case.consent));
    let session = case.session.map(session);
    let seats: Vec<TenantMembership> = case.seats.iter().map(|tenant| seat(tenant)).collect();
    let grants: Vec<Grant> = case.grants.iter().map(|(tenant, scope)| grant(tenant, scope)).collect();
    let chosen = case.chosen.map(TenantId::new);
    let step = next(&Situation {
        asked: &asked,
        client: &client,
        started_at: NOW.minus(Duration::from_secs(50)),
        session: session.as_ref(),
        seats: &seats,
        grants: &grants,
        chosen: chosen.as_ref(),
        now: NOW,
    });
    let told = match step {
        Step::SignIn => "sign in".into(),
        Step::Choose { asks_consent: false } => "choose".into(),
        Step::Choose { asks_consent: true } => "choose and consent".into(),
        Step::Issue(seat) => format!("issue {}", seat.tenant.id),
        Step::Refuse(error) => error.code.to_owned(),
    };
    assert_eq!(told, expected, "{}", case.extra);
}

#[test]
fn who_is_not_signed_in_signs_in() {
    check(&Case { session: None, ..Case::default() }, "sign in");
    check(&Case { session: None, extra: "prompt=none", ..Case::default() }, "login_required");
}

#[test]
fn a_session_is_enough_unless_more_is_asked() {
    check(&Case::default(), "issue one");
    check(&Case { extra: "prompt=none", ..Case::default() }, "issue one");
    for extra in ["prompt=login", "prompt=select_account", "max_age=99", "max_age=0", "hinted=other"] {
        check(&Case { extra, ..Case::default() }, "sign in");
    }
    check(&Case { extra: "max_age=100", ..Case::default() }, "issue one");
    check(&Case { extra: "hinted=maria", ..Case::default() }, "issue one");
    check(&Case { extra: "prompt=none&max_age=99", ..Case::default() }, "login_required");
    check(&Case { extra: "prompt=none&hinted=other", ..Case::default() }, "login_required");
}

#[test]
fn a_session_that_was_made_for_this_errand_satisfies_every_wish_for_a_new_one() {
    let session = Some(Duration::from_secs(40));
    for extra in ["prompt=login", "max_age=1", "max_age=0", "prompt=select_account"] {
        check(&Case { extra, session, ..Case::default() }, "issue one");
    }
    check(&Case { extra: "hinted=other", session, ..Case::default() }, "login_required");
}

#[test]
fn several_tenants_are_never_chosen_from_in_silence() {
    let two: &[&str] = &["one", "two"];
    check(&Case { seats: two, ..Case::default() }, "choose");
    check(&Case { seats: two, extra: "acr_values=tenant:two", ..Case::default() }, "choose");
    check(&Case { seats: two, extra: "prompt=none", ..Case::default() }, "interaction_required");
    check(&Case { seats: two, chosen: Some("two"), ..Case::default() }, "issue two");
    check(&Case { seats: two, chosen: Some("three"), ..Case::default() }, "choose");
    check(&Case { seats: &[], ..Case::default() }, "access_denied");
}

#[test]
fn what_was_chosen_before_can_be_renewed_in_silence_by_who_names_it() {
    let renew = |extra, grants| Case { seats: &["one", "two"], extra, grants, ..Case::default() };
    let named = "prompt=none&acr_values=tenant:two";
    check(&renew(named, &[("two", "openid email")]), "issue two");
    check(&renew(named, &[("one", "openid email")]), "interaction_required");
    check(&renew(named, &[("two", "openid")]), "interaction_required");
    check(&renew("prompt=none", &[("two", "openid email")]), "interaction_required");
}

#[test]
fn consent_is_asked_once_for_what_it_covers() {
    let consent =
        |extra, grants, chosen| Case { consent: Consent::Required, extra, grants, chosen, ..Case::default() };
    check(&consent("", &[], None), "choose and consent");
    check(&consent("", &[], Some("one")), "issue one");
    check(&consent("", &[("one", "openid email profile")], None), "issue one");
    check(&consent("", &[("one", "openid")], None), "choose and consent");
    check(&consent("prompt=none", &[], None), "consent_required");
    check(&Case { extra: "prompt=consent", ..Case::default() }, "choose and consent");
}

struct Counting;

impl Random for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(9);
    }
}

fn tickets(key: u8) -> Tickets {
    let vault = Arc::new(Vault::new(&MasterKey::from_bytes([key; 32])).unwrap());
    Tickets { vault, random: Arc::new(Counting) }
}

#[test]
fn a_ticket_is_good_in_its_own_browser_and_for_half_an_hour() {
    let (tickets, mine, other) = (tickets(1), Secret::new("mine"), Secret::new("other"));
    let text = tickets.issue(Errand::SignOut(SignOutErrand::default()), &mine, NOW).unwrap().unwrap();
    let opened = |browser, at| tickets.open(&text, browser, at);
    assert!(matches!(opened(Some(&mine), NOW), Opened::Valid(_)));
    assert!(matches!(opened(Some(&mine), NOW + Duration::from_secs(1800)), Opened::Valid(_)));
    assert!(matches!(opened(Some(&mine), NOW + Duration::from_secs(1801)), Opened::Stale(_)));
    assert!(matches!(opened(Some(&other), NOW), Opened::Stale(_)));
    assert!(matches!(opened(None, NOW), Opened::Stale(_)));
}

#[test]
fn a_ticket_cannot_be_changed_made_up_or_brought_from_elsewhere() {
    let browser = Secret::new("mine");
    let text = tickets(1).issue(Errand::Permissions, &browser, NOW).unwrap().unwrap();
    assert!(!text.contains("Permissions") && !text.contains('='));
    for at in 0..text.len() {
        let mut changed = text.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).unwrap();
        assert!(matches!(tickets(1).open(&changed, Some(&browser), NOW), Opened::Unreadable), "{at}");
    }
    for wrong in ["", "x", &text[1..], &text[..text.len() - 1], &"A".repeat(100_000)] {
        assert!(matches!(tickets(1).open(wrong, Some(&browser), NOW), Opened::Unreadable));
    }
    assert!(matches!(tickets(2).open(&text, Some(&browser), NOW), Opened::Unreadable));
}
