//! Products in the bodies of clients and subscriptions.

use domain::subscription::{Product as DomainProduct, Products};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::schema_types::BoundedList;

pub(super) type ProductList = BoundedList<Product, 1, 3>;

/// A family of APIs, which a key or a client gives access to.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Product {
    Accounting,
    Payroll,
    Invoicing,
}

impl From<DomainProduct> for Product {
    fn from(product: DomainProduct) -> Self {
        match product {
            DomainProduct::Accounting => Self::Accounting,
            DomainProduct::Payroll => Self::Payroll,
            DomainProduct::Invoicing => Self::Invoicing,
        }
    }
}

impl From<Product> for DomainProduct {
    fn from(product: Product) -> Self {
        match product {
            Product::Accounting => Self::Accounting,
            Product::Payroll => Self::Payroll,
            Product::Invoicing => Self::Invoicing,
        }
    }
}

pub(super) fn product_list(products: Products) -> Vec<Product> {
    let all = DomainProduct::ALL.into_iter().filter(|product| products.contains(*product));
    all.map(Product::from).collect()
}

pub(super) fn products_of(list: ProductList) -> Products {
    list.0.into_iter().map(DomainProduct::from).collect()
}
