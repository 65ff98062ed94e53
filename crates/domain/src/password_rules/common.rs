//! The list of common words, and whether a password is one of them in a usual variation.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::fold::{OneIs, letter};
use super::pattern;

/// One lower-case word without accents per line, in byte order; `#` starts a comment.
const LIST: &str = include_str!("common_words.txt");

static WORDS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| LIST.lines().filter(|line| !line.starts_with('#')).collect());

/// Short words that join others. They alone make no common password.
const CONNECTORS: [&str; 29] = [
    "a", "al", "and", "de", "del", "el", "en", "es", "i", "is", "la", "las", "le", "los", "me", "mi", "my",
    "n", "no", "of", "s", "su", "te", "the", "tu", "un", "y", "yo", "you",
];

const WORD_BYTES_MAX: usize = 20;
/// Longer texts have more than two words of the list.
const TEXT_BYTES_MAX: usize = 48;
const WORDS_MAX: usize = 2;
const CONNECTORS_MAX: usize = 2;

/// What digits and signs around one common word, or around two, may weigh before they make a password hard to guess.
const EXTRA_WEIGHT_MAX: [usize; WORDS_MAX] = [6, 4];

/// Whether the password, folded before, is one common word or two with little else: with digits and signs before,
/// after and between them, or in place of letters.
pub(super) fn is_common(folded: &[char]) -> bool {
    let is_letter = |c: &char| c.is_alphabetic();
    let first = folded.iter().position(is_letter).unwrap_or(folded.len());
    let last = folded.iter().rposition(is_letter).map_or(first, |at| at + 1);
    // A sign at an end may belong to the word (`$ecreto`) or not (`secreto$`).
    [(first, last), (first, folded.len()), (0, last), (0, folded.len())].into_iter().any(|(start, end)| {
        let outside = pattern::weight(&folded[..start]) + pattern::weight(&folded[end..]);
        [None, Some(OneIs::I), Some(OneIs::L)].into_iter().any(|one_is| {
            let read = |c: &char| one_is.map_or(*c, |one_is| letter(*c, one_is));
            let inside: Vec<char> = folded[start..end].iter().map(read).collect();
            let (letters, signs): (Vec<char>, Vec<char>) = inside.into_iter().partition(is_letter);
            let word_count = common_word_count(&letters.into_iter().collect::<String>());
            let extra = outside + pattern::weight(&signs);
            word_count.is_some_and(|count| extra <= EXTRA_WEIGHT_MAX[count - 1])
        })
    })
}

/// How many words of the list make the text, if that is one or two, with at most two connectors.
fn common_word_count(text: &str) -> Option<usize> {
    if text.is_empty() || text.len() > TEXT_BYTES_MAX || !text.is_ascii() {
        return None;
    }
    // How many words and connectors can make the text up to each position.
    let mut reached = vec![BTreeSet::from([(0, 0)])];
    for end in 1..=text.len() {
        let mut counts = BTreeSet::new();
        for start in end.saturating_sub(WORD_BYTES_MAX)..end {
            let part = &text[start..end];
            if WORDS.binary_search(&part).is_ok() {
                counts.extend(reached[start].iter().map(|(words, connectors)| (words + 1, *connectors)));
            }
            if CONNECTORS.contains(&part) {
                counts.extend(reached[start].iter().map(|(words, connectors)| (*words, connectors + 1)));
            }
        }
        counts.retain(|(words, connectors)| *words <= WORDS_MAX && *connectors <= CONNECTORS_MAX);
        reached.push(counts);
    }
    let word_counts = reached[text.len()].iter().map(|(words, _)| *words);
    word_counts.filter(|words| *words > 0).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_is_sorted_and_folded() {
        assert!(WORDS.len() > 3000, "{}", WORDS.len());
        assert!(WORDS.is_sorted_by(|earlier, later| earlier < later), "sorted, without duplicates");
        for word in WORDS.iter() {
            assert!((3..=WORD_BYTES_MAX).contains(&word.len()), "{word}");
            assert!(word.bytes().all(|byte| byte.is_ascii_lowercase()), "{word}");
            assert!(!CONNECTORS.contains(word), "{word}");
        }
    }

    #[test]
    fn words_are_counted() {
        for (text, expected) in [
            ("password", Some(1)),
            ("mypassword", Some(1)),
            ("realmadrid", Some(1)),
            ("mariaypedro", Some(2)),
            ("teamomaria", Some(2)),
            ("amorsecretoluna", None),
            ("dela", None),
            ("kxqpzw", None),
            ("", None),
        ] {
            assert_eq!(common_word_count(text), expected, "{text}");
        }
        assert_eq!(common_word_count(&"password".repeat(100)), None);
    }
}
