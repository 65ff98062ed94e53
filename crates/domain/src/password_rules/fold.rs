//! Removes what makes variations of one password look different: case, accents, and digits in place of letters.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// The letter that `1`, `!` and `|` stand for: people use them for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OneIs {
    I,
    L,
}

/// The characters in lower case, without accents, with compatibility forms (`ｐ`, `²`) resolved.
pub(super) fn folded(text: &str) -> impl Iterator<Item = char> {
    text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase)
}

/// The letter that a digit or sign stands for in `p4$$w0rd`; other characters stay.
pub(super) fn letter(c: char, one_is: OneIs) -> char {
    match c {
        '4' | '@' => 'a',
        '8' => 'b',
        '3' | '€' => 'e',
        '6' | '9' => 'g',
        '1' | '!' | '|' if one_is == OneIs::I => 'i',
        '1' | '!' | '|' => 'l',
        '0' => 'o',
        '5' | '$' => 's',
        '7' | '+' => 't',
        '2' => 'z',
        c => c,
    }
}

/// The letters and digits as they are, and with digits and signs read as letters.
pub(super) fn readings(folded: &[char]) -> [String; 3] {
    let join = |read: &dyn Fn(char) -> char| {
        folded.iter().map(|c| read(*c)).filter(|c| c.is_alphanumeric()).collect()
    };
    [join(&|c| c), join(&|c| letter(c, OneIs::I)), join(&|c| letter(c, OneIs::L))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_accents_and_compatibility_forms_are_folded() {
        for text in ["CONTRASEÑA", "contraseña", "contrasen\u{303}a", "ｃｏｎｔｒａｓｅｎａ", "Çontraseñà"]
        {
            assert_eq!(folded(text).collect::<String>(), "contrasena", "{text}");
        }
    }

    #[test]
    fn signs_are_read_as_letters() {
        let text: Vec<char> = "p4$$-w0rd 1!".chars().collect();
        assert_eq!(readings(&text), ["p4w0rd1", "passwordii", "passwordll"]);
    }
}
