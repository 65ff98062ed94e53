//! The year's business in the order of its days: sales and purchases, their charges and payments, and the
//! journal of each.

use std::iter::once;

use crate::bill::Bill;
use crate::calendar::{BOOKED_MONTHS, Day};
use crate::company::{Account, Company};
use crate::journal::{self, Entry, Journal, credit, debit};
use crate::party::Party;
use crate::resource::Resource;

/// One round: sale, purchase, charge, sale, purchase, payment.
const STEPS_PER_ROUND: u32 = 6;

/// The two sides of the books. What a sale credits, a purchase debits.
struct Side {
    invoices: Resource,
    settlements: Resource,
    others: Resource,
    other_group: u16,
    vat_group: u16,
    other_member: &'static str,
    invoice_member: &'static str,
    own_account_member: &'static str,
    invoice_text: &'static str,
    settlement_text: &'static str,
    methods: &'static [&'static str],
    due_days: u32,
    /// The step of the round at which the first invoice falls.
    first_step: u32,
    own: fn(Account, u64) -> Entry,
    counter: fn(Account, u64) -> Entry,
}

impl Side {
    /// Two invoices a round, half a round apart.
    fn day(&self, company: Company, number: u32) -> Day {
        let step = number / 2 * STEPS_PER_ROUND + number % 2 * (STEPS_PER_ROUND / 2) + self.first_step;
        Day::of_step(step, steps(company))
    }
}

static SALES: Side = Side {
    invoices: Resource::IssuedInvoices,
    settlements: Resource::Charges,
    others: Resource::Customers,
    other_group: 430,
    vat_group: 477,
    other_member: "customerCorrelationId",
    invoice_member: "issuedInvoiceCorrelationId",
    own_account_member: "salesAccountCode",
    invoice_text: "N/fra.",
    settlement_text: "Cobro fra.",
    methods: &["Transferencia", "Recibo domiciliado", "Tarjeta", "Pagaré", "Bizum"],
    due_days: 30,
    first_step: 0,
    own: credit,
    counter: debit,
};

static PURCHASES: Side = Side {
    invoices: Resource::InputInvoices,
    settlements: Resource::Payments,
    others: Resource::Suppliers,
    other_group: 400,
    vat_group: 472,
    other_member: "supplierCorrelationId",
    invoice_member: "inputInvoiceCorrelationId",
    own_account_member: "expenseAccountCode",
    invoice_text: "S/fra.",
    settlement_text: "Pago fra.",
    methods: &["Transferencia", "Recibo domiciliado", "Confirming", "Tarjeta"],
    due_days: 60,
    first_step: 1,
    own: debit,
    counter: credit,
};

pub(crate) fn year(company: Company) -> impl Iterator<Item = String> {
    let steps = steps(company);
    once(journal::opening(company)).chain((0..=steps).flat_map(move |step| {
        let since = if step == 0 { 1 } else { Day::of_step(step - 1, steps).month() };
        let until = if step == steps { BOOKED_MONTHS + 1 } else { Day::of_step(step, steps).month() };
        // Journal 1 is the opening; every step and every month's wages so far took a number.
        let wages = (since..until).map(move |month| journal::wages(company, 1 + step + month, month));
        let business = (step < steps).then(|| business(company, step, 1 + step + until));
        wages.chain(business.into_iter().flatten())
    }))
}

/// The document of a step, and its journal. Settlements are half as many as invoices, so that some stay open.
fn business(company: Company, step: u32, journal: u32) -> [String; 2] {
    let round = step / STEPS_PER_ROUND;
    let day = Day::of_step(step, steps(company));
    match step % STEPS_PER_ROUND {
        0 => Deal::sale(company, 2 * round).invoice(journal),
        1 => Deal::purchase(company, 2 * round).invoice(journal),
        2 => Deal::sale(company, round).settlement(day, journal),
        3 => Deal::sale(company, 2 * round + 1).invoice(journal),
        4 => Deal::purchase(company, 2 * round + 1).invoice(journal),
        _ => Deal::purchase(company, round).settlement(day, journal),
    }
}

fn steps(company: Company) -> u32 {
    company.rounds * STEPS_PER_ROUND
}

