//! How many rows a page of a list has.

use domain::parse_digits;

pub(crate) const ROWS_DEFAULT: usize = 100;
pub(crate) const ROWS_MAX: usize = 1000;

/// Reads the `pageSize` parameter.
pub(crate) fn parse_page_size(text: &str) -> Result<usize, String> {
    let size = parse_digits(text).filter(|size| (1..=ROWS_MAX).contains(size));
    size.ok_or_else(|| format!("pageSize must be a whole number from 1 to {ROWS_MAX}, not {text:?}"))
}
