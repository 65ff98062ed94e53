//! "Did you mean" suggestions: the known word most similar to an unknown one.

/// Longer words get no suggestion: they are no typing errors, and comparing them is slow.
const WORD_BYTES_MAX: usize = 64;

/// The known word most similar to `word`, if any is similar enough.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > WORD_BYTES_MAX {
        return None;
    }
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&word.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(similarity, _)| *similarity > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// ` (did you mean "x"?)`, or nothing.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |known| format!(" (did you mean \"{known}\"?)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_get_a_suggestion_and_other_words_do_not() {
        assert_eq!(nearest("custmers", ["customers", "companies"]), Some("customers"));
        assert_eq!(nearest("Customers", ["customers"]), Some("customers"));
        assert_eq!(nearest(&"customers".repeat(8), ["customers"]), None);
        assert_eq!(nearest("zebra", ["customers", "companies"]), None);
    }
}
