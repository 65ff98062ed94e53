//! Notices: the list, the badge, the mails and who chooses them; several nodes tell a team once.

use std::sync::Arc;
use std::time::Duration;

use domain::{Clock as _, Realm, TeamId};
use serde_json::json;
use store::{AccountUpdate, AuditContext, NoticeQuery};
use testserver::{TestClock, TestServer, TestServerBuilder, wait_for};

use super::fixture::Developer;
use crate::harness::Database;
use crate::integration::mail::smtp_server::{ReceivedMail, Security, SmtpServer};

const HOUR: Duration = Duration::from_secs(60 * 60);

struct Fixture {
    smtp: SmtpServer,
    server: TestServer,
    clock: Arc<TestClock>,
}

fn builder(smtp: &SmtpServer) -> TestServerBuilder {
    TestServer::builder()
        .set("mail.server", &format!("localhost:{}", smtp.address.port()))
        .set("mail.tls", "none")
        .set("mail.from", "Contaplus <no-reply@example.com>")
        .set("mail.service_name", "Contaplus")
}

impl Fixture {
    fn start() -> Self {
        let (smtp, clock) = (SmtpServer::start(Security::Plain, &[]), Arc::new(TestClock::default()));
        Self { server: builder(&smtp).clock(clock.clone()).start(), smtp, clock }
    }

    /// Asks on the page of subscriptions, and refuses it as the operator.
    #[track_caller]
    fn refuse(&self, developer: &Developer, name: &str) {
        self.clock.advance(Duration::from_secs(1));
        let token = form_token(developer);
        let fields = [("token", token.as_str()), ("do", "ask"), ("name", name), ("product", "payroll")];
        let asked = developer.browser.post(&developer.path("subscriptions"), &fields);
        assert_eq!(asked.status, 303, "{asked:?}");
        let pending = self.server.operator_get("/operator/v1/requests?state=pending").json();
        let id = pending["requests"][0]["id"].as_str().unwrap_or_else(|| panic!("{pending}")).to_owned();
        self.server.operator_post(&format!("requests/{id}/refuse"), &json!({"reason": "falta el contrato"}));
    }

    fn mails_to(&self, name: &str) -> Vec<ReceivedMail> {
        let address = format!("{name}@developers.example");
        self.smtp.received().into_iter().filter(|mail| mail.to == address).collect()
    }

    #[track_caller]
    fn wait_for_mails(&self, name: &str, count: usize) {
        wait_for(&format!("{count} mails to {name}"), || (self.mails_to(name).len() >= count).then_some(()));
        assert_eq!(self.mails_to(name).len(), count);
    }
}

/// The token that protects the forms of the developer's session.
#[track_caller]
fn form_token(developer: &Developer) -> String {
    let page = developer.get("team");
    let (_, rest) = page.text().split_once("name=\"token\" value=\"").unwrap_or_else(|| panic!("{page:?}"));
    rest.split('"').next().unwrap().to_owned()
}

/// A second member of the first developer's team, who reads English.
#[track_caller]
fn add_member(fixture: &Fixture, owner: &Developer, name: &str) -> Developer {
    let joined = Developer::sign_in(&fixture.server, name);
    let english = AccountUpdate { lang: Some("en".into()), ..Default::default() };
    let email = format!("{name}@developers.example");
    let store = fixture.server.store();
    let updated = async {
        let account = store.find_account_by_email(Realm::Developers, &email).await.unwrap().unwrap();
        store.update_account(&account.id, &english, None, &AuditContext::default()).await
    };
    assert!(fixture.server.block_on(updated).unwrap().is_updated());
    let body = json!({"developer": format!("{name}@developers.example"), "role": "member"});
    fixture.server.operator_post(&format!("teams/{}/members", owner.team), &body);
    Developer { browser: joined.browser, team: owner.team.clone() }
}

