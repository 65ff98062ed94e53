//! The next step of the flow, without a server.

use std::time::Duration;

use domain::subscription::Product;
use domain::{
    AccountId, ClientId, GrantId, Guid, MembershipId, Realm, Scopes, SecondFactorPolicy, TenantId, Ticks,
};
use store::{Account, Client, Consent, Grant, Membership, Pkce, Session, Status, Tenant, TenantMembership};

use super::step::{self, FlowState, SecondFactorState, Step, next_step};
use crate::authorization_request::{self, AuthorizationRequest};
use crate::grant::GrantDetails;
use crate::params::Params;

const NOW: Ticks = Ticks(639_000_000_000_000_000);
const CALLBACK: &str = "https://app.example/callback";

pub(crate) fn client(consent: Consent) -> Client {
    Client {
        id: ClientId::new("app"),
        guid: Guid::from_bytes([1; 16]),
        name: "App".into(),
        redirect_uris: vec![CALLBACK.into()],
        post_logout_uris: Vec::new(),
        pkce: Pkce::IfSent,
        consent,
        kind: domain::ClientKind::Web,
        backchannel_logout_uri: None,
        callback_id_token: store::CallbackIdToken::Auto,
        products: domain::subscription::Products::all(),
        team: None,
        is_sandbox: false,
        status: Status::Active,
        created_at: NOW,
        revision: store::FIRST_REVISION,
    }
}

fn request(extra: &str) -> AuthorizationRequest {
    let text = format!("client_id=app&response_type=code&redirect_uri={CALLBACK}&scope=openid+email&{extra}");
    let (params, client) = (Params::parse(text.as_bytes()), client(Consent::None));
    let target = authorization_request::response_target(&params, &client, None).unwrap();
    let hinted = params.get("hinted").map(Into::into);
    authorization_request::parse(&params, target, &client, hinted).unwrap()
}

fn session(ago: Duration) -> Session {
    Session {
        id: Guid::from_bytes([7; 16]),
        realm: Realm::Users,
        account: AccountId::new("maria"),
        authenticated_at: NOW.minus(ago),
        methods: "password".into(),
        expires_at: NOW + Duration::from_secs(60),
        address: "203.0.113.9".into(),
        user_agent: "Firefox".into(),
    }
}

fn membership(tenant: &str) -> TenantMembership {
    TenantMembership {
        user: Account {
            id: AccountId::new("maria"),
            realm: Realm::Users,
            role: None,
            email: "maria@example.com".into(),
            given_name: "María".into(),
            family_name: String::new(),
            lang: "es".into(),
            password_hash: String::new(),
            status: Status::Active,
            created_at: NOW,
            updated_at: NOW,
            revision: store::FIRST_REVISION,
        },
        tenant: Tenant {
            id: TenantId::new(tenant),
            name: tenant.into(),
            short_code: "1".into(),
            status: Status::Active,
            created_at: NOW,
            revision: store::FIRST_REVISION,
            sandbox_of: None,
        },
        membership: Membership {
            id: MembershipId::new(format!("m-{tenant}")),
            user: AccountId::new("maria"),
            tenant: TenantId::new(tenant),
            modules: String::new(),
            key_user_correlation_id: Guid::from_bytes([2; 16]),
            equipo_user_id: String::new(),
            second_client_id: String::new(),
            created_at: NOW,
            last_used_at: None,
            is_admin: false,
        },
    }
}

fn grant(tenant: &str, scope: &str) -> Grant {
    Grant {
        id: GrantId::new("g"),
        client: ClientId::new("app"),
        user: AccountId::new("maria"),
        tenant: TenantId::new(tenant),
        details: GrantDetails::new(Scopes::parse(scope).scopes, NOW, "password", None).to_json(),
        created_at: NOW,
        last_used_at: NOW,
        expires_at: NOW,
        revoked_at: None,
    }
}

/// The parts of a `FlowState` that the tests vary.
struct FlowCase<'a> {
    extra: &'a str,
    session: Option<Duration>,
    memberships: &'a [&'a str],
    grants: &'a [(&'a str, &'a str)],
    consent: Consent,
    chosen_tenant: Option<&'a str>,
    methods: &'a str,
    second_factor: SecondFactorState,
    /// The redirect address of a native application; without it, the application is a web application.
    native: Option<&'a str>,
}

impl Default for FlowCase<'_> {
    fn default() -> Self {
        let session = Some(Duration::from_secs(100));
        Self {
            extra: "",
            session,
            memberships: &["one"],
            grants: &[],
            consent: Consent::None,
            chosen_tenant: None,
            methods: "password",
            second_factor: NOT_ENROLLED,
            native: None,
        }
    }
}

const NOT_ENROLLED: SecondFactorState =
    SecondFactorState { policy: SecondFactorPolicy::Optional, is_enrolled: false };

