//! Every mutating command leaves an audit entry with the actor `cli` and the name of the operating system's user.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::webhook_fixture::{Subscriber, fixture, operator};
use crate::harness::{CALLBACK, FinishedProcess, Installation, PASSWORD, Program, wait_for};

/// Commands that change no audited data, and why.
const UNAUDITED: [(&str, &str); 39] = [
    ("asyncapi", "reads"),
    ("audit", "reads"),
    ("changes apply", "the change log is the audit of record changes"),
    ("changes generate", "reads"),
    ("check", "reads"),
    ("client list", "reads"),
    ("client show", "reads"),
    ("completions", "reads"),
    ("deliveries list", "reads"),
    ("deliveries show", "reads"),
    ("dev", "serves; what it adds to a new store is audited as `cli`"),
    ("dev token", "a client of the service, which audits the sign-in"),
    ("developer list", "reads"),
    ("developer show", "reads"),
    ("doctor", "reads"),
    ("help", "reads"),
    ("init", "writes files; there is no store yet"),
    ("invitation list", "reads"),
    ("key list", "reads"),
    ("key show", "reads"),
    ("key usage", "reads"),
    ("listen", "a client of the service, which audits the subscription"),
    ("openapi", "reads"),
    ("operator list", "reads"),
    ("request list", "reads"),
    ("request show", "reads"),
    ("serve", "serves; the invitation of the first operator is audited as `service`"),
    ("signing-keys list", "reads"),
    ("store backup", "reads"),
    ("store migrate", "changes the schema, not the data"),
    ("team list", "reads"),
    ("team show", "reads"),
    ("tenant list", "reads"),
    ("token list", "reads"),
    ("trigger", "the change log is the audit of record changes"),
    ("user list", "reads"),
    ("verify", "reads"),
    ("webhooks list", "reads"),
    ("webhooks show", "reads"),
];

