//! Invoicing's master data: the tenant's company and settings, banks, products, customers, suppliers, contacts.

use std::iter::once;

use crate::Plan;
use crate::calendar::BOOKED_MONTHS;
use crate::change_line::{ChangeLine, RecordId};
use crate::company::{Account, Company};
use crate::invoicing_documents;
use crate::names::{BANKS, slug};
use crate::party::{Party, Person, address};
use crate::resource::Resource;
use crate::rng::{Rng, mix};

pub(crate) const CUSTOMERS: u32 = 12;
pub(crate) const SUPPLIERS: u32 = 6;
const REPRESENTATIVES: u32 = 3;
const CONTACTS: u32 = 8;

const INCOME_TYPES: [(u16, &str); 3] =
    [(700, "Venta de mercaderías"), (705, "Prestación de servicios"), (752, "Alquileres")];
const EXPENSE_TYPES: [(u16, &str); 5] = [
    (600, "Compra de mercaderías"),
    (621, "Alquiler del local"),
    (623, "Profesionales"),
    (628, "Luz, agua y teléfono"),
    (629, "Gastos de oficina"),
];

/// The company that issues the invoices: the first one of the plan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Issuer {
    key: u64,
    pub(crate) company: Company,
}

impl Issuer {
    pub(crate) fn rng(&self, resource: Resource, number: u32) -> Rng {
        Rng::new(mix(mix(self.key, resource as u64), u64::from(number)))
    }

    pub(crate) fn id(&self, resource: Resource, number: u32) -> RecordId {
        RecordId::derive(self.key, resource, u64::from(number))
    }

    pub(crate) fn record(&self, resource: Resource, number: u32) -> ChangeLine {
        ChangeLine::new(resource, None, self.id(resource, number))
    }
}

pub(crate) fn records(plan: Plan) -> impl Iterator<Item = String> {
    let company = Company::new(plan.seed, 0, plan.customers_per_company);
    let issuer = Issuer { key: mix(plan.seed, u64::MAX), company };
    once(company_data(issuer))
        .chain(once(company_settings(issuer)))
        .chain((0..).zip(company.banks()).map(move |(number, bank)| bank_account(issuer, number, bank)))
        .chain(booking_types(issuer, Resource::IncomeType, &INCOME_TYPES))
        .chain(booking_types(issuer, Resource::ExpenseType, &EXPENSE_TYPES))
        .chain(products(issuer))
        .chain((0..REPRESENTATIVES).map(move |number| representative(issuer, number)))
        .chain((0..CUSTOMERS).map(move |number| customer(issuer, number)))
        .chain((0..CONTACTS).map(move |number| contact(issuer, number)))
        .chain((0..SUPPLIERS).map(move |number| supplier(issuer, number)))
        .chain(invoicing_documents::sales(issuer))
        .chain(invoicing_documents::purchases(issuer))
}

fn company_data(issuer: Issuer) -> String {
    let party = issuer.company.party();
    let line = issuer
        .record(Resource::CompanyData, 0)
        .text("name", &party.vat_name)
        .text("tradeName", &party.trade_name)
        .text("vatNumber", &party.vat_number)
        .text("legalForm", party.legal_form.label());
    let line = address(line, &mut issuer.rng(Resource::CompanyData, 0));
    let site = slug(&party.trade_name);
    line.display("email", format_args!("facturacion@{site}.example"))
        .display("website", format_args!("https://www.{site}.example"))
        .finish()
}

fn company_settings(issuer: Issuer) -> String {
    issuer
        .record(Resource::CompanySettings, 0)
        .text("currency", "EUR")
        .text("language", "es-ES")
        .text("invoiceSeries", "FAC")
        .number("defaultVatRate", 21_u32)
        .number("paymentTermDays", 30_u32)
        .number("closedMonths", BOOKED_MONTHS)
        .flag("sendsInvoicesByEmail", true)
        .flag("pricesIncludeVat", false)
        .finish()
}

fn bank_account(issuer: Issuer, number: u32, bank: usize) -> String {
    let (name, code) = BANKS[bank % BANKS.len()];
    let mut rng = issuer.rng(Resource::Bank, number);
    issuer
        .record(Resource::Bank, number)
        .text("name", name)
        .text("iban", &iban(code, rng.between(1, 9_999), rng.next_u64() % 10_000_000_000))
        .text("accountCode", &issuer.company.account_code(Account::new(572, number + 1)))
        .flag("isDefault", number == 0)
        .finish()
}