fn check(case: &FlowCase<'_>, expected: &str) {
    let (mut request, mut client) = (request(case.extra), client(case.consent));
    if let Some(uri) = case.native {
        client.kind = domain::ClientKind::Native;
        uri.clone_into(&mut request.target.redirect_uri);
    }
    let session = case.session.map(|ago| Session { methods: case.methods.into(), ..session(ago) });
    let memberships: Vec<TenantMembership> =
        case.memberships.iter().map(|tenant| membership(tenant)).collect();
    let grants: Vec<Grant> = case.grants.iter().map(|(tenant, scope)| grant(tenant, scope)).collect();
    let chosen_tenant = case.chosen_tenant.map(TenantId::new);
    let step = next_step(&FlowState {
        request: &request,
        client: &client,
        started_at: NOW.minus(Duration::from_secs(50)),
        session: session.as_ref(),
        second_factor: case.second_factor,
        memberships: &memberships,
        grants: &grants,
        chosen_tenant: chosen_tenant.as_ref(),
        now: NOW,
    });
    let outcome = match step {
        Step::SignIn => "sign in".into(),
        Step::GiveSecondFactor => "second factor".into(),
        Step::Enrol => "enrol".into(),
        Step::ChooseTenant { needs_consent: false } => "choose".into(),
        Step::ChooseTenant { needs_consent: true } => "choose and consent".into(),
        Step::Issue(membership) => format!("issue {}", membership.tenant.id),
        Step::Refuse(error) => error.code.to_owned(),
    };
    assert_eq!(outcome, expected, "{}", case.extra);
}

#[test]
fn without_a_session_the_user_signs_in() {
    check(&FlowCase { session: None, ..FlowCase::default() }, "sign in");
    check(&FlowCase { session: None, extra: "prompt=none", ..FlowCase::default() }, "login_required");
}

#[test]
fn session_is_sufficient_unless_the_request_demands_more() {
    check(&FlowCase::default(), "issue one");
    check(&FlowCase { extra: "prompt=none", ..FlowCase::default() }, "issue one");
    for extra in ["prompt=login", "prompt=select_account", "max_age=99", "max_age=0", "hinted=other"] {
        check(&FlowCase { extra, ..FlowCase::default() }, "sign in");
    }
    check(&FlowCase { extra: "max_age=100", ..FlowCase::default() }, "issue one");
    check(&FlowCase { extra: "hinted=maria", ..FlowCase::default() }, "issue one");
    check(&FlowCase { extra: "prompt=none&max_age=99", ..FlowCase::default() }, "login_required");
    check(&FlowCase { extra: "prompt=none&hinted=other", ..FlowCase::default() }, "login_required");
}

#[test]
fn session_created_during_the_flow_satisfies_prompt_and_max_age() {
    let session = Some(Duration::from_secs(40));
    for extra in ["prompt=login", "max_age=1", "max_age=0", "prompt=select_account"] {
        check(&FlowCase { extra, session, ..FlowCase::default() }, "issue one");
    }
    check(&FlowCase { extra: "hinted=other", session, ..FlowCase::default() }, "login_required");
}

#[test]
fn with_several_tenants_the_user_must_choose() {
    let two: &[&str] = &["one", "two"];
    check(&FlowCase { memberships: two, ..FlowCase::default() }, "choose");
    check(&FlowCase { memberships: two, extra: "acr_values=tenant:two", ..FlowCase::default() }, "choose");
    check(
        &FlowCase { memberships: two, extra: "prompt=none", ..FlowCase::default() },
        "interaction_required",
    );
    check(&FlowCase { memberships: two, chosen_tenant: Some("two"), ..FlowCase::default() }, "issue two");
    check(&FlowCase { memberships: two, chosen_tenant: Some("three"), ..FlowCase::default() }, "choose");
    check(&FlowCase { memberships: &[], ..FlowCase::default() }, "access_denied");
}

#[test]
fn granted_tenant_can_be_named_with_prompt_none() {
    let renew =
        |extra, grants| FlowCase { memberships: &["one", "two"], extra, grants, ..FlowCase::default() };
    let named = "prompt=none&acr_values=tenant:two";
    check(&renew(named, &[("two", "openid email")]), "issue two");
    check(&renew(named, &[("one", "openid email")]), "interaction_required");
    check(&renew(named, &[("two", "openid")]), "interaction_required");
    check(&renew("prompt=none", &[("two", "openid email")]), "interaction_required");
}

#[test]
fn native_application_is_asked_about_each_time_unless_it_returns_over_https() {
    let native = |uri, extra, chosen_tenant| FlowCase {
        extra,
        grants: &[("one", "openid email")],
        chosen_tenant,
        native: Some(uri),
        ..FlowCase::default()
    };
    for uri in ["http://127.0.0.1:5555/callback", "com.example.app:/callback", "http://localhost:1/callback"]
    {
        check(&native(uri, "", None), "choose and consent");
        check(&native(uri, "prompt=none", None), "consent_required");
        check(&native(uri, "prompt=none&acr_values=tenant:one", None), "consent_required");
        check(&native(uri, "", Some("one")), "issue one");
    }
    check(&native(CALLBACK, "", None), "issue one");
}

