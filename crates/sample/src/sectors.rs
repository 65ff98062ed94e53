//! Lines of business: how their firms are called, what they sell, and under which account each side books it.

use crate::chance::Dice;
use crate::{goods, services};

/// Something that is sold: its usual price, its VAT rate, and how many go on one invoice at most.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) text: &'static str,
    pub(crate) price_cents: u64,
    pub(crate) vat_rate: u32,
    pub(crate) lot_max: u32,
}

#[derive(Debug)]
pub(crate) struct Sector {
    pub(crate) nouns: &'static [&'static str],
    /// Heading of the tax on economic activities, and its wording.
    pub(crate) iae: &'static str,
    pub(crate) activity: &'static str,
    /// The seller's account and the buyer's.
    pub(crate) sales_group: u16,
    pub(crate) cost_group: u16,
    pub(crate) items: &'static [Item],
}

pub(crate) const fn item(text: &'static str, price_cents: u64, vat_rate: u32, lot_max: u32) -> Item {
    Item { text, price_cents, vat_rate, lot_max }
}

/// Any line of business: half of them sell goods, half services.
pub(crate) fn any(dice: &mut Dice) -> &'static Sector {
    let table = if dice.one_in(2) { goods::SECTORS } else { services::SECTORS };
    dice.pick(table)
}
