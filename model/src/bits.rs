//! A set of small numbers in one byte, so that states stay small.

use std::fmt::{self, Debug};

#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Bits(u8);

impl Bits {
    /// The numbers from 0 up to this one.
    pub fn upto(last: u8) -> Self {
        (0..=last).collect()
    }

    pub fn contains(self, number: u8) -> bool {
        self.0 >> number & 1 == 1
    }

    pub fn insert(&mut self, number: u8) {
        self.0 |= 1 << number;
    }

    pub fn remove(&mut self, number: u8) {
        self.0 &= !(1 << number);
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn first(self) -> Option<u8> {
        self.iter().next()
    }

    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..8).filter(move |number| self.contains(*number))
    }
}

impl FromIterator<u8> for Bits {
    fn from_iter<T: IntoIterator<Item = u8>>(numbers: T) -> Self {
        let mut all = Self::default();
        numbers.into_iter().for_each(|number| all.insert(number));
        all
    }
}

impl Debug for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
