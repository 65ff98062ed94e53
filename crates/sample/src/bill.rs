//! What is billed: rows, VAT by rate, withholding and total, in cents and adding up.

use crate::chance::Dice;
use crate::chart::VAT_RATES;
use crate::form::Form;
use crate::line::Line;
use crate::party::Party;
use crate::sectors::{Item, Sector};

/// What a client holds back from a professional's fee.
const WITHHOLDING_RATE: u32 = 15;

#[derive(Debug)]
struct Row {
    item: &'static Item,
    quantity: u64,
    price_cents: u64,
}

impl Row {
    fn cents(&self) -> u64 {
        self.quantity * self.price_cents
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Vat {
    pub(crate) rate: u32,
    pub(crate) base_cents: u64,
    pub(crate) cents: u64,
}

#[derive(Debug)]
pub(crate) struct Bill {
    rows: Vec<Row>,
    withholding_rate: u32,
}

impl Bill {
    /// Up to three different things that the sector sells.
    pub(crate) fn any(dice: &mut Dice, sector: &'static Sector) -> Self {
        let first = dice.below(u32::MAX) as usize % sector.items.len();
        let items = sector.items.iter().cycle().skip(first).take(1 + dice.below(3) as usize);
        let rows = items
            .map(|item| Row {
                item,
                quantity: u64::from(dice.between(1, item.lot_max)),
                price_cents: item.price_cents * u64::from(dice.between(85, 120)) / 100,
            })
            .collect();
        Self { rows, withholding_rate: 0 }
    }

    /// What a supplier bills; persons are professionals, whose fees bear a withholding.
    pub(crate) fn of_supplier(dice: &mut Dice, supplier: &Party) -> Self {
        let withholding_rate = if supplier.form == Form::Person { WITHHOLDING_RATE } else { 0 };
        Self { withholding_rate, ..Self::any(dice, supplier.sector) }
    }

    /// VAT is reckoned on the sum of each rate's rows, to the nearest cent.
    pub(crate) fn vat(&self) -> impl Iterator<Item = Vat> {
        VAT_RATES.into_iter().filter_map(|rate| {
            let rows = self.rows.iter().filter(|row| row.item.vat_rate == rate);
            let base_cents: u64 = rows.map(Row::cents).sum();
            (base_cents > 0).then(|| Vat { rate, base_cents, cents: percent(base_cents, rate) })
        })
    }

    pub(crate) fn base_cents(&self) -> u64 {
        self.rows.iter().map(Row::cents).sum()
    }

    fn vat_cents(&self) -> u64 {
        self.vat().map(|vat| vat.cents).sum()
    }

    pub(crate) fn withheld_cents(&self) -> u64 {
        percent(self.base_cents(), self.withholding_rate)
    }

    pub(crate) fn total_cents(&self) -> u64 {
        self.base_cents() + self.vat_cents() - self.withheld_cents()
    }

    pub(crate) fn write(&self, line: Line) -> Line {
        line.list("lines", &self.rows, |line, row| {
            line.text("description", row.item.text)
                .number("quantity", row.quantity)
                .euros("unitPrice", row.price_cents)
                .euros("amount", row.cents())
                .number("vatRate", row.item.vat_rate)
        })
        .list("vat", self.vat(), |line, vat| {
            line.number("rate", vat.rate).euros("base", vat.base_cents).euros("amount", vat.cents)
        })
        .euros("taxableBase", self.base_cents())
        .euros("vatAmount", self.vat_cents())
        .number("withholdingRate", self.withholding_rate)
        .euros("withholdingAmount", self.withheld_cents())
        .euros("total", self.total_cents())
    }
}

pub(crate) fn percent(cents: u64, rate: u32) -> u64 {
    (cents * u64::from(rate) + 50) / 100
}
