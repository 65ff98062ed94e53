//! Invoicing's documents: a sale from the offer to the invoice and what is due for it; a purchase likewise.

use crate::bill::Bill;
use crate::calendar::Day;
use crate::invoicing::{CUSTOMERS, Issuer, SUPPLIERS};

use crate::resource::Resource;

/// One paper of a deal: its number's prefix, how many days into the deal it comes, how many deals get so far.
struct Stage {
    resource: Resource,
    prefix: &'static str,
    delay_days: u32,
    deals: u32,
}

const fn stage(resource: Resource, prefix: &'static str, delay_days: u32, deals: u32) -> Stage {
    Stage { resource, prefix, delay_days, deals }
}

static SALE: [Stage; 4] = [
    stage(Resource::SaleOffer, "PRE", 0, 10),
    stage(Resource::SaleOrder, "PED", 5, 9),
    stage(Resource::SaleDeliveryNote, "ALB", 12, 8),
    stage(Resource::SaleInvoice, "FAC", 14, 8),
];

static PURCHASE: [Stage; 3] = [
    stage(Resource::PurchaseOrder, "PC", 0, 6),
    stage(Resource::PurchaseDeliveryNote, "AC", 6, 5),
    stage(Resource::PurchaseInvoice, "FC", 9, 5),
];

/// Purchases' dues are numbered after the sales'.
const FIRST_PURCHASE_DUE: u32 = 1_000;

pub(crate) fn sales(issuer: Issuer) -> impl Iterator<Item = String> {
    deals(issuer, &SALE, 0, move |number| {
        let mut dice = issuer.dice(Resource::SaleOffer, number);
        Deal {
            number,
            other: (Resource::Customer, "customerId", dice.below(CUSTOMERS)),
            bill: Bill::any(&mut dice, issuer.company.sector),
        }
    })
}

pub(crate) fn purchases(issuer: Issuer) -> impl Iterator<Item = String> {
    deals(issuer, &PURCHASE, FIRST_PURCHASE_DUE, move |number| {
        let mut dice = issuer.dice(Resource::PurchaseOrder, number);
        let supplier = dice.below(SUPPLIERS);
        Deal {
            number,
            other: (Resource::Supplier, "supplierId", supplier),
            bill: Bill::of_supplier(&mut dice, &issuer.company.supplier(supplier + 1)),
        }
    })
}

struct Deal {
    number: u32,
    other: (Resource, &'static str, u32),
    bill: Bill,
}

/// Deal by deal, the papers that it got to; the last one is the invoice, with its due.
fn deals(
    issuer: Issuer,
    stages: &'static [Stage],
    first_due: u32,
    deal: impl Fn(u32) -> Deal,
) -> impl Iterator<Item = String> {
    let started = stages.iter().map(|stage| stage.deals).max().unwrap_or_default();
    (0..started).map(deal).flat_map(move |deal| {
        let reached = stages.iter().filter(|stage| deal.number < stage.deals).count();
        let mut lines: Vec<String> = (0..reached).map(|place| deal.paper(issuer, stages, place)).collect();
        if reached == stages.len() {
            lines.extend(stages.last().map(|invoice| deal.due(issuer, invoice, first_due)));
        }
        lines
    })
}

impl Deal {
    fn day(&self, stage: &Stage) -> Day {
        Day::of_step(self.number, 11).plus(stage.delay_days).working()
    }

    fn paper_number(&self, stage: &Stage) -> String {
        format!("{}-26/{:04}", stage.prefix, self.number + 1)
    }

    fn paper(&self, issuer: Issuer, stages: &[Stage], place: usize) -> String {
        let stage = &stages[place];
        let (others, member, other) = self.other;
        let mut line = issuer
            .record(stage.resource, self.number)
            .text("number", &self.paper_number(stage))
            .shown("date", self.day(stage))
            .id(member, issuer.id(others, other));
        if let Some(origin) = place.checked_sub(1).and_then(|before| stages.get(before)) {
            line = line.id("originId", issuer.id(origin.resource, self.number));
        }
        self.bill.write(line).done()
    }

    fn due(&self, issuer: Issuer, invoice: &Stage, first_due: u32) -> String {
        issuer
            .record(Resource::Due, first_due + self.number)
            .id("documentId", issuer.id(invoice.resource, self.number))
            .text("documentNumber", &self.paper_number(invoice))
            .shown("dueDate", self.day(invoice).plus(30))
            .euros("amount", self.bill.total_cents())
            .flag("isPaid", self.number % 3 != 2)
            .done()
    }
}
