//! Journals with balanced entries, and the two kinds that no invoice causes: the opening and the monthly payroll.

use crate::amounts::percent;
use crate::calendar::Day;
use crate::change_line::RecordId;
use crate::company::{Account, Company};
use crate::legal_form::LegalForm;

use crate::resource::Resource;

const MONTHS: [&str; 12] = [
    "enero",
    "febrero",
    "marzo",
    "abril",
    "mayo",
    "junio",
    "julio",
    "agosto",
    "septiembre",
    "octubre",
    "noviembre",
    "diciembre",
];

#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    account: Account,
    debit_cents: u64,
    credit_cents: u64,
}

pub(crate) fn debit(account: Account, debit_cents: u64) -> Entry {
    Entry { account, debit_cents, credit_cents: 0 }
}

pub(crate) fn credit(account: Account, credit_cents: u64) -> Entry {
    Entry { account, debit_cents: 0, credit_cents }
}

pub(crate) struct Journal<'a> {
    pub(crate) number: u32,
    pub(crate) day: Day,
    pub(crate) text: &'a str,
    /// The invoice, charge or payment that it records.
    pub(crate) document: Option<RecordId>,
}

impl Journal<'_> {
    pub(crate) fn write(&self, company: Company, entries: &[Entry]) -> String {
        let mut line = company
            .record(Resource::Journals, self.number)
            .number("number", self.number)
            .display("date", self.day)
            .text("description", self.text)
            .id("accountingYearCorrelationId", company.record_id(Resource::AccountingYears, 2026));
        if let Some(document) = self.document {
            line = line.id("documentCorrelationId", document);
        }
        line.list("lines", entries, |line, entry| {
            line.text("accountCode", &company.account_code(entry.account))
                .id("accountCodeCorrelationId", company.account_id(entry.account))
                .euros("debit", entry.debit_cents)
                .euros("credit", entry.credit_cents)
        })
        .euros("totalDebit", entries.iter().map(|entry| entry.debit_cents).sum())
        .euros("totalCredit", entries.iter().map(|entry| entry.credit_cents).sum())
        .finish()
    }
}

/// The opening balance, carried over from last year.
pub(crate) fn opening(company: Company) -> String {
    let mut rng = company.rng(Resource::Journals, 1);
    let mut any = |low, high| rng.between(low, high);
    // The legal minimum of each form; the odd amounts are round sums in pesetas.
    let (capital_group, capital) = match company.legal_form {
        LegalForm::PublicLimited => (100, 6_010_121),
        LegalForm::Person => (102, 0),
        _ => (100, 300_600),
    };
    let bank = capital + u64::from(any(800_000, 6_000_000));
    let stock = u64::from(any(200_000, 4_000_000));
    let machinery = u64::from(any(500_000, 6_000_000));
    let computers = u64::from(any(150_000, 900_000));
    let depreciation = percent(machinery + computers, any(20, 60));
    let loan = percent(machinery, any(10, 30));
    let own_funds = bank + stock + machinery + computers - depreciation - loan;
    let mut entries = vec![
        debit(Account::new(213, 0), machinery),
        debit(Account::new(217, 0), computers),
        debit(Account::new(300, 0), stock),
        debit(Account::new(572, 1), bank),
        credit(Account::new(281, 0), depreciation),
        credit(Account::new(170, 0), loan),
    ];
    if company.is_self_employed() {
        entries.push(credit(Account::new(capital_group, 0), own_funds));
    } else {
        entries.push(credit(Account::new(capital_group, 0), capital));
        entries.push(credit(Account::new(113, 0), own_funds - capital));
    }
    Journal { number: 1, day: Day::FIRST, text: "Asiento de apertura", document: None }
        .write(company, &entries)
}

/// A month's payroll: gross pay and social security as debits, the creditors as credits.
pub(crate) fn wages(company: Company, number: u32, month: u32) -> String {
    let staff = u64::from(company.rng(Resource::PayrollCompanies, 0).between(1, 14));
    let extra = u64::from(company.rng(Resource::PayrollCompanies, month).below(20_000));
    let gross = staff * 178_000 + extra;
    let employer_share = percent(gross, 32);
    let worker_share = percent(gross, 6);
    let income_tax = percent(gross, 13);
    let entries = [
        debit(Account::new(640, 0), gross),
        debit(Account::new(642, 0), employer_share),
        credit(Account::new(476, 0), employer_share + worker_share),
        credit(Account::new(4751, 0), income_tax),
        credit(Account::new(465, 0), gross - worker_share - income_tax),
    ];
    let name = MONTHS.get(month as usize - 1).copied().unwrap_or_default();
    let text = format!("Nóminas de {name}");
    Journal { number, day: Day::end_of(month), text: &text, document: None }.write(company, &entries)
}
