//! The lines and amounts of an invoice, order or offer: VAT by rate, withholding and total, in cents.

use crate::change_line::ChangeLine;
use crate::chart::VAT_RATES;
use crate::legal_form::LegalForm;
use crate::party::Party;
use crate::rng::Rng;
use crate::sectors::{Item, Sector};

/// The income tax, in percent, that a customer withholds from a professional's fee.
const WITHHOLDING_RATE: u32 = 15;

#[derive(Debug)]
struct DocumentLine {
    item: &'static Item,
    quantity: u64,
    price_cents: u64,
}

impl DocumentLine {
    fn cents(&self) -> u64 {
        self.quantity * self.price_cents
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct VatAmount {
    pub(crate) rate: u32,
    pub(crate) base_cents: u64,
    pub(crate) cents: u64,
}

#[derive(Debug)]
pub(crate) struct Amounts {
    lines: Vec<DocumentLine>,
    withholding_rate: u32,
}

impl Amounts {
    /// One to three different items that the sector sells.
    pub(crate) fn random(rng: &mut Rng, sector: &'static Sector) -> Self {
        let first = rng.below(u32::MAX) as usize % sector.items.len();
        let items = sector.items.iter().cycle().skip(first).take(1 + rng.below(3) as usize);
        let lines = items
            .map(|item| DocumentLine {
                item,
                quantity: u64::from(rng.between(1, item.quantity_max)),
                price_cents: item.price_cents * u64::from(rng.between(85, 120)) / 100,
            })
            .collect();
        Self { lines, withholding_rate: 0 }
    }

    /// What a supplier invoices. Suppliers who are persons are professionals: their customers withhold tax.
    pub(crate) fn for_supplier(rng: &mut Rng, supplier: &Party) -> Self {
        let withholding_rate = if supplier.legal_form == LegalForm::Person { WITHHOLDING_RATE } else { 0 };
        Self { withholding_rate, ..Self::random(rng, supplier.sector) }
    }

    /// VAT is calculated on the sum of the lines of each rate and rounded to the nearest cent.
    pub(crate) fn vat(&self) -> impl Iterator<Item = VatAmount> {
        VAT_RATES.into_iter().filter_map(|rate| {
            let lines = self.lines.iter().filter(|line| line.item.vat_rate == rate);
            let base_cents: u64 = lines.map(DocumentLine::cents).sum();
            (base_cents > 0).then(|| VatAmount { rate, base_cents, cents: percent(base_cents, rate) })
        })
    }

    pub(crate) fn base_cents(&self) -> u64 {
        self.lines.iter().map(DocumentLine::cents).sum()
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

    pub(crate) fn write(&self, out: ChangeLine) -> ChangeLine {
        out.list("lines", &self.lines, |out, line| {
            out.text("description", line.item.text)
                .number("quantity", line.quantity)
                .euros("unitPrice", line.price_cents)
                .euros("amount", line.cents())
                .number("vatRate", line.item.vat_rate)
        })
        .list("vat", self.vat(), |out, vat| {
            out.number("rate", vat.rate).euros("base", vat.base_cents).euros("amount", vat.cents)
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