#[test]
fn decision_is_listed_mailed_and_read() {
    let fixture = Fixture::start();
    let diego = Developer::sign_in(&fixture.server, "diego");
    let eva = add_member(&fixture, &diego, "eva");
    assert!(diego.get_in("es", "notices").contains("No hay avisos"));
    assert!(!diego.get("").text().contains("<span class=\"badge\">"));
    fixture.refuse(&diego, "Nóminas del norte");
    assert!(diego.get("").text().contains("<span class=\"badge\">1</span>"), "on every page");
    let page = eva.get_in("en", "notices");
    let link = format!("<a href=\"{}\">", diego.path("subscriptions"));
    for part in ["A request was refused", "falta el contrato", "Nóminas del norte", "Mark all as read", &link]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    let json = diego.get("notices?format=json").json();
    assert_eq!(json["notices"][0]["kind"], "request_refused", "{json}");
    assert_eq!((&json["notices"][0]["isUnread"], &json["unread"]), (&json!(true), &json!(1)));
    let csv = diego.get("notices?format=csv").text().to_owned();
    assert!(csv.lines().count() == 2 && csv.contains(",request_refused,subscription,"), "{csv}");

    fixture.wait_for_mails("diego", 1);
    fixture.wait_for_mails("eva", 1);
    // Links name the host: passkeys need it.
    let url =
        format!("{}{}", fixture.server.base_url().replace("127.0.0.1", "localhost"), diego.path("notices"));
    for (name, subject) in [("diego", "se ha rechazado una solicitud"), ("eva", "a request was refused")] {
        let mail = fixture.mails_to(name).remove(0);
        assert!(mail.header("Subject").replace('_', " ").contains(subject), "{}", mail.data);
        let body = mail.body().replace("=\r\n", "").replace("=\n", "");
        assert_eq!(body.matches(&url).count(), 2, "in both forms: {}", mail.data);
        assert!(mail.body().contains("falta el contrato"), "{}", mail.data);
    }

    let token = form_token(&diego);
    let up_to = json["readUpTo"].as_str().unwrap();
    let fields = [("token", token.as_str()), ("do", "read"), ("upTo", up_to)];
    let read = diego.browser.post(&diego.path("notices"), &fields);
    assert_eq!(read.status, 303, "{read:?}");
    assert!(!diego.get("").text().contains("<span class=\"badge\">"));
    assert!(eva.get("").text().contains("<span class=\"badge\">1</span>"), "each member reads alone");
}

#[test]
fn member_chooses_which_notices_come_by_mail() {
    let fixture = Fixture::start();
    let diego = Developer::sign_in(&fixture.server, "diego");
    let eva = add_member(&fixture, &diego, "eva");
    let token = form_token(&eva);
    let choose = |kinds: &[&str]| {
        let mut fields = vec![("token", token.as_str()), ("do", "preferences")];
        fields.extend(kinds.iter().map(|kind| ("kind", *kind)));
        eva.browser.post(&eva.path("notices"), &fields)
    };
    assert_eq!(choose(&["key_ends", "x"]).status, 400);
    assert_eq!(choose(&["key_ends"]).status, 303);
    assert_eq!(eva.get("notices?format=json").json()["mailed"], json!(["key_ends"]));
    assert_eq!(
        diego.get("notices?format=json").json()["mailed"].as_array().unwrap().len(),
        7,
        "all by default"
    );
    fixture.refuse(&diego, "Nóminas");
    fixture.wait_for_mails("diego", 1);
    let made = fixture.server.operator_post(
        "subscriptions",
        &json!({"name": "Contabilidad", "products": ["accounting"], "team": diego.team}),
    );
    let path = format!("subscriptions/{}/keys/primary", made["subscription"]["id"].as_str().unwrap());
    fixture.server.operator_post(&path, &json!({"overlap": "48h"}));
    fixture.clock.advance(HOUR * 30);
    fixture.wait_for_mails("eva", 1);
    let mail = fixture.mails_to("eva").remove(0);
    assert!(mail.body().contains("A replaced key is about to expire"), "{}", mail.data);
    assert!(!mail.body().contains("refused"), "{}", mail.data);
    assert!(!mail.data.contains(made["primaryKey"].as_str().unwrap()), "no secret");
    fixture.wait_for_mails("diego", 2);
}

