//! Names that people give: of themselves, and of teams, clients, keys and passkeys.

/// Characters in the name of an account, a team, a client or a subscription.
pub const NAME_CHARS_MAX: usize = 200;

/// The trimmed name, if it has at least one character, at most `chars_max`, and no control character.
#[must_use]
pub fn checked_name(name: &str, chars_max: usize) -> Option<&str> {
    let name = name.trim();
    let is_allowed =
        !name.is_empty() && name.chars().count() <= chars_max && !name.chars().any(char::is_control);
    is_allowed.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::checked_name;

    #[test]
    fn names_are_trimmed_and_bounded() {
        assert_eq!(checked_name("  Peña & Asociados ", 200), Some("Peña & Asociados"));
        assert_eq!(checked_name("ñandú", 5), Some("ñandú"));
        for refused in ["", "   ", "ñandúes", "a\nb", "a\u{0}b"] {
            assert_eq!(checked_name(refused, 5), None, "{refused:?}");
        }
    }
}
