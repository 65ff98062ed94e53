//! "Did you mean": the nearest known word to one that is not known.

/// A longer word is no slip, and comparing it would take its time.
const WORD_BYTES_MAX: usize = 64;

/// The known word nearest to `word`, if it is near enough to be what was meant.
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
    nearest(word, known).map_or_else(String::new, |near| format!(" (did you mean \"{near}\"?)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_slip_is_recognised_and_a_stranger_is_not() {
        assert_eq!(nearest("custmers", ["customers", "companies"]), Some("customers"));
        assert_eq!(nearest("Customers", ["customers"]), Some("customers"));
        assert_eq!(nearest(&"customers".repeat(8), ["customers"]), None);
        assert_eq!(nearest("zebra", ["customers", "companies"]), None);
    }
}