#[test]
fn consent_is_required_once_per_set_of_scopes() {
    let consent = |extra, grants, chosen_tenant| FlowCase {
        consent: Consent::Required,
        extra,
        grants,
        chosen_tenant,
        ..FlowCase::default()
    };
    check(&consent("", &[], None), "choose and consent");
    check(&consent("", &[], Some("one")), "issue one");
    check(&consent("", &[("one", "openid email profile")], None), "issue one");
    check(&consent("", &[("one", "openid")], None), "choose and consent");
    check(&consent("prompt=none", &[], None), "consent_required");
    check(&FlowCase { extra: "prompt=consent", ..FlowCase::default() }, "choose and consent");
}

/// Each row: what the request asks for, the session's methods, the policy, whether the user has enrolled, and the step.
#[test]
fn second_factor_is_given_or_added_where_it_is_needed() {
    use SecondFactorPolicy::{Off, Optional, Required};
    let unmet = "unmet_authentication_requirements";
    let table = [
        ("", "password", Optional, false, "issue one"),
        ("", "password", Off, false, "issue one"),
        ("", "password", Required, false, "enrol"),
        // Who has enrolled must use it, whatever the policy says.
        ("", "password", Optional, true, "second factor"),
        ("", "password", Off, true, "second factor"),
        ("", "password 2fa", Required, true, "issue one"),
        ("", "passkey 2fa", Off, true, "issue one"),
        ("acr_values=2fa", "password", Optional, true, "second factor"),
        ("acr_values=2fa", "password", Optional, false, "enrol"),
        ("acr_values=2fa", "password", Off, false, unmet),
        ("acr_values=2fa", "password", Off, true, "second factor"),
        ("acr_values=2fa", "password 2fa", Optional, true, "issue one"),
        ("acr_values=tenant:one+2fa", "password", Optional, true, "second factor"),
        ("acr_values=2fa+tenant:one", "password 2fa", Optional, true, "issue one"),
        ("acr_values=other", "password", Optional, false, "issue one"),
        // A fresh one: the session is 100 s old.
        ("acr_values=2fa&max_age=99", "password 2fa", Optional, true, "sign in"),
        ("acr_values=2fa&max_age=100", "password 2fa", Optional, true, "issue one"),
        ("acr_values=2fa&prompt=login", "password 2fa", Optional, true, "sign in"),
        ("prompt=none&acr_values=2fa", "password 2fa", Optional, true, "issue one"),
        ("prompt=none&acr_values=2fa", "password", Optional, true, "interaction_required"),
        ("prompt=none&acr_values=2fa", "password", Optional, false, "interaction_required"),
        ("prompt=none&acr_values=2fa", "password", Off, false, unmet),
        ("prompt=none&acr_values=2fa&max_age=99", "password 2fa", Optional, true, "login_required"),
        ("prompt=none", "password", Required, false, "interaction_required"),
        ("prompt=none", "password", Optional, true, "interaction_required"),
    ];
    for (extra, methods, policy, is_enrolled, expected) in table {
        let second_factor = SecondFactorState { policy, is_enrolled };
        check(&FlowCase { extra, methods, second_factor, ..FlowCase::default() }, expected);
        // A chosen tenant skips nothing.
        let chosen_tenant = Some("one");
        check(&FlowCase { extra, chosen_tenant, methods, second_factor, ..FlowCase::default() }, expected);
    }
    let named = FlowCase {
        extra: "prompt=none&acr_values=tenant:two+2fa",
        methods: "password 2fa",
        memberships: &["one", "two"],
        grants: &[("two", "openid email")],
        second_factor: SecondFactorState { policy: Optional, is_enrolled: true },
        ..FlowCase::default()
    };
    check(&named, "issue two");
}

#[test]
fn scope_outside_the_products_of_the_client_is_refused_by_name() {
    let client = Client { products: [Product::Payroll].into_iter().collect(), ..client(Consent::None) };
    let refused = |list: &str| step::check_scopes(Scopes::parse(list).scopes, &client).err();
    assert_eq!(refused("openid profile email offline_access IDInfo SVC.ES.EquipoContex"), None);
    let error = refused("openid SVC.ES.EquipoContex SVC.ES.NEWPOL.COR.API SVC.ES.Webhooks").unwrap();
    assert_eq!(error.code, "invalid_scope");
    assert!(error.description.contains("the scope SVC.ES.NEWPOL.COR.API SVC.ES.Webhooks:"), "{error:?}");

    // Also once the user has signed in: the products may have changed at any step.
    let (params, session) = ("scope=openid+SVC.ES.Webhooks&redirect_uri=", session(Duration::from_secs(1)));
    let params = Params::parse(format!("{params}{CALLBACK}&response_type=code").as_bytes());
    let target = authorization_request::response_target(&params, &client, None).unwrap();
    let request = authorization_request::parse(&params, target, &client, None).unwrap();
    let step = next_step(&FlowState {
        request: &request,
        client: &client,
        started_at: NOW,
        session: Some(&session),
        second_factor: NOT_ENROLLED,
        memberships: &[membership("one")],
        grants: &[],
        chosen_tenant: Some(&TenantId::new("one")),
        now: NOW,
    });
    assert!(matches!(step, Step::Refuse(error) if error.code == "invalid_scope"));
}
