//! The transactions of the year by date: sales and purchases, their charges and payments, each with its journal.

use std::iter::once;

use crate::amounts::Amounts;
use crate::calendar::{BOOKED_MONTHS, Day};
use crate::company::{Account, Company};
use crate::journal::{self, Entry, Journal, credit, debit};
use crate::party::Party;
use crate::resource::Resource;

/// One round is a sale, a purchase, a charge, a sale, a purchase and a payment.
const STEPS_PER_ROUND: u32 = 6;

/// Sales or purchases: their resources, accounts and member names. A sale credits what a purchase debits.
struct TransactionKind {
    invoices: Resource,
    settlements: Resource,
    counterparties: Resource,
    counterparty_group: u16,
    vat_group: u16,
    counterparty_member: &'static str,
    invoice_member: &'static str,
    own_account_member: &'static str,
    invoice_text: &'static str,
    settlement_text: &'static str,
    methods: &'static [&'static str],
    due_days: u32,
    /// The step of the round that holds the first invoice.
    first_step: u32,
    own_entry: fn(Account, u64) -> Entry,
    counterparty_entry: fn(Account, u64) -> Entry,
}

impl TransactionKind {
    /// The date of an invoice. A round has two, half a round apart.
    fn day(&self, company: Company, number: u32) -> Day {
        let step = number / 2 * STEPS_PER_ROUND + number % 2 * (STEPS_PER_ROUND / 2) + self.first_step;
        Day::of_step(step, steps(company))
    }
}

static SALES: TransactionKind = TransactionKind {
    invoices: Resource::IssuedInvoices,
    settlements: Resource::Charges,
    counterparties: Resource::Customers,
    counterparty_group: 430,
    vat_group: 477,
    counterparty_member: "customerCorrelationId",
    invoice_member: "issuedInvoiceCorrelationId",
    own_account_member: "salesAccountCode",
    invoice_text: "N/fra.",
    settlement_text: "Cobro fra.",
    methods: &["Transferencia", "Recibo domiciliado", "Tarjeta", "Pagaré", "Bizum"],
    due_days: 30,
    first_step: 0,
    own_entry: credit,
    counterparty_entry: debit,
};

static PURCHASES: TransactionKind = TransactionKind {
    invoices: Resource::InputInvoices,
    settlements: Resource::Payments,
    counterparties: Resource::Suppliers,
    counterparty_group: 400,
    vat_group: 472,
    counterparty_member: "supplierCorrelationId",
    invoice_member: "inputInvoiceCorrelationId",
    own_account_member: "expenseAccountCode",
    invoice_text: "S/fra.",
    settlement_text: "Pago fra.",
    methods: &["Transferencia", "Recibo domiciliado", "Confirming", "Tarjeta"],
    due_days: 60,
    first_step: 1,
    own_entry: debit,
    counterparty_entry: credit,
};

pub(crate) fn records(company: Company) -> impl Iterator<Item = String> {
    let steps = steps(company);
    once(journal::opening(company)).chain((0..=steps).flat_map(move |step| {
        let since = if step == 0 { 1 } else { Day::of_step(step - 1, steps).month() };
        let until = if step == steps { BOOKED_MONTHS + 1 } else { Day::of_step(step, steps).month() };
        // Journal 1 is the opening entry. Every step and every month's payroll so far has one number.
        let wages = (since..until).map(move |month| journal::wages(company, 1 + step + month, month));
        let transaction = (step < steps).then(|| step_records(company, step, 1 + step + until));
        wages.chain(transaction.into_iter().flatten())
    }))
}

/// The document of a step and its journal. Only half of the invoices are settled, so that some stay open.
fn step_records(company: Company, step: u32, journal: u32) -> [String; 2] {
    let round = step / STEPS_PER_ROUND;
    let day = Day::of_step(step, steps(company));
    match step % STEPS_PER_ROUND {
        0 => Transaction::sale(company, 2 * round).invoice(journal),
        1 => Transaction::purchase(company, 2 * round).invoice(journal),
        2 => Transaction::sale(company, round).settlement(day, journal),
        3 => Transaction::sale(company, 2 * round + 1).invoice(journal),
        4 => Transaction::purchase(company, 2 * round + 1).invoice(journal),
        _ => Transaction::purchase(company, round).settlement(day, journal),
    }
}

fn steps(company: Company) -> u32 {
    company.rounds * STEPS_PER_ROUND
}

