//! The text that `dev` prints when it is ready: URLs, keys, users, and the commands of the walk-through.

use std::fmt::Write as _;
use std::path::Path;

use super::callback::Callbacks;
use super::credentials::{CLIENT_NAMES, Client, Person, User};
use super::ready_line::ReadyLine;
use super::terminal_style::TerminalStyle;

/// The commands to run after the export lines. A comment starts a step. The README shows the same commands, and a
/// test runs them.
const WALK_THROUGH: &str = include_str!("walk.sh");

pub(super) fn text(ready: &ReadyLine, is_taken: bool, style: TerminalStyle) -> String {
    let mut text = format!("{}\n", style.success("Aldaba is ready."));
    addresses(&mut text, ready, style);
    accounts(&mut text, ready, style);
    sign_in(&mut text, ready, is_taken, style);
    title(&mut text, style, "paste this into another shell");
    for line in exports(ready) {
        let _ = writeln!(text, "  {}", style.copyable(&line));
    }
    title(&mut text, style, "then try these commands in order");
    let mut number = 0;
    for line in WALK_THROUGH.lines() {
        if let Some(step) = line.strip_prefix("# ") {
            number += 1;
            let _ = writeln!(text, "  {number:>2}  {}", style.dim(step));
        } else {
            let _ = writeln!(text, "      {}", style.copyable(line));
        }
    }
    text.push_str("\nDeliveries to the receiver are printed below. Stop with Ctrl-C.");
    text
}

fn sign_in(text: &mut String, ready: &ReadyLine, is_taken: bool, style: TerminalStyle) {
    let user = ready.users.first().map_or("", |user| user.email.as_str());
    title(text, style, &format!("to sign a user in ({user}), open this in a browser"));
    let _ = writeln!(text, "  {}", style.copyable(&format!("{}sign-in", ready.receiver_url)));
    let redirect_uri = Callbacks::redirect_uri(ready);
    let note = if is_taken {
        format!(
            "a program already listens at {redirect_uri}: it gets the code, and dev does not answer there"
        )
    } else {
        format!("dev answers {redirect_uri} itself, until your application listens there")
    };
    let _ = writeln!(text, "  {}", style.dim(&note));
}

fn title(text: &mut String, style: TerminalStyle, title: &str) {
    let _ = writeln!(text, "\n{}", style.bold(title));
}

fn addresses(text: &mut String, ready: &ReadyLine, style: TerminalStyle) {
    title(text, style, "URLs and keys");
    for (name, value) in [
        ("APIs", ready.base_url.as_str()),
        ("API reference", &format!("{}/docs/", ready.base_url)),
        ("identity provider", &ready.auth_url),
        ("OpenID issuer", &format!("{}/auth/core", ready.auth_url)),
        ("developer portal", &ready.portal_url),
        ("operator console", &ready.console_url),
        ("operator API", &ready.operator_url),
        ("operator token", &ready.operator_token),
        ("receiver", &ready.receiver_url),
        ("deliveries", &format!("{}deliveries", ready.receiver_url)),
        ("subscription key", &ready.subscription.primary_key),
        ("redirect URI", &ready.client.redirect_uri),
    ] {
        let _ = writeln!(text, "  {}{}", style.dim(&format!("{name:<18}")), TerminalStyle::plain(value));
    }
}

fn accounts(text: &mut String, ready: &ReadyLine, style: TerminalStyle) {
    title(text, style, "clients");
    for (name, client) in CLIENT_NAMES.iter().zip([&ready.client, &ready.other_client]) {
        let Client { client_id, client_secret, .. } = client;
        let _ = writeln!(text, "  {name:<18}client_id {client_id}  secret {client_secret}");
    }
    title(text, style, "users");
    for user in &ready.users {
        let User { email, password, .. } = user;
        let tenants = TerminalStyle::plain(&tenants_of(ready, user).join(", "));
        let _ = writeln!(text, "  {email:<18} password {password}  {tenants}");
    }
    for (name, person) in [("developer (portal)", &ready.developer), ("operator (console)", &ready.operator)]
    {
        if let Some(Person { email, password }) = person {
            title(text, style, name);
            let _ = writeln!(text, "  {email:<18} password {password}");
        }
    }
    title(text, style, "tenants");
    for tenant in &ready.tenants {
        let (id, name) = (&tenant.id, TerminalStyle::plain(&tenant.name));
        let _ = writeln!(text, "  {id}  {name}, {} companies", tenant.companies.len());
    }
}

/// The names of a user's tenants.
fn tenants_of<'a>(ready: &'a ReadyLine, user: &User) -> Vec<&'a str> {
    let tenants = ready.tenants.iter().filter(|tenant| user.tenants.contains(&tenant.id));
    tenants.map(|tenant| tenant.name.as_str()).collect()
}

/// The shell variables of the walk-through.
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
    let lines = variables.iter().map(|(name, value)| format!("export {name}={}", shell_quoted(value)));
    lines.chain(path_line()).collect()
}

/// Adds this program's folder to PATH, unless it is already there.
fn path_line() -> Option<String> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_on_path = std::env::split_paths(&path).any(|entry| is_same(&entry, folder));
    (!is_on_path).then(|| Some(format!("export PATH={}:$PATH", shell_quoted(folder.to_str()?)))).flatten()
}

fn is_same(left: &Path, right: &Path) -> bool {
    left == right || left.canonicalize().is_ok_and(|left| left == right)
}

/// Quotes a value for a shell. Ids may be any text, and the shell must not interpret it.
pub(super) fn shell_quoted(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/".contains(&byte);
    if text.bytes().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_quoted_for_a_shell() {
        assert_eq!(shell_quoted("http://127.0.0.1:8080"), "http://127.0.0.1:8080");
        assert_eq!(shell_quoted("$(id) it's"), r"'$(id) it'\''s'");
    }
}
