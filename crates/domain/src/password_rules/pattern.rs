//! Patterns that need no list: repeated parts, sequences and walks over the keyboard.

use std::collections::HashSet;

/// Sequences and the rows and columns of the usual keyboards, after folding (`ñ` is `n`). They count in both directions.
const TRACKS: [&str; 24] = [
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890",
    "qwertyuiop",
    "asdfghjkl",
    "hjkln",
    "zxcvbnm",
    "qwertz",
    "tzuiop",
    "yxcvbnm",
    "azertyuiop",
    "qsdfghjklm",
    "wxcvbn",
    "1qaz",
    "2wsx",
    "3edc",
    "4rfv",
    "5tgb",
    "6yhn",
    "7ujm",
    "8ik",
    "9ol",
    "!@#$%^&*()_+",
    "!\"·$%&/()=?",
    "!\"£$%^&*()_+",
];

/// Shorter runs occur by chance.
const RUN_CHARS_MIN: usize = 3;
/// What a run counts as: where it begins and how long it is.
const RUN_WEIGHT: usize = 2;
/// A password whose weight is at most this is a sequence with something appended.
const SEQUENCE_WEIGHT_MAX: usize = 5;
/// Each half of interleaved sequences (`1q2w3e4r5t`) has at least this many characters.
const INTERLEAVED_CHARS_MIN: usize = 4;

/// The shortest part whose repetition makes the text (the last one may be cut), or the text itself.
pub(super) fn repeated_part(text: &[char]) -> &[char] {
    let is_period =
        |length: &usize| text[*length..].iter().zip(text).all(|(later, earlier)| later == earlier);
    let length = (1..=text.len() / 2).find(is_period).unwrap_or(text.len());
    &text[..length]
}

pub(super) fn distinct_count(text: &[char]) -> usize {
    text.iter().collect::<HashSet<_>>().len()
}

/// Whether the text consists of sequences and walks, or of little else.
pub(super) fn is_sequence(text: &[char]) -> bool {
    if text.is_empty() {
        return false;
    }
    weight(text) <= SEQUENCE_WEIGHT_MAX
        || parts(text).all(|part| part.len() >= RUN_CHARS_MIN)
        || is_interleaved(text)
}

/// The number of characters that have to be guessed: a run counts as two, a year as one, white space as none.
pub(super) fn weight(text: &[char]) -> usize {
    parts(text)
        .map(|part| match part {
            [c] if c.is_whitespace() => 0,
            _ if part.len() >= RUN_CHARS_MIN && !is_year(part) => RUN_WEIGHT,
            _ => 1,
        })
        .sum()
}

/// Years and the longest runs, one after the other; what lies between them as single characters.
fn parts(text: &[char]) -> impl Iterator<Item = &[char]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let run = longest_run(rest);
        let length = match rest.get(..4) {
            Some(four) if run <= 4 && is_year(four) => 4,
            _ if run >= RUN_CHARS_MIN => run,
            _ => 1,
        };
        let (part, after) = rest.split_at(length);
        rest = after;
        Some(part)
    })
}

/// The years in which people of today were born, and those that they write.
fn is_year(part: &[char]) -> bool {
    matches!(part, ['1', '9', a, b] | ['2', '0', a, b] if a.is_ascii_digit() && b.is_ascii_digit())
}

/// The length of the longest run at the beginning: one character repeated, or part of a track.
fn longest_run(text: &[char]) -> usize {
    let repeated = text.iter().take_while(|c| **c == text[0]).count();
    TRACKS
        .iter()
        .flat_map(|track| [walk(text, track.chars()), walk(text, track.chars().rev())])
        .fold(repeated, usize::max)
}

/// How many characters the text has in common with the track, from the text's first character on.
fn walk(text: &[char], track: impl Iterator<Item = char>) -> usize {
    let track = track.skip_while(|c| *c != text[0]);
    text.iter().zip(track).take_while(|(c, expected)| **c == *expected).count()
}

fn is_interleaved(text: &[char]) -> bool {
    [0, 1].into_iter().all(|first| {
        let half: Vec<char> = text.iter().copied().skip(first).step_by(2).collect();
        half.len() >= INTERLEAVED_CHARS_MIN && longest_run(&half) == half.len()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chars(text: &str) -> Vec<char> {
        text.chars().collect()
    }

    #[test]
    fn repeated_parts_are_found() {
        let part = |text| repeated_part(&chars(text)).iter().collect::<String>();
        assert_eq!(part("aaaaaaaaaa"), "a");
        assert_eq!(part("abcabcabca"), "abc");
        assert_eq!(part("secretsecret"), "secret");
        assert_eq!(part("abcdefghij"), "abcdefghij");
        assert_eq!(part("abcdefabc"), "abcdefabc", "less than two whole parts");
        assert_eq!(part(""), "");
    }

    #[test]
    fn runs_count_as_two_and_years_as_one() {
        for (text, expected) in [
            ("", 0),
            ("xk", 2),
            ("12345678", 2),
            ("87654321", 2),
            ("qwerty", 2),
            ("2024", 1),
            ("1999!!", 3),
            ("890123", 4),
            ("111", 2),
            ("a b", 2),
            ("14071985", 5),
            ("kx7pqz", 6),
        ] {
            assert_eq!(weight(&chars(text)), expected, "{text}");
        }
    }

    #[test]
    fn sequences_are_recognised() {
        for text in [
            "1234567890",
            "zyxwvutsrq",
            "qwertyuiop",
            "1qaz2wsx3edc",
            "1q2w3e4r5t",
            "a1b2c3d4e5",
            "111222333444",
        ] {
            assert!(is_sequence(&chars(text)), "{text}");
        }
        for text in ["", "correcthorse", "kx7pqz81mw", "abcdkx7pqz"] {
            assert!(!is_sequence(&chars(text)), "{text}");
        }
    }
}