/// A sale or a purchase. Its settlement computes it again, so nothing is stored.
struct Transaction {
    company: Company,
    kind: &'static TransactionKind,
    number: u32,
    day: Day,
    invoice_number: String,
    /// The number of the customer or supplier.
    counterparty: u32,
    party: Party,
    amounts: Amounts,
    own_account: Account,
}

impl Transaction {
    fn sale(company: Company, number: u32) -> Self {
        let mut rng = company.rng(SALES.invoices, number);
        let counterparty = company.random_named_customer(&mut rng);
        Self {
            company,
            kind: &SALES,
            number,
            day: SALES.day(company, number),
            invoice_number: format!("F26/{:05}", number + 1),
            counterparty,
            party: company.customer(counterparty),
            amounts: Amounts::random(&mut rng, company.sector),
            own_account: Account::new(company.sector.sales_group, 0),
        }
    }

    fn purchase(company: Company, number: u32) -> Self {
        let mut rng = company.rng(PURCHASES.invoices, number);
        let counterparty = 1 + rng.below(company.suppliers);
        let party = company.supplier(counterparty);
        let amounts = Amounts::for_supplier(&mut rng, &party);
        let day = PURCHASES.day(company, number);
        let series = rng.pick(&["A", "B", "FV", "V"]);
        Self {
            company,
            kind: &PURCHASES,
            number,
            day,
            invoice_number: format!("{series}{:02}-{:04}", day.month(), rng.between(1, 2_500)),
            counterparty,
            amounts,
            own_account: Account::new(party.sector.cost_group, 0),
            party,
        }
    }

    fn account(&self) -> Account {
        Account::new(self.kind.counterparty_group, self.counterparty)
    }

    fn invoice(&self, journal: u32) -> [String; 2] {
        let Self { company, kind, day, amounts, .. } = self;
        let line = company
            .record(kind.invoices, self.number)
            .text("invoiceNumber", &self.invoice_number)
            .display("date", day)
            .display("dueDate", day.plus(kind.due_days))
            .id(kind.counterparty_member, company.record_id(kind.counterparties, self.counterparty))
            .text("vatNumber", &self.party.vat_number)
            .text("vatName", &self.party.vat_name)
            .text("accountCode", &company.account_code(self.account()))
            .id("accountCodeCorrelationId", company.account_id(self.account()))
            .text(kind.own_account_member, &company.account_code(self.own_account));
        let mut entries = vec![
            (kind.counterparty_entry)(self.account(), amounts.total_cents()),
            (kind.own_entry)(self.own_account, amounts.base_cents()),
        ];
        entries.extend(
            amounts.vat().map(|vat| (kind.own_entry)(Account::new(kind.vat_group, vat.rate), vat.cents)),
        );
        if amounts.withheld_cents() > 0 {
            entries.push((kind.counterparty_entry)(Account::new(4751, 0), amounts.withheld_cents()));
        }
        let journal = self.journal(kind.invoice_text, kind.invoices, *day, journal, &entries);
        [amounts.write(line).finish(), journal]
    }

    fn settlement(&self, day: Day, journal: u32) -> [String; 2] {
        let Self { company, kind, .. } = self;
        let mut rng = company.rng(kind.settlements, self.number);
        let bank = Account::new(572, rng.between(1, 2));
        let method = *rng.pick(kind.methods);
        let amount = self.amounts.total_cents();
        let line = company
            .record(kind.settlements, self.number)
            .display("date", day)
            .id(kind.invoice_member, company.record_id(kind.invoices, self.number))
            .text("invoiceNumber", &self.invoice_number)
            .id(kind.counterparty_member, company.record_id(kind.counterparties, self.counterparty))
            .text("accountCode", &company.account_code(self.account()))
            .id("accountCodeCorrelationId", company.account_id(self.account()))
            .text("method", method)
            .text("bankAccountCode", &company.account_code(bank))
            .id("bankAccountCodeCorrelationId", company.account_id(bank))
            .euros("amount", amount);
        let entries = [(kind.counterparty_entry)(bank, amount), (kind.own_entry)(self.account(), amount)];
        [line.finish(), self.journal(kind.settlement_text, kind.settlements, day, journal, &entries)]
    }

    fn journal(&self, text: &str, document: Resource, day: Day, number: u32, entries: &[Entry]) -> String {
        let text = format!("{text} {} {}", self.invoice_number, self.party.trade_name);
        let document = Some(self.company.record_id(document, self.number));
        Journal { number, day, text: &text, document }.write(self.company, entries)
    }
}
