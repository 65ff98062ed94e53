//! The rules for a new password: length first, then nothing that an attacker tries before long: common passwords and
//! their usual variations, sequences, repetitions, and the person's own name and address.

mod common;
mod fold;
mod pattern;
#[cfg(test)]
mod tests;

use unicode_normalization::UnicodeNormalization as _;

use crate::password::PASSWORD_BYTES_MAX;
use crate::secret::Secret;

/// The minimum for new passwords. Passwords that were set under an older rule stay valid.
pub const NEW_PASSWORD_CHARS_MIN: usize = 10;

/// Shorter parts of a name or an address occur in other words by chance.
const PERSONAL_CHARS_MIN: usize = 4;
/// Names and addresses are read up to here.
const PERSONAL_CHARS_MAX: usize = 320;
/// Passwords with fewer different characters are refused.
const DISTINCT_CHARS_MIN: usize = 4;
/// Numbers with fewer digits are phone numbers, dates and the like.
const DIGITS_MIN: usize = 16;

/// Why a new password is refused. The texts for people are in the crate `ui`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PasswordRefusal {
    /// It has fewer than [`NEW_PASSWORD_CHARS_MIN`] characters.
    TooShort,
    /// It has more than [`PASSWORD_BYTES_MAX`] bytes.
    TooLong,
    /// It repeats a short part, or consists of very few different characters.
    Repetitive,
    /// It is a sequence of letters or digits, or a walk over the keyboard.
    Sequence,
    /// It consists of digits, as phone numbers and dates do.
    DigitsOnly,
    /// It contains the person's name.
    ContainsName,
    /// It contains a part of the person's email address.
    ContainsAddress,
    /// It is a common password, or consists of one or two common words and little else.
    Common,
}

impl PasswordRefusal {
    pub const ALL: [Self; 8] = [
        Self::TooShort,
        Self::TooLong,
        Self::Repetitive,
        Self::Sequence,
        Self::DigitsOnly,
        Self::ContainsName,
        Self::ContainsAddress,
        Self::Common,
    ];
}

/// Whose password it is to be. An empty text is no rule.
#[derive(Clone, Copy, Debug, Default)]
pub struct PasswordOwner<'a> {
    pub name: &'a str,
    pub email: &'a str,
}

/// Checks a new password. The check costs little beside a hash, so the caller checks first.
pub fn check(password: &Secret, owner: &PasswordOwner<'_>) -> Result<(), PasswordRefusal> {
    let text = password.reveal();
    if text.len() > PASSWORD_BYTES_MAX {
        return Err(PasswordRefusal::TooLong);
    }
    // Composed, so that an accent is no character of its own, however the keyboard sends it.
    if text.nfc().count() < NEW_PASSWORD_CHARS_MIN {
        return Err(PasswordRefusal::TooShort);
    }
    let folded: Vec<char> = fold::folded(text).collect();
    let unit = pattern::repeated_part(&folded);
    if unit.len() < NEW_PASSWORD_CHARS_MIN && unit.len() < folded.len()
        || pattern::distinct_count(&folded) < DISTINCT_CHARS_MIN
    {
        return Err(PasswordRefusal::Repetitive);
    }
    let compact: Vec<char> = unit.iter().copied().filter(|c| c.is_alphanumeric()).collect();
    if pattern::is_sequence(unit) || pattern::is_sequence(&compact) {
        return Err(PasswordRefusal::Sequence);
    }
    if is_number(unit) {
        return Err(PasswordRefusal::DigitsOnly);
    }
    let readings = fold::readings(unit);
    let contains_any = |words: &[String]| {
        words.iter().any(|word| readings.iter().any(|reading| reading.contains(word.as_str())))
    };
    if contains_any(&personal_words(owner.name)) {
        return Err(PasswordRefusal::ContainsName);
    }
    if contains_any(&address_words(owner.email)) {
        return Err(PasswordRefusal::ContainsAddress);
    }
    if common::is_common(unit) {
        return Err(PasswordRefusal::Common);
    }
    Ok(())
}

/// Whether the text is a number as people write phone numbers and dates.
fn is_number(folded: &[char]) -> bool {
    let is_separator = |c: char| c.is_whitespace() || ".,:;/-_+()".contains(c);
    let digit_count = folded.iter().filter(|c| c.is_ascii_digit()).count();
    digit_count < DIGITS_MIN && folded.iter().all(|c| c.is_ascii_digit() || is_separator(*c))
}

/// The words of the local part and of the domain's labels, except for the top-level domain.
fn address_words(email: &str) -> Vec<String> {
    let (local, domain) = email.rsplit_once('@').unwrap_or((email, ""));
    let mut words = personal_words(local);
    if let Some((labels, _)) = domain.rsplit_once('.') {
        words.extend(labels.split('.').flat_map(personal_words));
    }
    words
}

/// The words of a name: its parts between spaces, punctuation and digits, and neighbouring parts and all parts together
/// (`Ana Gil` is also `anagil`).
fn personal_words(text: &str) -> Vec<String> {
    let folded: String = fold::folded(text).take(PERSONAL_CHARS_MAX).collect();
    let parts: Vec<&str> =
        folded.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).collect();
    let mut words: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
    words.extend(parts.windows(2).map(<[&str]>::concat));
    words.push(parts.concat());
    words.extend(folded.split(|c: char| !c.is_alphabetic()).map(str::to_owned));
    words.retain(|word| word.chars().count() >= PERSONAL_CHARS_MIN);
    words
}
