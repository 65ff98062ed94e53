//! What a scenario tried and saw, for the page.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// One scenario with its parts.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Report {
    pub(crate) scenario: String,
    pub(crate) parts: Vec<Part>,
}

impl Report {
    pub(crate) fn holds(&self) -> bool {
        self.parts.iter().all(Part::holds)
    }
}

/// One fault, what was tried and the figures that were seen.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Part {
    pub(crate) name: String,
    /// What was done, how often and for how long, in words.
    pub(crate) tried: String,
    pub(crate) figures: Vec<Figure>,
}

#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) value: String,
    /// What it must be, in words; none for a figure that is only told.
    pub(crate) bound: Option<String>,
    pub(crate) is_met: bool,
}

impl Part {
    pub(crate) fn new(name: &str, tried: impl Into<String>) -> Self {
        eprintln!("{name}");
        Self { name: name.to_owned(), tried: tried.into(), figures: Vec::new() }
    }

    pub(crate) fn holds(&self) -> bool {
        self.figures.iter().all(|figure| figure.is_met)
    }

    fn add(&mut self, figure: Figure) {
        let bound = figure.bound.as_deref().map_or_else(String::new, |bound| format!(" (must be {bound})"));
        let fault = if figure.is_met { "" } else { "  <-- NOT MET" };
        eprintln!("  {}: {}{bound}{fault}", figure.name, figure.value);
        self.figures.push(figure);
    }

    /// A figure that is only told.
    pub(crate) fn tell(&mut self, name: &str, value: impl std::fmt::Display) {
        self.add(Figure { name: name.to_owned(), value: value.to_string(), bound: None, is_met: true });
    }

    /// A count that must be zero.
    pub(crate) fn none(&mut self, name: &str, count: usize) {
        let value = count.to_string();
        self.add(Figure { name: name.to_owned(), value, bound: Some("0".into()), is_met: count == 0 });
    }

    /// A span that must not be longer.
    pub(crate) fn within(&mut self, name: &str, span: Duration, max: Duration) {
        let text = |span: Duration| format!("{:.1} s", span.as_secs_f64());
        let (value, bound) = (text(span), Some(format!("at most {}", text(max))));
        self.add(Figure { name: name.to_owned(), value, bound, is_met: span <= max });
    }

    /// A number that must not be larger.
    pub(crate) fn at_most(&mut self, name: &str, number: f64, max: f64, unit: &str) {
        let (value, bound) = (format!("{number:.2} {unit}"), Some(format!("at most {max} {unit}")));
        self.add(Figure { name: name.to_owned(), value, bound, is_met: number <= max });
    }

    /// A number that must not be smaller.
    pub(crate) fn at_least(&mut self, name: &str, number: f64, min: f64, unit: &str) {
        let (value, bound) = (format!("{number:.2} {unit}"), Some(format!("at least {min} {unit}")));
        self.add(Figure { name: name.to_owned(), value, bound, is_met: number >= min });
    }

    /// A statement that must be true, with what was seen.
    pub(crate) fn holds_that(&mut self, name: &str, is_met: bool, seen: impl Into<String>) {
        let bound = Some("true".to_owned());
        self.add(Figure { name: name.to_owned(), value: seen.into(), bound, is_met });
    }
}
