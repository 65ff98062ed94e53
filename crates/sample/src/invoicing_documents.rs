//! Invoicing's documents: sales from the offer to the invoice and its due date, and purchases likewise.

use crate::amounts::Amounts;
use crate::calendar::Day;
use crate::invoicing::{CUSTOMERS, Issuer, SUPPLIERS};

use crate::resource::Resource;

/// One kind of document of a transaction: the prefix of its number, its date in days after the first document,
/// and how many transactions get as far as this document.
struct DocumentKind {
    resource: Resource,
    prefix: &'static str,
    delay_days: u32,
    count: u32,
}

const fn kind(resource: Resource, prefix: &'static str, delay_days: u32, count: u32) -> DocumentKind {
    DocumentKind { resource, prefix, delay_days, count }
}

static SALE: [DocumentKind; 4] = [
    kind(Resource::SaleOffer, "PRE", 0, 10),
    kind(Resource::SaleOrder, "PED", 5, 9),
    kind(Resource::SaleDeliveryNote, "ALB", 12, 8),
    kind(Resource::SaleInvoice, "FAC", 14, 8),
];

static PURCHASE: [DocumentKind; 3] = [
    kind(Resource::PurchaseOrder, "PC", 0, 6),
    kind(Resource::PurchaseDeliveryNote, "AC", 6, 5),
    kind(Resource::PurchaseInvoice, "FC", 9, 5),
];

/// The due dates of purchases are numbered after those of sales.
const FIRST_PURCHASE_DUE: u32 = 1_000;

pub(crate) fn sales(issuer: Issuer) -> impl Iterator<Item = String> {
    documents(issuer, &SALE, 0, move |number| {
        let mut rng = issuer.rng(Resource::SaleOffer, number);
        DocumentChain {
            number,
            counterparty: (Resource::Customer, "customerId", rng.below(CUSTOMERS)),
            amounts: Amounts::random(&mut rng, issuer.company.sector),
        }
    })
}

pub(crate) fn purchases(issuer: Issuer) -> impl Iterator<Item = String> {
    documents(issuer, &PURCHASE, FIRST_PURCHASE_DUE, move |number| {
        let mut rng = issuer.rng(Resource::PurchaseOrder, number);
        let supplier = rng.below(SUPPLIERS);
        DocumentChain {
            number,
            counterparty: (Resource::Supplier, "supplierId", supplier),
            amounts: Amounts::for_supplier(&mut rng, &issuer.company.supplier(supplier + 1)),
        }
    })
}

/// The documents of one sale or purchase.
struct DocumentChain {
    number: u32,
    /// Its resource, the member that refers to it, and its number.
    counterparty: (Resource, &'static str, u32),
    amounts: Amounts,
}

/// The documents of each chain, as far as it gets. The last one is the invoice, followed by its due date.
fn documents(
    issuer: Issuer,
    kinds: &'static [DocumentKind],
    first_due: u32,
    chain: impl Fn(u32) -> DocumentChain,
) -> impl Iterator<Item = String> {
    let started = kinds.iter().map(|kind| kind.count).max().unwrap_or_default();
    (0..started).map(chain).flat_map(move |chain| {
        let reached = kinds.iter().filter(|kind| chain.number < kind.count).count();
        let mut lines: Vec<String> = (0..reached).map(|index| chain.document(issuer, kinds, index)).collect();
        if reached == kinds.len() {
            lines.extend(kinds.last().map(|invoice| chain.due(issuer, invoice, first_due)));
        }
        lines
    })
}

impl DocumentChain {
    fn day(&self, kind: &DocumentKind) -> Day {
        Day::of_step(self.number, 11).plus(kind.delay_days).working()
    }

    fn document_number(&self, kind: &DocumentKind) -> String {
        format!("{}-26/{:04}", kind.prefix, self.number + 1)
    }

    fn document(&self, issuer: Issuer, kinds: &[DocumentKind], index: usize) -> String {
        let kind = &kinds[index];
        let (resource, member, number) = self.counterparty;
        let mut line = issuer
            .record(kind.resource, self.number)
            .text("number", &self.document_number(kind))
            .display("date", self.day(kind))
            .id(member, issuer.id(resource, number));
        if let Some(origin) = index.checked_sub(1).and_then(|before| kinds.get(before)) {
            line = line.id("originId", issuer.id(origin.resource, self.number));
        }
        self.amounts.write(line).finish()
    }

    fn due(&self, issuer: Issuer, invoice: &DocumentKind, first_due: u32) -> String {
        issuer
            .record(Resource::Due, first_due + self.number)
            .id("documentId", issuer.id(invoice.resource, self.number))
            .text("documentNumber", &self.document_number(invoice))
            .display("dueDate", self.day(invoice).plus(30))
            .euros("amount", self.amounts.total_cents())
            .flag("isPaid", self.number % 3 != 2)
            .finish()
    }
}
