//! Cuts the text of a filter into words, literals and signs, each with its column.

use super::FilterError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A name, a keyword, a number or a date: what stands without quotes.
    Word(String),
    /// What stands between single quotes, unescaped.
    Quoted(String),
    Open,
    Close,
    Comma,
}

#[derive(Clone, Debug)]
pub(super) struct PositionedToken {
    pub(super) token: Token,
    pub(super) column: usize,
}

/// All tokens, and the column behind the last.
pub(super) fn scan(text: &str) -> Result<(Vec<PositionedToken>, usize), FilterError> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let column = at + 1;
        let mut put = |token| tokens.push(PositionedToken { token, column });
        match c {
            c if c.is_whitespace() => at += 1,
            '(' => {
                put(Token::Open);
                at += 1;
            }
            ')' => {
                put(Token::Close);
                at += 1;
            }
            ',' => {
                put(Token::Comma);
                at += 1;
            }
            '\'' => {
                let (quoted, behind) = quoted(&chars, at)?;
                put(Token::Quoted(quoted));
                at = behind;
            }
            c if is_word(c) => {
                let behind = (at..chars.len()).find(|&end| !is_word(chars[end])).unwrap_or(chars.len());
                put(Token::Word(chars[at..behind].iter().collect()));
                at = behind;
            }
            odd => return Err(FilterError { column, message: format!("{odd:?} does not belong here") }),
        }
    }
    Ok((tokens, chars.len() + 1))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || "_-.:+".contains(c)
}

/// A text from its opening quote on; two quotes inside stand for one.
fn quoted(chars: &[char], from: usize) -> Result<(String, usize), FilterError> {
    let mut text = String::new();
    let mut at = from + 1;
    loop {
        match (chars.get(at), chars.get(at + 1)) {
            (Some('\''), Some('\'')) => {
                text.push('\'');
                at += 2;
            }
            (Some('\''), _) => return Ok((text, at + 1)),
            (Some(&c), _) => {
                text.push(c);
                at += 1;
            }
            (None, _) => {
                let message = "this quote is not closed".into();
                return Err(FilterError { column: from + 1, message });
            }
        }
    }
}
