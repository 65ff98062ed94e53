//! Invitations over HTTP: who gets the link, what each realm can carry, and what becomes of an invitation.

use std::time::Duration;

use axum::http::Method;
use domain::{AccountId, Realm, Secret, Ticks};
use operator::admin::{AdminError, ApprovalSettings, Authority, DeveloperAdmin};
use serde_json::{Value, json};
use store::{AcceptOutcome, AuditContext, InvitedPerson, MailFailure, Status, TeamRole};

use super::fixture::{Api, Reply};

fn token(link: &Value) -> Secret {
    Secret::new(link.as_str().unwrap().split_once("token=").unwrap().1)
}

fn person() -> InvitedPerson {
    InvitedPerson {
        id: AccountId::new("new"),
        email: String::new(),
        given_name: "Ana".into(),
        lang: "es".into(),
        password_hash: "h".into(),
    }
}

async fn accept(api: &Api, realm: Realm, token: &Secret) -> AcceptOutcome {
    api.store.accept_invitation(realm, token, &person(), &AuditContext::default()).await.unwrap()
}

async fn post(api: &Api, path: &str) -> Reply {
    api.call(Method::POST, path, None).await
}

#[tokio::test]
async fn link_is_shown_once_where_no_mail_is_sent() {
    let api = Api::new();
    let made = api.add("/invitations", &json!({"realm": "operators", "email": "Ana@Example.com"})).await;
    assert_eq!(made["email"], "ana@example.com");
    assert_eq!(
        (&made["role"], &made["state"], &made["lang"]),
        (&json!("admin"), &json!("pending"), &json!("es"))
    );
    assert_eq!(
        (&made["invitedBy"], &made["team"], &made["teamOwner"]),
        (&json!("operator"), &Value::Null, &json!(false))
    );
    let link = made["link"].as_str().unwrap();
    assert!(link.starts_with("https://operators.example/invitation?token=") && link.len() > 80, "{link}");
    let path = format!("/invitations/{}", made["id"].as_str().unwrap());
    let shown = api.get(&path).await;
    assert_eq!(shown["link"], Value::Null, "it is not shown again");
    assert_eq!(api.get("/invitations").await["invitations"], json!([shown]));

    let (status, resent) = post(&api, &format!("{path}/resend")).await;
    assert_eq!(status, 200, "{resent}");
    assert_ne!(resent["link"], made["link"]);
    assert_eq!(accept(&api, Realm::Operators, &token(&made["link"])).await, AcceptOutcome::LinkIsVoid);
    assert!(matches!(
        accept(&api, Realm::Operators, &token(&resent["link"])).await,
        AcceptOutcome::Accepted(_)
    ));
    assert_eq!(api.get(&path).await["state"], "accepted");
    for (method, path) in [(Method::DELETE, path.clone()), (Method::POST, format!("{path}/resend"))] {
        let (status, refused) = api.call(method, &path, None).await;
        assert_eq!((status, &refused["errors"][0]["code"]), (409, &json!("invitation_ended")), "{refused}");
    }
}

#[tokio::test]
async fn link_is_mailed_and_not_shown_where_mail_is_sent() {
    let api = Api::with_mail(true);
    let made = api.add("/invitations", &json!({"realm": "developers", "email": "dev@example.com"})).await;
    assert_eq!(made["link"], Value::Null);
    let now = api.admin.clock.now();
    let mails = api.store.due_mails(now, Duration::from_secs(60), 10).await.unwrap();
    assert_eq!((mails.len(), mails[0].mail.recipient.as_str()), (1, "dev@example.com"));
    let mailed = token(&json!(mails[0].mail.content.text.reveal()));
    let failure = MailFailure { error: "451".into(), next_at: Ticks(now.0 + 1) };
    assert!(api.store.mail_failed(&mails[0], &failure).await.unwrap());
    assert!(matches!(accept(&api, Realm::Developers, &mailed).await, AcceptOutcome::Accepted(_)));
}