/// A sale or a purchase. Nothing of it is kept: its settlement works it out again.
struct Deal {
    company: Company,
    side: &'static Side,
    number: u32,
    day: Day,
    invoice_number: String,
    /// The customer or the supplier.
    other: u32,
    party: Party,
    bill: Bill,
    own_account: Account,
}

impl Deal {
    fn sale(company: Company, number: u32) -> Self {
        let mut dice = company.dice(SALES.invoices, number);
        let other = company.any_named_customer(&mut dice);
        Self {
            company,
            side: &SALES,
            number,
            day: SALES.day(company, number),
            invoice_number: format!("F26/{:05}", number + 1),
            other,
            party: company.customer(other),
            bill: Bill::any(&mut dice, company.sector),
            own_account: Account::new(company.sector.sales_group, 0),
        }
    }

    fn purchase(company: Company, number: u32) -> Self {
        let mut dice = company.dice(PURCHASES.invoices, number);
        let other = 1 + dice.below(company.suppliers);
        let party = company.supplier(other);
        let bill = Bill::of_supplier(&mut dice, &party);
        let day = PURCHASES.day(company, number);
        let series = dice.pick(&["A", "B", "FV", "V"]);
        Self {
            company,
            side: &PURCHASES,
            number,
            day,
            invoice_number: format!("{series}{:02}-{:04}", day.month(), dice.between(1, 2_500)),
            other,
            bill,
            own_account: Account::new(party.sector.cost_group, 0),
            party,
        }
    }

    fn account(&self) -> Account {
        Account::new(self.side.other_group, self.other)
    }

    fn invoice(&self, journal: u32) -> [String; 2] {
        let Self { company, side, day, bill, .. } = self;
        let line = company
            .record(side.invoices, self.number)
            .text("invoiceNumber", &self.invoice_number)
            .shown("date", day)
            .shown("dueDate", day.plus(side.due_days))
            .id(side.other_member, company.record_id(side.others, self.other))
            .text("vatNumber", &self.party.vat_number)
            .text("vatName", &self.party.vat_name)
            .text("accountCode", &company.account_code(self.account()))
            .id("accountCodeCorrelationId", company.account_id(self.account()))
            .text(side.own_account_member, &company.account_code(self.own_account));
        let mut entries = vec![
            (side.counter)(self.account(), bill.total_cents()),
            (side.own)(self.own_account, bill.base_cents()),
        ];
        entries.extend(bill.vat().map(|vat| (side.own)(Account::new(side.vat_group, vat.rate), vat.cents)));
        if bill.withheld_cents() > 0 {
            entries.push((side.counter)(Account::new(4751, 0), bill.withheld_cents()));
        }
        let journal = self.journal(side.invoice_text, side.invoices, *day, journal, &entries);
        [bill.write(line).done(), journal]
    }

    fn settlement(&self, day: Day, journal: u32) -> [String; 2] {
        let Self { company, side, .. } = self;
        let mut dice = company.dice(side.settlements, self.number);
        let bank = Account::new(572, dice.between(1, 2));
        let method = *dice.pick(side.methods);
        let amount = self.bill.total_cents();
        let line = company
            .record(side.settlements, self.number)
            .shown("date", day)
            .id(side.invoice_member, company.record_id(side.invoices, self.number))
            .text("invoiceNumber", &self.invoice_number)
            .id(side.other_member, company.record_id(side.others, self.other))
            .text("accountCode", &company.account_code(self.account()))
            .id("accountCodeCorrelationId", company.account_id(self.account()))
            .text("method", method)
            .text("bankAccountCode", &company.account_code(bank))
            .id("bankAccountCodeCorrelationId", company.account_id(bank))
            .euros("amount", amount);
        let entries = [(side.counter)(bank, amount), (side.own)(self.account(), amount)];
        [line.done(), self.journal(side.settlement_text, side.settlements, day, journal, &entries)]
    }

    fn journal(&self, text: &str, document: Resource, day: Day, number: u32, entries: &[Entry]) -> String {
        let text = format!("{text} {} {}", self.invoice_number, self.party.trade_name);
        let document = Some(self.company.record_id(document, self.number));
        Journal { number, day, text: &text, document }.write(self.company, entries)
    }
}
