//! The recursive-descent parser of filters. By increasing precedence: `or`, `and`, `not`, conditions and parentheses.

use super::scan::{PositionedToken, Token, scan};
use super::{Comparison, Field, FieldType, Filter, FilterError, StringFunction, Value};
use crate::suggest::did_you_mean;
use crate::time::Ticks;

const CHARS_MAX: usize = 4000;
const DEPTH_MAX: usize = 32;
const CONDITIONS_MAX: usize = 100;

pub(super) fn filter(text: &str) -> Result<Filter, FilterError> {
    let mut reader = Reader::new(text)?;
    let filter = reader.or_expression(0)?;
    reader.expect_end("there is more than one expression; join them with and / or")?;
    Ok(filter)
}

/// A cursor over the tokens.
pub(super) struct Reader {
    tokens: Vec<PositionedToken>,
    at: usize,
    end: usize,
    conditions: usize,
}

impl Reader {
    pub(super) fn new(text: &str) -> Result<Self, FilterError> {
        if text.chars().nth(CHARS_MAX).is_some() {
            let message = format!("there are more than {CHARS_MAX} characters");
            return Err(FilterError { column: CHARS_MAX + 1, message });
        }
        let (tokens, end) = scan(text)?;
        Ok(Self { tokens, at: 0, end, conditions: 0 })
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|positioned| &positioned.token)
    }

    fn column(&self) -> usize {
        self.tokens.get(self.at).map_or(self.end, |positioned| positioned.column)
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T, FilterError> {
        Err(FilterError { column: self.column(), message: message.into() })
    }

    pub(super) fn accept(&mut self, token: &Token) -> bool {
        let is_next = self.peek() == Some(token);
        self.at += usize::from(is_next);
        is_next
    }

    pub(super) fn accept_keyword(&mut self, keyword: &str) -> bool {
        let is_next = matches!(self.peek(), Some(Token::Word(word)) if word.eq_ignore_ascii_case(keyword));
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, token: &Token, what: &str) -> Result<(), FilterError> {
        if self.accept(token) { Ok(()) } else { self.error(format!("{what} is missing here")) }
    }

    pub(super) fn expect_end(&self, message: &str) -> Result<(), FilterError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => self.error(message),
        }
    }

    fn or_expression(&mut self, depth: usize) -> Result<Filter, FilterError> {
        let mut left = self.and_expression(depth)?;
        while self.accept_keyword("or") {
            left = Filter::Or(Box::new(left), Box::new(self.and_expression(depth)?));
        }
        Ok(left)
    }

    fn and_expression(&mut self, depth: usize) -> Result<Filter, FilterError> {
        let mut left = self.not_expression(depth)?;
        while self.accept_keyword("and") {
            left = Filter::And(Box::new(left), Box::new(self.not_expression(depth)?));
        }
        Ok(left)
    }

    fn not_expression(&mut self, depth: usize) -> Result<Filter, FilterError> {
        if depth > DEPTH_MAX {
            return self.error(format!("there are more than {DEPTH_MAX} levels"));
        }
        if self.accept_keyword("not") {
            return Ok(Filter::Not(Box::new(self.not_expression(depth + 1)?)));
        }
        if self.accept(&Token::Open) {
            let inner = self.or_expression(depth + 1)?;
            self.expect(&Token::Close, "a closing parenthesis")?;
            return Ok(inner);
        }
        self.conditions += 1;
        if self.conditions > CONDITIONS_MAX {
            return self.error(format!("there are more than {CONDITIONS_MAX} conditions"));
        }
        self.condition()
    }

    fn condition(&mut self) -> Result<Filter, FilterError> {
        if let Some(Token::Word(word)) = self.peek()
            && let Some(function) = StringFunction::from_name(word)
        {
            self.at += 1;
            return self.function_call(function);
        }
        let field = self.field()?;
        let comparison = match self.peek() {
            Some(Token::Word(word)) => Comparison::from_name(word),
            _ => None,
        };
        let Some(comparison) = comparison else {
            return self.error("an operator is missing here: eq, ne, gt, ge, lt or le");
        };
        self.at += 1;
        Ok(Filter::Compare(field, comparison, self.value(field)?))
    }

    /// `(field, 'text')`
    fn function_call(&mut self, function: StringFunction) -> Result<Filter, FilterError> {
        self.expect(&Token::Open, "an opening parenthesis")?;
        let column = self.column();
        let field = self.field()?;
        if field.field_type() != FieldType::Text {
            let message =
                format!("{} is not a text field; use companyName or identifierNumber", field.name());
            return Err(FilterError { column, message });
        }
        self.expect(&Token::Comma, "a comma")?;
        let Value::Text(text) = self.value(field)? else { return self.error("a text is missing here") };
        self.expect(&Token::Close, "a closing parenthesis")?;
        Ok(Filter::Function(field, function, text))
    }

    pub(super) fn field(&mut self) -> Result<Field, FilterError> {
        let Some(Token::Word(word)) = self.peek() else { return self.error("a field is missing here") };
        let Some(field) = Field::from_name(word) else {
            let hint = did_you_mean(word, Field::ALL.iter().map(|field| field.name()));
            return self.error(format!("there is no field \"{word}\"{hint}"));
        };
        self.at += 1;
        Ok(field)
    }

    fn value(&mut self, field: Field) -> Result<Value, FilterError> {
        let parsed = match (field.field_type(), self.peek()) {
            (_, None) => return self.error("a value is missing here"),
            (FieldType::Number, Some(Token::Word(word))) => word.parse().ok().map(Value::Number),
            (FieldType::Text, Some(Token::Quoted(text))) => Some(Value::Text(text.clone())),
            (FieldType::Time, Some(Token::Word(text) | Token::Quoted(text))) => {
                Ticks::parse_iso(text).map(Value::Time)
            }
            _ => None,
        };
        let Some(value) = parsed else {
            let expected = match field.field_type() {
                FieldType::Number => "a whole number",
                FieldType::Text => "a text in single quotes",
                FieldType::Time => "a date as in 2026-11-15 or 2026-11-15T08:30:00Z",
            };
            return self.error(format!("{} must be compared with {expected}", field.name()));
        };
        self.at += 1;
        Ok(value)
    }
}