#[test]
fn two_nodes_make_one_notice_and_one_mail() {
    let database = Database::create();
    let (smtp, clock) = (SmtpServer::start(Security::Plain, &[]), Arc::new(TestClock::default()));
    let nodes = [(), ()].map(|()| {
        let with = builder(&smtp).set("store.url", &database.url()).set("store.connections_max", "4");
        with.clock(clock.clone()).start()
    });
    let diego = Developer::sign_in(&nodes[0], "diego");
    for number in 1..=3 {
        let made = nodes[0].operator_post(
            "subscriptions",
            &json!({"name": "Contabilidad", "products": ["accounting"], "team": diego.team}),
        );
        let path = format!("subscriptions/{}/keys/secondary", made["subscription"]["id"].as_str().unwrap());
        nodes[1].operator_post(&path, &json!({"overlap": "48h"}));
        clock.advance(HOUR * 30);
        wait_for("the mail of this notice, stored as sent", || {
            let waiting = nodes[0].block_on(nodes[0].store().waiting_mails(clock.now()));
            (smtp.received().len() >= number && waiting == Ok(0)).then_some(())
        });
        clock.advance(HOUR * 30);
    }
    let query = NoticeQuery { before: None, rows_max: 100 };
    let listed = nodes[1].block_on(nodes[1].store().list_notices(&TeamId::new("diego"), &query)).unwrap();
    assert_eq!((listed.rows.len(), smtp.received().len()), (3, 3));
}

#[test]
fn owner_sends_an_invitation_again_and_revokes_it() {
    let server = TestServer::start();
    let diego = Developer::sign_in(&server, "diego");
    let ana = Developer::sign_in(&server, "ana");
    let act = |who: &Developer, fields: &[(&str, &str)]| {
        let token = form_token(who);
        let fields = [&[("token", token.as_str())], fields].concat();
        who.browser.post(&who.path("team"), &fields)
    };
    let link_of = |page: &str| {
        let (_, rest) = page.split_once("/portal/invitation?token=").unwrap_or_else(|| panic!("{page}"));
        rest.split(['<', '"', '&']).next().unwrap().to_owned()
    };
    let invited = act(&diego, &[("do", "invite"), ("email", "leo@example.com"), ("role", "owner")]);
    let first = link_of(invited.text());
    let listed = diego.get("team?format=json").json();
    let invitation = &listed["invitations"][0];
    assert_eq!((&invitation["email"], &invitation["role"]), (&json!("leo@example.com"), &json!("owner")));
    assert!(diego.get_in("en", "team").contains("Open invitations"));
    assert_eq!(ana.get("team?format=json").json()["invitations"], json!([]));
    let id = invitation["id"].as_str().unwrap();
    for action in ["resend", "revoke"] {
        for id in [id, "x"] {
            let answer = act(&ana, &[("do", action), ("invitation", id)]);
            assert_eq!(answer.status, 404, "{action}: {answer:?}");
        }
    }
    let body = json!({"developer": "ana@developers.example", "role": "member"});
    server.operator_post("teams/diego/members", &body);
    let ana = Developer { browser: ana.browser, team: "diego".into() };
    assert_eq!(act(&ana, &[("do", "revoke"), ("invitation", id)]).status, 403, "only an owner");
    let again = act(&diego, &[("do", "resend"), ("invitation", id)]);
    assert_ne!(link_of(again.text()), first, "a new link");
    assert_eq!(act(&diego, &[("do", "revoke"), ("invitation", id)]).status, 303);
    assert_eq!(diego.get("team?format=json").json()["invitations"], json!([]));
    let ended = act(&diego, &[("do", "resend"), ("invitation", id)]);
    assert_eq!(ended.status, 400, "{ended:?}");
}
