//! Splits the text of a filter into tokens, each with its column.

use super::FilterError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// Unquoted text: a name, a keyword, a number or a date.
    Word(String),
    /// The text between single quotes, unescaped.
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

/// All tokens, and the column after the last one.
pub(super) fn scan(text: &str) -> Result<(Vec<PositionedToken>, usize), FilterError> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let column = at + 1;
        let mut push = |token| tokens.push(PositionedToken { token, column });
        match c {
            c if c.is_whitespace() => at += 1,
            '(' => {
                push(Token::Open);
                at += 1;
            }
            ')' => {
                push(Token::Close);
                at += 1;
            }
            ',' => {
                push(Token::Comma);
                at += 1;
            }
            '\'' => {
                let (quoted, end) = quoted(&chars, at)?;
                push(Token::Quoted(quoted));
                at = end;
            }
            c if is_word(c) => {
                let end = (at..chars.len()).find(|&index| !is_word(chars[index])).unwrap_or(chars.len());
                push(Token::Word(chars[at..end].iter().collect()));
                at = end;
            }
            other => return Err(FilterError { column, message: format!("unexpected character {other:?}") }),
        }
    }
    Ok((tokens, chars.len() + 1))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || "_-.:+".contains(c)
}

/// The text that starts at an opening quote, and the index after its closing quote. Two quotes inside are an escaped one.
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
                let message = "this quoted text has no closing quote".into();
                return Err(FilterError { column: from + 1, message });
            }
        }
    }
}