/// The commands of a help text.
fn listed(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = lines
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// Every command that the help lists, with its subcommands.
fn all_commands() -> BTreeSet<String> {
    let mut commands = BTreeSet::new();
    for name in listed(&Program::new(&["--help"]).run().code(0).stdout) {
        let help = Program::new(&[&name, "--help"]).run();
        let subcommands = if name == "help" { Vec::new() } else { listed(&help.code(0).stdout) };
        let is_group = !subcommands.is_empty() && name != "dev";
        commands.extend(subcommands.iter().filter(|one| *one != "help").map(|one| format!("{name} {one}")));
        if !is_group {
            commands.insert(name);
        }
    }
    commands
}

/// Runs commands, each as an operating system's user of its own, so that its entries are found by the actor.
#[derive(Default)]
struct Commands {
    count: Cell<u32>,
    audited: RefCell<Vec<String>>,
}

impl Commands {
    #[track_caller]
    fn check(&self, words: &str, arguments: &[&str], kind: &str) -> FinishedProcess {
        self.check_on(&fixture().installation, words, arguments, kind)
    }

    #[track_caller]
    fn check_on(
        &self,
        installation: &Installation,
        words: &str,
        arguments: &[&str],
        kind: &str,
    ) -> FinishedProcess {
        self.count.set(self.count.get() + 1);
        let user = format!("auditor-{}", self.count.get());
        let command: Vec<&str> = words.split(' ').chain(arguments.iter().copied()).collect();
        let program =
            installation.program(&command).variable("LOGNAME", &user).input(format!("{PASSWORD}\n"));
        let finished = program.run().code(0);
        let audit = ["audit", "--json", "--actor", &format!("cli:{user}")];
        let printed = installation.program(&audit).run().code(0).stdout;
        let entries: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        // An approval and what it adds are two entries.
        let entries: Vec<Value> =
            entries.into_iter().filter(|one| kind != "request_approved" || one["kind"] == kind).collect();
        let [entry] = &entries[..] else { panic!("{words} left {} entries: {entries:?}", entries.len()) };
        assert_eq!(
            (&entry["kind"], &entry["actor"]),
            (&json!(kind), &json!(format!("cli:{user}"))),
            "{entry}"
        );
        assert!(!entry.to_string().contains(PASSWORD), "{entry}");
        self.audited.borrow_mut().push(words.to_owned());
        finished
    }
}

fn directory(commands: &Commands) {
    let (email, tenant) = ("cli-audited@example.com", "cli-audited");
    commands.check("tenant add", &["Auditada", "--id", tenant], "tenant_added");
    commands.check("tenant disable", &[tenant], "tenant_changed");
    commands.check("tenant enable", &[tenant], "tenant_changed");
    commands.check("user add", &[email, "--given-name", "Ana"], "user_added");
    commands.check("user set", &[email, "--family-name", "Gil"], "user_changed");
    commands.check("user disable", &[email], "user_changed");
    commands.check("user enable", &[email], "user_changed");
    commands.check("user password", &[email], "user_changed");
    commands.check("user join", &[email, tenant], "membership_added");
    commands.check("user admin", &[email, tenant], "membership_changed");
    commands.check("user leave", &[email, tenant], "membership_removed");
    let users = fixture().installation.program(&["user", "list", "--json"]).run().code(0).stdout;
    let user = users.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let user = user.flat_map(|value| value.as_array().cloned().unwrap_or_else(|| vec![value]));
    let id = user.into_iter().find(|user| user["email"] == email).unwrap()["id"].as_str().unwrap().to_owned();
    fixture().installation.add_second_factor(domain::Realm::Users, &id);
    commands.check("user reset-second-factors", &[email], "second_factor_reset");
    commands.check("user invite", &["invited-1@example.com"], "invitation_made");
    commands.check("developer invite", &["invited-2@example.com"], "invitation_made");
    let invited = commands.check("operator invite", &["invited-3@example.com", "--json"], "invitation_made");
    let id = invited.only_line()["id"].as_str().unwrap().to_owned();
    commands.check("invitation resend", &[&id], "invitation_resent");
    commands.check("invitation revoke", &[&id], "invitation_revoked");
    commands.check("tenant erase", &[tenant, "--confirm", tenant], "tenant_erased");
}

fn clients_and_keys(commands: &Commands) {
    let id = "cli-audited";
    commands.check("client add", &["Auditada", "--id", id, "--redirect-uri", CALLBACK], "client_added");
    commands.check("client disable", &[id], "client_changed");
    commands.check("client enable", &[id], "client_changed");
    commands.check("client redirect", &[id, "https://audited.example/cb"], "client_changed");
    commands.check("client unredirect", &[id, "https://audited.example/cb"], "client_changed");
    commands.check("client set", &[id, "--consent", "true"], "client_changed");
    commands.check("client rotate", &[id], "client_secret_rotated");
    let added = commands.check("key add", &["Auditada", "--json"], "subscription_added").only_line();
    let id = added["subscription"]["id"].as_str().unwrap();
    commands.check("key suspend", &[id], "subscription_changed");
    commands.check("key resume", &[id], "subscription_changed");
    commands.check("key quota", &[id, "7"], "subscription_changed");
    commands.check("key rotate", &[id], "subscription_key_rotated");
    commands.check("key reveal", &[id], "subscription_key_revealed");
    commands.check("key cancel", &[id, "--yes"], "subscription_cancelled");
    commands.check("signing-keys rotate", &[], "signing_key_rotated");
}

fn teams_and_requests(commands: &Commands) {
    let (team, email) = ("cli-audited", "cli-audited@developers.example");
    fixture().installation.add_developer("cli-audited");
    commands.check("team add", &["Auditada", "--id", team], "team_added");
    commands.check("team rename", &[team, "Otra"], "team_changed");
    commands.check("team disable", &[team], "team_changed");
    commands.check("team enable", &[team], "team_changed");
    commands.check("team join", &[team, email], "team_member_added");
    commands.check("team join", &[team, email, "--owner"], "team_member_changed");
    let added = commands.check("key add", &["Auditada", "--team", team, "--json"], "subscription_added");
    let id = added.only_line()["subscription"]["id"].as_str().unwrap().to_owned();
    commands.check("key team", &[&id, ""], "subscription_changed");
    let ask = || {
        let asked = json!({"name": "Auditada", "product": "payroll"});
        let request = json!({"team": team, "developer": email, "subscription": asked});
        operator().create("/requests", &request)["id"].as_str().unwrap().to_owned()
    };
    commands.check("request approve", &[&ask()], "request_approved");
    commands.check("request refuse", &[&ask(), "--reason", "no"], "request_refused");
    commands.check("developer disable", &[email], "developer_changed");
    commands.check("developer enable", &[email], "developer_changed");
    fixture().installation.add_developer("cli-second");
    let second = "cli-second@developers.example";
    fixture().installation.add_second_factor(domain::Realm::Developers, "cli-second");
    commands.check("developer reset-second-factors", &[second], "second_factor_reset");
    commands.check("team join", &[team, second], "team_member_added");
    commands.check("team leave", &[team, second], "team_member_removed");
}

fn operators_and_tokens(commands: &Commands) {
    for name in ["first", "second"] {
        fixture().installation.add_operator(name, domain::OperatorRole::Admin);
    }
    let email = "second@operators.example";
    commands.check("operator disable", &[email], "operator_changed");
    commands.check("operator enable", &[email], "operator_changed");
    fixture().installation.add_second_factor(domain::Realm::Operators, "second");
    commands.check("operator reset-second-factors", &[email], "second_factor_reset");
    commands.check("operator role", &[email, "support"], "operator_changed");
    commands.check("token add", &["cli-audited", "--role", "viewer"], "operator_token_added");
    commands.check("token revoke", &["cli-audited"], "operator_token_revoked");
}

fn webhooks(commands: &Commands) {
    let subscriber = Subscriber::new();
    let sequence = subscriber.customer("cli-audited");
    subscriber.delivery(sequence, "delivered");
    let id = subscriber.webhook.as_str();
    commands.check("deliveries replay", &[id, &sequence.to_string()], "webhook_replayed");
    commands.check("webhooks test", &[id], "webhook_changed");
    commands.check("webhooks disable", &[id], "webhook_changed");
    commands.check("webhooks enable", &[id], "webhook_changed");
    commands.check("webhooks delete", &[id, "--yes"], "webhook_deleted");
}

fn restore(commands: &Commands) {
    let (installation, target) = (Installation::new(), Installation::new());
    installation.add_tenant("t");
    target.copy_master_key_from(&installation);
    let file = installation.path().join("a.backup");
    let file = file.to_str().unwrap();
    installation.program(&["store", "backup", file]).run().code(0);
    commands.check_on(&target, "store restore", &[file, "--access", "keep"], "restored");
}

#[test]
fn every_mutating_command_leaves_an_audit_entry() {
    let commands = Commands::default();
    directory(&commands);
    clients_and_keys(&commands);
    operators_and_tokens(&commands);
    teams_and_requests(&commands);
    webhooks(&commands);
    restore(&commands);
    let (all, audited) = (all_commands(), commands.audited.into_inner());
    let is_listed = |one: &&String| {
        audited.contains(one) || UNAUDITED.iter().any(|(unaudited, _)| *unaudited == one.as_str())
    };
    let missing: Vec<&String> = all.iter().filter(|one| !is_listed(one)).collect();
    assert!(missing.is_empty(), "these commands are not in this test: {missing:?}");
    assert!(audited.iter().all(|one| all.contains(one)), "{all:?}");
    println!("{} of {} commands change data, and each leaves an audit entry", audited.len(), all.len());
}

/// Names and responses from outside are shown, not obeyed.
#[test]
fn text_from_outside_cannot_control_the_terminal() {
    let run = |arguments: &[&str]| {
        let printed = fixture().installation.program(arguments).run().code(0);
        let hostile =
            |character: char| (character.is_control() && character != '\n') || character == '\u{202e}';
        assert!(!printed.stdout.contains(hostile) && !printed.stderr.contains(hostile), "{printed:?}");
        printed.stdout
    };
    // The API refuses control characters in a name, but text may also change its direction.
    operator().create("/tenants", &json!({"name": "Mala \u{202e}abc", "id": "escapes"}));
    for arguments in [&["tenant", "list"][..], &["audit", "--tenant", "escapes"]] {
        let (text, json) = (run(arguments), run(&[arguments, &["--json"]].concat()));
        assert!(text.contains(r"Mala \u{202e}abc") && json.contains(r"Mala \u202eabc"), "{text}\n{json}");
    }

    let subscriber = Subscriber::new();
    subscriber.respond_with_text(500, "\u{1b}[2J\u{9b}31mgone\u{7}");
    let sequence = subscriber.customer("escapes");
    subscriber.delivery(sequence, "waiting");
    let show = ["deliveries", "show", &subscriber.webhook, &sequence.to_string()];
    wait_for("the receiver's answer", || run(&show).contains(r"\u{1b}[2J\u{9b}31mgone\u{7}").then_some(()));
    run(&[&show[..], &["--json"]].concat());
    run(&["deliveries", "list", &subscriber.webhook]);
}
