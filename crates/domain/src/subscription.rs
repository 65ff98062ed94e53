//! The API products: a subscription's keys give access to some, and a client may have the scopes of some.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Product {
    Accounting,
    Payroll,
    Invoicing,
}

impl Product {
    pub const ALL: [Self; 3] = [Self::Accounting, Self::Payroll, Self::Invoicing];

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|product| product.as_str() == name)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accounting => "accounting",
            Self::Payroll => "payroll",
            Self::Invoicing => "invoicing",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|product| product.as_str() == name)
    }

    fn bit(self) -> i64 {
        match self {
            Self::Accounting => 1,
            Self::Payroll => 2,
            Self::Invoicing => 4,
        }
    }
}

/// A set of products; the store saves its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Products(i64);

impl Products {
    pub fn all() -> Self {
        Product::ALL.into_iter().collect()
    }

    pub fn from_bits(bits: i64) -> Self {
        Self(bits)
    }

    pub fn bits(self) -> i64 {
        self.0
    }

    pub fn contains(self, product: Product) -> bool {
        self.0 & product.bit() != 0
    }

    pub fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub fn names(self) -> Vec<&'static str> {
        Product::ALL.into_iter().filter(|product| self.contains(*product)).map(Product::as_str).collect()
    }
}

impl FromIterator<Product> for Products {
    fn from_iter<I: IntoIterator<Item = Product>>(products: I) -> Self {
        Self(products.into_iter().fold(0, |bits, product| bits | product.bit()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn product_set_survives_conversion_to_bits() {
        let products: Products = [Product::Payroll, Product::Invoicing].into_iter().collect();
        let restored = Products::from_bits(products.bits());
        assert_eq!(restored.names(), ["payroll", "invoicing"]);
        assert!(!restored.contains(Product::Accounting));
        assert_eq!(Products::all().names().len(), 3);
    }
}
