//! What people type: addresses, names, times, tax numbers, one-time codes and new passwords.

use domain::accounts::normalized_email;
use domain::password_rules::{PasswordOwner, check as check_password};
use domain::recovery_codes::RecoveryCode;
use domain::totp::{TotpCode, TotpSecret};
use domain::{CorrelationId, Guid, Scopes, Secret, Ticks, checked_name, tax_id};

use super::text;

/// Characters of an address that is stored.
const EMAIL_CHARS_MAX: usize = 254;

/// An address is stored as it is found again: short enough, without white space, and the same when it is normalized again. A name has
/// no control characters and is trimmed.
pub(crate) fn people(data: &[u8]) -> u64 {
    let text = text(data);
    let email = normalized_email(&text);
    if let Some(email) = &email {
        assert!(email.chars().count() <= EMAIL_CHARS_MAX, "{} characters", email.chars().count());
        assert!(!email.chars().any(|c| c.is_whitespace() || c.is_control()), "{email:?}");
        assert_eq!(normalized_email(email).as_ref(), Some(email));
        assert_eq!(normalized_email(&format!(" {email}\t")).as_ref(), Some(email));
    }
    let name = checked_name(&text, 50);
    if let Some(name) = name {
        assert!((1..=50).contains(&name.chars().count()) && !name.chars().any(char::is_control));
        assert_eq!(checked_name(name, 50), Some(name));
    }
    let control = tax_id::check(&text);
    if control == tax_id::Check::Valid {
        assert!(text.len() == 9 && text.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{text}");
    }
    let at = text.matches('@').count().min(3) as u64;
    u64::from(email.is_some()) | u64::from(name.is_some()) << 1 | (control as u64) << 2 | at << 4
}

/// Ids, and lists of scopes: what is accepted is within its limits and the same after it is written again.
pub(crate) fn ids(data: &[u8]) -> u64 {
    let text = text(data);
    let guid = Guid::parse(&text);
    if let Some(guid) = guid {
        assert_eq!(Guid::parse(&guid.to_string()), Some(guid));
        assert!(domain::ids::is_hyphenated_guid(&guid.to_string()));
    }
    let correlation_id = CorrelationId::parse(&text);
    if let Ok(id) = &correlation_id {
        assert_eq!(id.as_str(), text);
        assert!(id.as_str().chars().count() <= 200 && !id.as_str().contains('\0'));
    }
    let requested = Scopes::parse(&text);
    let again = Scopes::parse(&requested.scopes.to_string());
    assert_eq!((again.scopes, again.has_unknown), (requested.scopes, false));
    let scopes = requested.scopes.iter().count() as u64;
    u64::from(guid.is_some())
        | u64::from(correlation_id.is_ok()) << 1
        | u64::from(requested.has_unknown) << 2
        | scopes << 3
}

/// A time is not before year 1, and the same after each format that keeps all of it.
pub(crate) fn times(data: &[u8]) -> u64 {
    let text = text(data);
    let Some(time) = Ticks::parse_iso(&text) else { return 0 };
    assert!(time >= Ticks(0), "{time:?}");
    assert_eq!(Ticks::parse_iso(&time.iso()), Some(time), "{}", time.iso());
    let millis = Ticks::parse_iso(&time.iso_millis());
    assert_eq!(millis, Some(time.to_millisecond()), "{}", time.iso_millis());
    assert_eq!(Ticks::parse_iso(&time.date()), Some(Ticks::from_day(time.day())), "{}", time.date());
    assert_eq!((time.iso().len(), time.us_date_time().len()), (28, 19), "{}", time.iso());
    assert!(Ticks::from_unix_seconds(time.unix_seconds()) <= time);
    let kinds = ["T", ".", "Z", "+", " ", "["].map(|part| text.contains(part));
    kinds.iter().fold(1, |outcome, kind| outcome << 1 | u64::from(*kind))
}

/// Codes: each is the same in its canonical form, however it was typed.
pub(crate) fn codes(data: &[u8]) -> u64 {
    let text = text(data);
    let code = TotpCode::parse(&text);
    if let Some(code) = &code {
        assert!(code.as_str().len() == 6 && code.as_str().bytes().all(|byte| byte.is_ascii_digit()));
        assert!(TotpCode::parse(code.as_str()).as_ref() == Some(code));
    }
    let secret = TotpSecret::parse(&text);
    if let Some(secret) = &secret {
        assert!(TotpSecret::parse(secret.base32().reveal()).as_ref() == Some(secret));
        assert!(TotpSecret::parse(secret.grouped_base32().reveal()).as_ref() == Some(secret));
    }
    let recovery = RecoveryCode::parse(&text);
    if let Some(recovery) = &recovery {
        assert_eq!(RecoveryCode::parse(recovery.canonical().reveal()).as_ref(), Some(recovery));
        assert_eq!(RecoveryCode::parse(recovery.grouped().reveal()).as_ref(), Some(recovery));
    }
    let length = text.chars().filter(char::is_ascii_alphanumeric).count().min(40) as u64;
    u64::from(code.is_some())
        | u64::from(secret.is_some()) << 1
        | u64::from(recovery.is_some()) << 2
        | length << 3
}

/// A new password: the first line is the password, then the name and the address of its owner. One with the owner's name in it is refused,
/// and the verdict is the same each time.
pub(crate) fn new_password(data: &[u8]) -> u64 {
    let text = text(data);
    let mut lines = text.splitn(3, '\n');
    let mut line = || lines.next().unwrap_or_default();
    let (password, name, email) = (line(), line(), line());
    let owner = PasswordOwner { name, email };
    let verdict = check_password(&Secret::new(password), &owner);
    assert_eq!(check_password(&Secret::new(password), &owner), verdict);
    if verdict.is_ok() {
        assert!((1..=1024).contains(&password.len()), "{} bytes", password.len());
        let plain = name.to_ascii_lowercase();
        let is_word = plain.len() >= 5 && plain.bytes().all(|byte| byte.is_ascii_lowercase());
        let lower = password.to_ascii_lowercase();
        // Of a repeated password one part is checked, and a name may span two.
        let is_repeated = (1..=lower.len() / 2)
            .any(|length| lower.as_bytes().chunks(length).all(|part| lower.as_bytes().starts_with(part)));
        assert!(!is_word || is_repeated || !lower.contains(&plain), "{password:?} of {name:?}");
    }
    super::refused(verdict)
}
