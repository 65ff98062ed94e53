//! Outgoing mail against an SMTP server on loopback: encryption, authentication, faults of the server, several nodes.

pub(crate) mod smtp_server;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use domain::{Clock as _, Guid, Ticks};
use identity::mail::{MailIdentity, MailRecipient};
use smtp_server::{Authority, Fault, Security, SmtpServer};
use store::Mail;
use testserver::{TestClock, TestServer, TestServerBuilder, wait_for};
use ui::Lang;
use ui::mail::{Invitee, MailLink, MailTemplate};

use crate::harness::{Database, metric};

const LINK: &str = "https://id.example.com/invitation/one-time-";

/// An invitation as the identity provider composes it.
fn invitation(number: u8, now: Ticks) -> Mail {
    let identity = MailIdentity { service: "Contaplus".into(), contact: "help@example.com".into() };
    let url = format!("{LINK}{number}");
    let link = MailLink { url: &url, valid: Duration::from_secs(72 * 60 * 60) };
    let address = format!("maria{number}@example.com");
    let recipient = MailRecipient { address: &address, name: "Maria", lang: Lang::En };
    let template = MailTemplate::Invitation { invitee: Invitee::User, link };
    identity.compose(Guid::from_bytes([number; 16]), now, &recipient, &template)
}

struct Fixture {
    smtp: SmtpServer,
    server: TestServer,
    clock: Arc<TestClock>,
}

fn builder(smtp: &SmtpServer, tls: &str) -> TestServerBuilder {
    TestServer::builder()
        .set("mail.server", &format!("localhost:{}", smtp.address.port()))
        .set("mail.tls", tls)
        .set("mail.from", "Contaplus <no-reply@example.com>")
}

impl Fixture {
    /// With a plain SMTP server.
    fn start(faults: &[Fault]) -> Self {
        let smtp = SmtpServer::start(Security::Plain, faults);
        let with = builder(&smtp, "none").set("mail.timeout", "2s");
        Self::with(smtp, with)
    }

    fn with(smtp: SmtpServer, builder: TestServerBuilder) -> Self {
        let clock = Arc::new(TestClock::default());
        Self { smtp, server: builder.clock(clock.clone()).start(), clock }
    }

    fn queue(&self, number: u8) {
        let mail = invitation(number, self.clock.now());
        self.server.block_on(self.server.store().queue_mail(&mail)).unwrap();
    }

    fn wait_received(&self, count: usize) {
        let condition = format!("the mail server has {count} mails");
        wait_for(&condition, || (self.smtp.received().len() >= count).then_some(()));
        assert_eq!(self.smtp.received().len(), count);
    }

    fn metric(&self, name: &str) -> u64 {
        metric(self.server.operator_url(), name)
    }

    fn wait_metric(&self, name: &str, value: u64) {
        wait_for(&format!("{name} is {value}"), || (self.metric(name) == value).then_some(()));
    }

    fn waiting(&self) -> u64 {
        self.server.block_on(self.server.store().waiting_mails(self.clock.now())).unwrap()
    }
}

/// A file with an authority's certificate.
fn ca_file(authority: &Authority) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &authority.pem).unwrap();
    file
}

#[test]
fn mails_are_sent_over_tls_with_the_account() {
    let authority = Authority::new();
    let file = ca_file(&authority);
    let config = authority.server_config("localhost");
    for (tls, security) in
        [("starttls", Security::StartTls(config.clone())), ("tls", Security::Tls(config.clone()))]
    {
        let smtp = SmtpServer::start(security, &[]);
        let with = builder(&smtp, tls)
            .set("mail.ca_file", &file.path().display().to_string())
            .set("mail.username", "contaplus")
            .set("mail.password", "hush")
            .set("mail.reply_to", "help@example.com");
        let fixture = Fixture::with(smtp, with);
        fixture.queue(1);
        fixture.wait_received(1);
        let mail = fixture.smtp.received().remove(0);
        assert!(mail.is_encrypted, "{tls}");
        assert_eq!(mail.account, Some(("contaplus".into(), "hush".into())));
        assert_eq!(mail.to, "maria1@example.com");
        for (name, value) in [
            ("From", "Contaplus <no-reply@example.com>"),
            ("Reply-To", "help@example.com"),
            ("To", "maria1@example.com"),
            ("Subject", "Your Contaplus account"),
            ("Message-ID", "<01010101-0101-0101-0101-010101010101@example.com>"),
            ("Date", "Thu, 01 Jan 2026 00:00:00 +0000"),
        ] {
            assert_eq!(mail.header(name), value);
        }
        assert_eq!(mail.body().matches(&format!("{LINK}1")).count(), 2, "in the text and in the HTML");
        fixture.wait_metric("aldaba_mails_sent_total", 1);
        wait_for("the mail is marked as sent", || (fixture.waiting() == 0).then_some(()));
        assert_eq!(fixture.server.stop(), None);
    }
}

#[test]
fn one_connection_carries_all_waiting_mails() {
    // The first greeting makes the service wait, so that all mails are queued when it comes back.
    let fixture = Fixture::start(&[Fault::Greeting("421 not now")]);
    fixture.queue(1);
    fixture.wait_metric("aldaba_mail_failures_total", 1);
    for number in 2..=6 {
        fixture.queue(number);
    }
    fixture.clock.advance(Duration::from_secs(60));
    fixture.wait_received(6);
    assert_eq!(fixture.smtp.connections(), 2);
    fixture.wait_metric("aldaba_mails_waiting", 0);
}

