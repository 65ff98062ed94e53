//! Lines of business: how their firms are called, what they sell, and under which account each side books it.

use super::chance::Dice;
use super::{goods, services};

/// Something that is sold: its usual price, its VAT rate, and how many go on one invoice at most.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) text: &'static str,
    pub(super) price_cents: u64,
    pub(super) vat_rate: u32,
    pub(super) lot_max: u32,
}

#[derive(Debug)]
pub(super) struct Sector {
    pub(super) nouns: &'static [&'static str],
    /// Heading of the tax on economic activities, and its wording.
    pub(super) iae: &'static str,
    pub(super) activity: &'static str,
    /// The seller's account and the buyer's.
    pub(super) sales_group: u16,
    pub(super) cost_group: u16,
    pub(super) items: &'static [Item],
}

pub(super) const fn item(text: &'static str, price_cents: u64, vat_rate: u32, lot_max: u32) -> Item {
    Item { text, price_cents, vat_rate, lot_max }
}

/// Any line of business: half of them sell goods, half services.
pub(super) fn any(dice: &mut Dice) -> &'static Sector {
    let table = if dice.one_in(2) { goods::SECTORS } else { services::SECTORS };
    dice.pick(table)
}
