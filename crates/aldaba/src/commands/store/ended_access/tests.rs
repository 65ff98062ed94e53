//! Which ends of access are read from an exported audit.

use super::*;

fn entry(minute: u32, kind: &str, rest: &str) -> String {
    format!("{{\"at\":\"2026-11-15T10:{minute:02}:00.0000000Z\",\"kind\":\"{kind}\"{rest}}}\n")
}

fn read(text: &str) -> Result<Ends, String> {
    Ends::read(text.as_bytes(), Ticks::parse_iso("2026-11-15T10:30:00Z").unwrap())
}

#[test]
fn ends_after_the_backup_are_collected() {
    let text = [
        entry(50, "revoked", r#","user":"u","grant":"g2""#),
        entry(40, "refresh_reused", r#","grant":"g1""#),
        entry(41, "granted", r#","grant":"g3""#),
        entry(35, "membership_removed", r#","user":"u","tenant":"t""#),
        entry(36, "subscription_cancelled", r#","object":"subscription:s1""#),
        entry(36, "operator_token_revoked", r#","object":"operator_token:n1""#),
        entry(37, "access_ended", r#","user":"u","client":"c","tenant":"t""#),
        entry(10, "revoked", r#","grant":"before""#),
    ];
    let ends = read(&text.concat()).unwrap();
    assert_eq!(ends.grants, ["g1", "g2"].map(str::to_owned).into());
    assert_eq!(ends.memberships, [("u".to_owned(), "t".to_owned())].into());
    assert_eq!(ends.accesses, [["u", "c", "t"].map(str::to_owned).into()].into());
    assert_eq!(ends.cancelled, ["s1".to_owned()].into());
    assert_eq!(ends.tokens, ["n1".to_owned()].into());
    assert_eq!(ends.oldest, Ticks::parse_iso("2026-11-15T10:10:00Z"));
    let page = format!("{{\"records\":[{}],\"next\":null}}", entry(50, "revoked", r#","grant":"g2""#).trim());
    assert_eq!(read(&page).unwrap().grants, ["g2".to_owned()].into(), "a page of the operator's API");
}

#[test]
fn last_status_counts_and_secrets_cannot_be_repeated() {
    let status = |minute, user: &str, to: &str| {
        let rest = format!(r#","user":"{user}","changes":[{{"member":"status","to":"{to}"}}]"#);
        entry(minute, "user_changed", &rest)
    };
    let password =
        entry(40, "user_changed", r#","user":"a","email":"a@b","changes":[{"member":"password"}]"#);
    let text = [
        status(50, "a", "active"),
        status(45, "a", "disabled"),
        status(44, "b", "disabled"),
        status(20, "c", "disabled"),
        password,
    ];
    let ends = read(&text.concat()).unwrap();
    let is_active = |id: &str| ends.statuses.get(&Subject::Account(id.into())).map(|(_, active)| *active);
    assert_eq!((is_active("a"), is_active("b"), is_active("c")), (Some(true), Some(false), None));
    assert_eq!(ends.not_repeated, ["the password of a@b was changed".to_owned()].into());
}

#[test]
fn what_members_clients_and_webhooks_lost_is_collected() {
    let webhook = "00000000-0000-0000-0000-000000000001";
    let changed = |minute, kind: &str, whom: &str, member: &str, to: &str| {
        entry(minute, kind, &format!(r#",{whom},"changes":[{{"member":"{member}","to":{to}}}]"#))
    };
    let (member, client) = (r#""user":"u","tenant":"t""#, r#""client":"c""#);
    let object = format!(r#""object":"webhook:{webhook}""#);
    let text = [
        changed(50, "membership_changed", member, "admin", "false"),
        changed(40, "membership_changed", member, "admin", "true"),
        changed(45, "client_changed", client, "products", r#"["payroll"]"#),
        changed(46, "client_changed", client, "redirectUris", r#"["https://a/"]"#),
        changed(47, "webhook_changed", &object, "enabled", "false"),
        changed(48, "webhook_changed", &object, "url", r#""https://b/""#),
        entry(49, "signing_key_retired", r#","object":"signing_key:k""#),
        entry(49, "of_the_future", ""),
    ];
    let ends = read(&text.concat()).unwrap();
    let webhook = Guid::parse(webhook).unwrap();
    assert_eq!(ends.admins.values().map(|(_, is_admin)| *is_admin).collect::<Vec<_>>(), [false]);
    assert_eq!(ends.limits.len(), 2);
    assert_eq!(ends.enabled_webhooks.get(&webhook).map(|(_, is_enabled)| *is_enabled), Some(false));
    assert!(ends.moved_webhooks.contains(&webhook));
    assert_eq!(ends.not_repeated.len(), 3, "{:?}", ends.not_repeated);
}

#[test]
fn line_that_is_no_entry_is_named() {
    let text = entry(50, "revoked", "") + "nonsense\n";
    assert_eq!(read(&text).unwrap_err(), "line 2 is not an entry as `aldaba audit --json` prints it");
    assert!(read(&entry(50, "revoked", "").replace("2026", "x")).is_err());
    assert_eq!(read("\n").unwrap(), Ends::default());
}

/// A new kind has to be put into one of the lists.
#[test]
fn every_kind_is_decided_about() {
    for kind in AuditKind::ALL {
        let listed = [may_end_access(kind), entry::NOT_ENDING.contains(&kind)];
        assert_eq!(listed.iter().filter(|is_listed| **is_listed).count(), 1, "{}", kind.as_str());
    }
}