#[tokio::test]
async fn realm_decides_what_an_invitation_can_carry() {
    let api = Api::new();
    api.add("/tenants", &json!({"name": "Norte", "id": "norte"})).await;
    let invite = async |realm: &str, more: Value| {
        let mut body = json!({"realm": realm, "email": "ana@example.com"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        api.call(Method::POST, "/invitations", Some(&body)).await
    };
    for (realm, more, why) in [
        ("developers", json!({"tenants": ["norte"]}), "Tenants are for users alone"),
        ("users", json!({"role": "viewer"}), "role is for operators alone"),
        ("operators", json!({"team": "panel"}), "team is for developers alone"),
        ("developers", json!({"teamOwner": true}), "owner needs the team"),
        ("users", json!({"lang": "fr"}), "lang"),
    ] {
        let (status, refused) = invite(realm, more).await;
        assert!(status == 400 && refused["message"].as_str().unwrap().contains(why), "{refused}");
    }
    let (status, refused) = invite("users", json!({"tenants": ["nowhere"]})).await;
    assert_eq!((status, &refused["errors"][0]["code"]), (404, &json!("unknown_tenant")), "{refused}");
    let (status, made) =
        invite("users", json!({"tenants": ["norte", "norte"], "name": "Ana", "lang": "en"})).await;
    assert_eq!((status, &made["tenants"]), (201, &json!(["norte"])));
    let (status, refused) = invite("developers", json!({"team": "panel"})).await;
    assert_eq!((status, &refused["errors"][0]["code"]), (404, &json!("not_found")), "{refused}");
    api.add("/teams", &json!({"name": "Panel", "id": "panel"})).await;
    let (status, made) = invite("developers", json!({"team": "panel", "teamOwner": true})).await;
    assert_eq!((status, &made["team"], &made["teamOwner"]), (201, &json!("panel"), &json!(true)));
    let (status, made) = invite("operators", json!({"role": "viewer"})).await;
    assert_eq!((status, &made["role"]), (201, &json!("viewer")));
    assert_eq!(
        api.get("/invitations?realm=operators&state=pending").await["invitations"].as_array().unwrap().len(),
        1
    );
    assert_eq!(api.get("/invitations?state=accepted").await["invitations"], json!([]));
    assert_eq!(api.call(Method::GET, "/invitations?state=lost", None).await.0, 400);
}

#[tokio::test]
async fn revoked_invitation_and_taken_address_are_refused() {
    let api = Api::new();
    let new = json!({"realm": "users", "email": "maria@example.com"});
    let made = api.add("/invitations", &new).await;
    let path = format!("/invitations/{}", made["id"].as_str().unwrap());
    let (status, revoked) = api.call(Method::DELETE, &path, None).await;
    assert_eq!((status, &revoked["state"]), (200, &json!("revoked")));
    assert_eq!(accept(&api, Realm::Users, &token(&made["link"])).await, AcceptOutcome::LinkIsVoid);
    assert_eq!(api.call(Method::GET, "/invitations/nobody", None).await.0, 404);

    let user = json!({"email": "maria@example.com", "givenName": "María", "password": "una bien larga"});
    api.add("/users", &user).await;
    let (status, refused) = api.call(Method::POST, "/invitations", Some(&new)).await;
    assert_eq!((status, &refused["errors"][0]["code"]), (409, &json!("exists")), "{refused}");
    assert!(refused["message"].as_str().unwrap().contains("a user \"maria@example.com\""), "{refused}");
}

/// The same rules for every way to set a password; the message names the rule.
#[tokio::test]
async fn weak_passwords_are_refused() {
    let api = Api::new();
    let user = |password: &str| json!({"email": "lucia@zorita.example", "givenName": "Begoña", "password": password});
    api.add("/users", &user("siete lunas y un faro")).await;
    for (password, rule) in [
        ("corta", "10"),
        ("contraseña1", "too common"),
        ("1234567890", "sequence"),
        ("begoña es única", "contains your name"),
        ("zorita siempre gana", "contains a part of your email"),
    ] {
        let mut new = user(password);
        new["email"] = json!("otra@zorita.example");
        let change = json!({"password": password});
        for (method, path, body) in
            [(Method::POST, "/users", &new), (Method::PATCH, "/users/lucia@zorita.example", &change)]
        {
            let (status, refused) = api.call(method, path, Some(body)).await;
            assert!(status == 400 && refused["message"].as_str().unwrap().contains(rule), "{refused}");
        }
    }
}

/// Owners invite into their own team; nobody takes an invitation of somebody else away.
#[tokio::test]
async fn owner_invites_into_the_team() {
    let api = Api::new();
    let add = async |id: &str| api.add("/teams", &json!({"name": id, "id": id})).await;
    add("panel").await;
    add("otro").await;
    let mut accounts = Vec::new();
    for (email, owner) in [("owner@example.com", true), ("member@example.com", false)] {
        let body = json!({"realm": "developers", "email": email, "team": "panel", "teamOwner": owner});
        let made = api.add("/invitations", &body).await;
        let person = InvitedPerson { id: AccountId::new(email), ..person() };
        let (id, by, token) = (person.id.clone(), AuditContext::default(), token(&made["link"]));
        let accepted = api.store.accept_invitation(Realm::Developers, &token, &person, &by).await.unwrap();
        assert!(matches!(accepted, AcceptOutcome::Accepted(_)));
        accounts.push(DeveloperAdmin::new(&api.admin, id, &by, ApprovalSettings::default()));
    }
    let [owner, member] = &accounts[..] else { panic!() };
    let invite = async |by: &DeveloperAdmin, team: &str, email: &str| {
        by.invite(team, email, "es", TeamRole::Member).await.map(|sent| sent.invitation)
    };
    let invited = invite(owner, "panel", "new@example.com").await.unwrap();
    assert_eq!((invited.team.as_str(), invited.is_team_owner), ("panel", false));
    assert_eq!(invited.invited_by.to_string(), "developer:owner@example.com");
    assert!(matches!(invite(member, "panel", "x@example.com").await, Err(AdminError::Forbidden(_))));
    assert!(matches!(invite(owner, "otro", "x@example.com").await, Err(AdminError::NotFound(_))));
    let of_another = json!({"realm": "developers", "email": "x@example.com", "team": "otro"});
    let kept = api.add("/invitations", &of_another).await;
    let refused = invite(owner, "panel", "X@example.com").await;
    assert!(
        matches!(refused, Err(AdminError::Conflict { code: domain::ErrorCode::AlreadyInvited, .. })),
        "{refused:?}"
    );
    let path = format!("/invitations/{}", kept["id"].as_str().unwrap());
    assert_eq!(api.get(&path).await["state"], "pending");
}

/// Every start of the service asks for this link.
#[tokio::test]
async fn first_operator_gets_a_link_until_an_admin_can_sign_in() {
    let api = Api::new();
    let service = api.admin.acting(Authority::admin(AuditContext::default()));
    let link = async || service.invite_first_operator().await.unwrap();
    let secret = |link: Option<Secret>| token(&json!(link.expect("nobody can sign in").reveal()));
    let first = secret(link().await);
    let second = secret(link().await);
    assert_eq!(accept(&api, Realm::Operators, &first).await, AcceptOutcome::LinkIsVoid, "it may be lost");

    // Somebody who is invited by name is waited for.
    let named = json!({"realm": "operators", "email": "ana@example.com", "role": "viewer"});
    let named = api.add("/invitations", &named).await;
    assert_eq!(link().await, None);
    let path = format!("/invitations/{}", named["id"].as_str().unwrap());
    let (status, _) = api.call(Method::DELETE, &path, None).await;
    assert_eq!(status, 200);
    let third = secret(link().await);
    assert_eq!(accept(&api, Realm::Operators, &second).await, AcceptOutcome::LinkIsVoid);

    let jefa = InvitedPerson { email: "jefa@example.com".into(), ..person() };
    let context = AuditContext::default();
    let accepted = api.store.accept_invitation(Realm::Operators, &third, &jefa, &context).await.unwrap();
    assert!(matches!(accepted, AcceptOutcome::Accepted(_)), "{accepted:?}");
    assert_eq!(link().await, None);
    // A disabled admin cannot sign in.
    api.store.set_account_status(&jefa.id, Status::Disabled, &context).await.unwrap();
    assert!(link().await.is_some());
}