fn booking_types(
    issuer: Issuer,
    resource: Resource,
    types: &'static [(u16, &'static str)],
) -> impl Iterator<Item = String> {
    types.iter().map(move |(group, description)| {
        issuer
            .record(resource, u32::from(*group))
            .number("code", *group)
            .text("description", description)
            .text("accountCode", &issuer.company.account_code(Account::new(*group, 0)))
            .finish()
    })
}

fn products(issuer: Issuer) -> impl Iterator<Item = String> {
    (0_u32..).zip(issuer.company.sector.items).map(move |(number, item)| {
        issuer
            .record(Resource::Product, number)
            .display("code", format_args!("ART-{:03}", number + 1))
            .text("description", item.text)
            .euros("unitPrice", item.price_cents)
            .number("vatRate", item.vat_rate)
            .flag("isStocked", issuer.company.sector.sales_group != 705)
            .finish()
    })
}

fn representative(issuer: Issuer, number: u32) -> String {
    let mut rng = issuer.rng(Resource::Representative, number);
    let person = Person::random(&mut rng, issuer.key, number);
    issuer
        .record(Resource::Representative, number)
        .display("code", format_args!("R{:02}", number + 1))
        .text("name", &person.full_name())
        .text("vatNumber", &person.vat_number)
        .number("commissionRate", rng.between(2, 6))
        .finish()
}

fn customer(issuer: Issuer, number: u32) -> String {
    let party = issuer.company.customer(number + 1);
    let representative = issuer.rng(Resource::Customer, number).below(REPRESENTATIVES);
    business_partner(issuer, Resource::Customer, number, &party)
        .id("representativeId", issuer.id(Resource::Representative, representative))
        .finish()
}

fn supplier(issuer: Issuer, number: u32) -> String {
    let party = issuer.company.supplier(number + 1);
    business_partner(issuer, Resource::Supplier, number, &party).finish()
}

fn business_partner(issuer: Issuer, resource: Resource, number: u32, party: &Party) -> ChangeLine {
    let name = if party.vat_name.is_empty() { &party.trade_name } else { &party.vat_name };
    let line = issuer
        .record(resource, number)
        .display("code", format_args!("{:05}", number + 1))
        .text("name", name)
        .text("tradeName", &party.trade_name)
        .text("vatNumber", &party.vat_number);
    let line = address(line, &mut issuer.rng(resource, number));
    line.number("paymentTermDays", if number.is_multiple_of(3) { 60_u32 } else { 30 })
}

fn contact(issuer: Issuer, number: u32) -> String {
    let mut rng = issuer.rng(Resource::Contact, number);
    let person = Person::random(&mut rng, issuer.key, REPRESENTATIVES + number);
    let position = *rng.pick(&["Administración", "Compras", "Gerencia", "Almacén"]);
    issuer
        .record(Resource::Contact, number)
        .text("name", &person.full_name())
        .text("position", position)
        .display("email", format_args!("{}@correo.example", slug(&person.full_name())))
        .id("customerId", issuer.id(Resource::Customer, rng.below(CUSTOMERS)))
        .finish()
}

/// The IBAN of an account, with the check digits of the bank account number and of the IBAN.
fn iban(bank: u32, branch: u32, account: u64) -> String {
    let bank_and_branch = u64::from(bank) * 10_000 + u64::from(branch);
    let bban =
        format!("{bank_and_branch:08}{}{}{account:010}", check_digit(bank_and_branch), check_digit(account));
    // ISO 13616: the country code as digits (ES is 1428) and 00 go to the end.
    let remainder =
        bban.bytes().chain(*b"142800").fold(0, |rest, digit| (rest * 10 + u32::from(digit - b'0')) % 97);
    format!("ES{:02}{bban}", 98 - remainder)
}

fn check_digit(mut number: u64) -> u64 {
    let mut sum = 0;
    for weight in [6, 3, 7, 9, 10, 5, 8, 4, 2, 1] {
        sum += number % 10 * weight;
        number /= 10;
    }
    match 11 - sum % 11 {
        11 => 0,
        10 => 1,
        digit => digit,
    }
}

#[cfg(test)]
mod tests {
    use super::iban;

    #[test]
    fn iban_has_the_standard_check_digits() {
        assert_eq!(iban(2_100, 418, 200_051_332), "ES9121000418450200051332");
    }
}
