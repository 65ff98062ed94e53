//! Enough of Rust's grammar to separate code from strings, characters and comments.

/// The source with everything that is not code replaced by spaces; line breaks stay.
pub(super) fn code_only(source: &str) -> Vec<char> {
    let mut code: Vec<char> = source.chars().collect();
    let mut at = 0;
    while at < code.len() {
        let end = match (code[at], code.get(at + 1)) {
            ('/', Some('/')) => line_end(&code, at),
            ('/', Some('*')) => comment_end(&code, at),
            ('"', _) => quoted_end(&code, at),
            ('\'', _) => match character_end(&code, at) {
                Some(end) => end,
                // A lifetime: only its quote is replaced, so that its name is an ordinary word.
                None => at + 1,
            },
            (here, _) if is_word(here) => {
                let after = at + word_at(&code, at).len();
                let raw = matches!(code[at..after], ['r'] | ['b' | 'c', 'r']);
                let Some(end) = raw_end(&code, after).filter(|_| raw) else {
                    at = after;
                    continue;
                };
                end
            }
            _ => {
                at += 1;
                continue;
            }
        };
        for here in &mut code[at..end] {
            if *here != '\n' {
                *here = ' ';
            }
        }
        at = end;
    }
    code
}

fn line_end(code: &[char], at: usize) -> usize {
    code[at..].iter().position(|c| *c == '\n').map_or(code.len(), |offset| at + offset)
}

/// Block comments nest.
fn comment_end(code: &[char], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while at < code.len() {
        match (code[at], code.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    code.len()
}

/// The end of the literal that the quote at `at` opens, with `\` as the escape character.
fn quoted_end(code: &[char], at: usize) -> usize {
    let mark = code[at];
    let mut next = at + 1;
    while next < code.len() && code[next] != mark {
        next += if code[next] == '\\' { 2 } else { 1 };
    }
    (next + 1).min(code.len())
}

/// The end of a character literal, or None if the quote starts a lifetime.
fn character_end(code: &[char], at: usize) -> Option<usize> {
    match (code.get(at + 1)?, code.get(at + 2)) {
        ('\\', _) | (_, Some('\'')) => Some(quoted_end(code, at)),
        _ => None,
    }
}

/// After the word `r`, `br` or `cr`: the end of a raw string, or of the `#` of a raw identifier, if one follows.
fn raw_end(code: &[char], at: usize) -> Option<usize> {
    let hashes = code[at..].iter().take_while(|c| **c == '#').count();
    match code.get(at + hashes)? {
        '"' => {
            let close: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
            let inside = at + hashes + 1;
            let length = code[inside..].windows(close.len()).position(|window| window == close);
            Some(length.map_or(code.len(), |length| inside + length + close.len()))
        }
        here if hashes == 1 && is_word(*here) => Some(at + 1),
        _ => None,
    }
}

/// The word that starts at `at`; empty if none does.
pub(super) fn word_at(code: &[char], at: usize) -> &[char] {
    let length = code[at..].iter().take_while(|c| is_word(**c)).count();
    &code[at..at + length]
}

pub(super) fn is_word(here: char) -> bool {
    here.is_alphanumeric() || here == '_'
}
