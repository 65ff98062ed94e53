//! Every Rust file opens with what it is for: a `//!` on its first line, before any attribute.

use super::{Fault, house::House};

pub(super) fn faults(house: &House) -> Vec<Fault> {
    let closed = house.files().filter(|file| file.is_rust() && !file.text.starts_with("//!"));
    closed
        .map(|file| {
            Fault::new(
                &file.path,
                1,
                "does not open with `//!`: say in one or two lines what this file is for",
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_says_what_a_file_is_for() {
        let house = House::of(&[
            ("good.rs", "//! The words.\n#![allow(unused)]\n"),
            ("late.rs", "#![allow(unused)]\n//! The words.\n"),
            ("empty.rs", ""),
            ("plain.rs", "// The words.\n"),
            ("notes.md", "# Notes\n"),
        ]);
        let paths: Vec<String> = faults(&house).into_iter().map(|fault| fault.path).collect();
        assert_eq!(paths, ["late.rs", "empty.rs", "plain.rs"]);
    }
}
