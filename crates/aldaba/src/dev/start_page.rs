//! The page that people see when dev is ready: where everything is, who there is, and what to try, in order.

use std::fmt::Write as _;
use std::path::Path;

use super::credentials::{APPLICATIONS, Client, User};
use super::ready_line::{ReadyLine, authorize_path};
use super::terminal_style::TerminalStyle;

/// What to try, in this order, after the export lines: a comment begins a step. README walks through the same lines,
/// and a story runs them.
const WALK_THROUGH: &str = include_str!("walk.sh");

pub(super) fn text(ready: &ReadyLine, style: TerminalStyle) -> String {
    let mut text = format!("{}\n", style.good("Aldaba is ready."));
    places(&mut text, ready, style);
    people(&mut text, ready, style);
    let link = format!("{}{}", ready.auth_url, authorize_path(&ready.client.client_id));
    title(&mut text, style, "sign a user in: open this in a browser");
    let _ = writeln!(text, "  {}", style.copy(&link));
    title(&mut text, style, "paste this into another shell");
    for line in exports(ready) {
        let _ = writeln!(text, "  {}", style.copy(&line));
    }
    title(&mut text, style, "then try, in this order");
    let mut number = 0;
    for line in WALK_THROUGH.lines() {
        if let Some(what) = line.strip_prefix("# ") {
            number += 1;
            let _ = writeln!(text, "  {number:>2}  {}", style.dim(what));
        } else {
            let _ = writeln!(text, "      {}", style.copy(line));
        }
    }
    text.push_str("\nDeliveries to the receiver are shown here. Ctrl-C ends it.");
    text
}

fn title(text: &mut String, style: TerminalStyle, words: &str) {
    let _ = writeln!(text, "\n{}", style.bold(words));
}

fn places(text: &mut String, ready: &ReadyLine, style: TerminalStyle) {
    title(text, style, "places and keys");
    for (name, value) in [
        ("APIs", ready.base_url.as_str()),
        ("their document", &format!("{}/docs/", ready.base_url)),
        ("identity provider", &ready.auth_url),
        ("operator", &ready.operator_url),
        ("operator token", &ready.operator_token),
        ("receiver", &ready.receiver_url),
        ("subscription key", &ready.subscription.primary_key),
        ("redirect address", &ready.client.redirect_uri),
    ] {
        let _ = writeln!(text, "  {}{value}", style.dim(&format!("{name:<18}")));
    }
}

fn people(text: &mut String, ready: &ReadyLine, style: TerminalStyle) {
    title(text, style, "applications");
    for (name, client) in APPLICATIONS.iter().zip([&ready.client, &ready.other_client]) {
        let Client { client_id, client_secret, .. } = client;
        let _ = writeln!(text, "  {name:<18}client id {client_id}  secret {client_secret}");
    }
    title(text, style, "users");
    for user in &ready.users {
        let User { email, password, .. } = user;
        let _ = writeln!(text, "  {email:<18} password {password}  {}", tenants_of(ready, user).join(", "));
    }
    title(text, style, "tenants");
    for tenant in &ready.tenants {
        let _ = writeln!(text, "  {}  {}, {} companies", tenant.id, tenant.name, tenant.companies.len());
    }
}

/// The names of a user's tenants.
fn tenants_of<'a>(ready: &'a ReadyLine, user: &User) -> Vec<&'a str> {
    let theirs = ready.tenants.iter().filter(|tenant| user.tenants.contains(&tenant.id));
    theirs.map(|tenant| tenant.name.as_str()).collect()
}

/// The variables that the commands below and the README's use, for a shell.
fn exports(ready: &ReadyLine) -> Vec<String> {
    let tenant = ready.tenants.first();
    let company = tenant.and_then(|tenant| tenant.companies.first()).map_or("", |id| &**id);
    let variables = [
        ("BASE", ready.base_url.as_str()),
        ("AUTH", &ready.auth_url),
        ("OPERATOR", &ready.operator_url),
        ("TOKEN", &ready.operator_token),
        ("TENANT", tenant.map_or("", |tenant| tenant.id.as_str())),
        ("COMPANY", company),
        ("KEY", &ready.subscription.primary_key),
        ("CLIENT", &ready.client.client_id),
        ("SECRET", &ready.client.client_secret),
        ("RECEIVER", ready.receiver_url.trim_end_matches('/')),
    ];
    let lines = variables.iter().map(|(name, value)| format!("export {name}={}", quoted(value)));
    lines.chain(path_line()).collect()
}

/// So that `aldaba` is this very program, also where it was never installed.
fn path_line() -> Option<String> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_known = std::env::split_paths(&path).any(|known| is_same(&known, folder));
    (!is_known).then(|| Some(format!("export PATH={}:$PATH", quoted(folder.to_str()?)))).flatten()
}

fn is_same(one: &Path, other: &Path) -> bool {
    one == other || one.canonicalize().is_ok_and(|one| one == other)
}

/// A value for a shell. Ids may be any text, and nothing in them may be taken for a command.
fn quoted(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/".contains(&byte);
    if text.bytes().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_any_value_as_it_is() {
        assert_eq!(quoted("http://127.0.0.1:8080"), "http://127.0.0.1:8080");
        assert_eq!(quoted("$(id) it's"), r"'$(id) it'\''s'");
    }
}