/// Nothing is sent to a server that is not the configured one, not even the account.
#[test]
fn server_without_a_valid_certificate_gets_nothing() {
    let (ours, other) = (Authority::new(), Authority::new());
    let file = ca_file(&ours);
    for (tls, security) in [
        ("starttls", Security::StartTls(other.server_config("localhost"))),
        ("starttls", Security::StartTls(ours.server_config("mail.example.net"))),
        ("tls", Security::Tls(other.server_config("localhost"))),
        ("starttls", Security::Plain),
    ] {
        let smtp = SmtpServer::start(security, &[]);
        let with = builder(&smtp, tls)
            .set("mail.ca_file", &file.path().display().to_string())
            .set("mail.username", "contaplus")
            .set("mail.password", "hush");
        let fixture = Fixture::with(smtp, with);
        fixture.queue(1);
        fixture.wait_metric("aldaba_mail_failures_total", 1);
        let commands = fixture.smtp.commands();
        assert!(!commands.iter().any(|one| ["AUTH", "MAIL", "DATA"].contains(&one.as_str())), "{commands:?}");
        assert_eq!((fixture.smtp.received().len(), fixture.waiting()), (0, 1), "the mail is not lost");
    }
}

#[test]
fn no_fault_of_the_server_loses_or_doubles_a_mail() {
    let faults = [
        Fault::Greeting("421 too many connections"),
        Fault::Greeting("554 go away"),
        Fault::Mail("421 closing"),
        Fault::Mail("451 later"),
        Fault::Recipient("450 greylisted"),
        Fault::Recipient("550 no such user"),
        Fault::Content("452 disk full"),
        Fault::Content("554 refused: https://id.example.com/invitation/one-time-1"),
        Fault::Drop,
        Fault::Silence,
    ];
    let fixture = Fixture::start(&faults);
    fixture.queue(1);
    for count in 1..=faults.len() {
        let failures = count as u64;
        let failed = || fixture.metric("aldaba_mail_failures_total") == failures;
        wait_for(&format!("attempt {count} has failed"), || failed().then_some(()));
        assert_eq!((fixture.smtp.faults_left(), fixture.waiting()), (faults.len() - count, 1));
        // Longer than every pause but that of refused mails, which are asked about more seldom.
        fixture.clock.advance(Duration::from_secs(if count == 6 || count == 8 { 24 } else { 1 } * 60 * 60));
    }
    fixture.wait_received(1);
    fixture.wait_metric("aldaba_mails_sent_total", 1);
    wait_for("nothing waits", || (fixture.waiting() == 0).then_some(()));
    fixture.clock.advance(Duration::from_secs(60 * 60));
    fixture.queue(2);
    fixture.wait_received(2);
    assert_eq!(fixture.smtp.received()[1].to, "maria2@example.com", "the first one is sent once");
}

#[test]
fn refused_mail_does_not_hold_up_others() {
    let fixture = Fixture::start(&[Fault::Recipient("550 no such user")]);
    fixture.queue(1);
    fixture.wait_metric("aldaba_mail_failures_total", 1);
    fixture.queue(2);
    fixture.wait_received(1);
    assert_eq!(fixture.smtp.received()[0].to, "maria2@example.com");
    assert_eq!(fixture.metric("aldaba_mail_failures_total"), 1, "the refused one is not due yet");
}

#[test]
fn mail_whose_link_has_expired_is_not_sent() {
    let fixture = Fixture::start(&[Fault::Mail("451 later")]);
    fixture.queue(1);
    fixture.wait_metric("aldaba_mail_failures_total", 1);
    fixture.clock.advance(Duration::from_secs(72 * 60 * 60));
    fixture.queue(2);
    fixture.wait_received(1);
    assert_eq!(fixture.smtp.received()[0].to, "maria2@example.com");
}

#[test]
fn silent_server_delays_nobody_and_not_the_end() {
    let fixture = Fixture::start(&[Fault::Silence; 9]);
    fixture.queue(1);
    wait_for("the service sends", || fixture.smtp.commands().contains(&"MAIL".to_owned()).then_some(()));
    assert_eq!(fixture.server.get("/readyz").status, 200);
    assert_eq!(fixture.server.stop(), None);
}

#[test]
fn two_nodes_send_each_mail_once() {
    let database = Database::create();
    let smtp =
        SmtpServer::start(Security::Plain, &[Fault::Greeting("421 not now"), Fault::Mail("451 later")]);
    let clock = Arc::new(TestClock::default());
    let nodes = [(), ()].map(|()| {
        let with = builder(&smtp, "none").set("store.url", &database.url()).set("store.connections_max", "4");
        with.clock(clock.clone()).start()
    });
    for number in 0..40 {
        let store = nodes[usize::from(number % 2)].store();
        nodes[0].block_on(store.queue_mail(&invitation(number, clock.now()))).unwrap();
    }
    let sum = |name| nodes.iter().map(|node| metric(node.operator_url(), name)).sum::<u64>();
    wait_for("both faults have happened", || (sum("aldaba_mail_failures_total") == 2).then_some(()));
    // Less than a lease, so that no node loses the mail that it sends.
    clock.advance(Duration::from_secs(61));
    wait_for("all mails are sent", || (sum("aldaba_mails_sent_total") == 40).then_some(()));
    let received = smtp.received();
    let ids: BTreeSet<_> = received.iter().map(|mail| mail.header("Message-ID")).collect();
    assert_eq!((received.len(), ids.len()), (40, 40));
    for node in nodes {
        assert_eq!(node.block_on(node.store().waiting_mails(clock.now())), Ok(0));
    }
}
