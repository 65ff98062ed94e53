//! Business sectors: the names of their companies, what they sell, and the accounts of both sides.

use crate::rng::Rng;
use crate::{goods_sectors, service_sectors};

/// A product or service: its usual price, its VAT rate, and the largest quantity on one invoice.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) text: &'static str,
    pub(crate) price_cents: u64,
    pub(crate) vat_rate: u32,
    pub(crate) quantity_max: u32,
}

#[derive(Debug)]
pub(crate) struct Sector {
    pub(crate) nouns: &'static [&'static str],
    /// The heading of the tax on economic activities (IAE), and its text.
    pub(crate) iae: &'static str,
    pub(crate) activity: &'static str,
    /// The groups of the seller's account and of the buyer's account.
    pub(crate) sales_group: u16,
    pub(crate) cost_group: u16,
    pub(crate) items: &'static [Item],
}

pub(crate) const fn item(text: &'static str, price_cents: u64, vat_rate: u32, quantity_max: u32) -> Item {
    Item { text, price_cents, vat_rate, quantity_max }
}

/// A random sector. Half of the results sell goods, half services.
pub(crate) fn random(rng: &mut Rng) -> &'static Sector {
    let table = if rng.one_in(2) { goods_sectors::SECTORS } else { service_sectors::SECTORS };
    rng.pick(table)
}
