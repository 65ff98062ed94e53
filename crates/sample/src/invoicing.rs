//! Invoicing's entities that stand by themselves: the tenant's own data, its products, whom it deals with.

use std::iter::once;

use crate::Plan;
use crate::calendar::BOOKED_MONTHS;
use crate::chance::{Dice, mix};
use crate::company::{Account, Company};
use crate::documents;
use crate::line::{Guid, Line};
use crate::names::{BANKS, slug};
use crate::party::{Human, Party, address};
use crate::resource::Resource;

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

/// Who writes the invoices: the plan's first company.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Issuer {
    key: u64,
    pub(crate) company: Company,
}

impl Issuer {
    pub(crate) fn dice(&self, resource: Resource, number: u32) -> Dice {
        Dice::new(mix(mix(self.key, resource as u64), u64::from(number)))
    }

    pub(crate) fn id(&self, resource: Resource, number: u32) -> Guid {
        Guid::of(self.key, resource, u64::from(number))
    }

    pub(crate) fn record(&self, resource: Resource, number: u32) -> Line {
        Line::new(resource, None, self.id(resource, number))
    }
}

pub(crate) fn entities(plan: Plan) -> impl Iterator<Item = String> {
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
        .chain(documents::sales(issuer))
        .chain(documents::purchases(issuer))
}

fn company_data(issuer: Issuer) -> String {
    let party = issuer.company.party();
    let line = issuer
        .record(Resource::CompanyData, 0)
        .text("name", &party.vat_name)
        .text("tradeName", &party.trade_name)
        .text("vatNumber", &party.vat_number)
        .text("legalForm", party.form.label());
    let line = address(line, &mut issuer.dice(Resource::CompanyData, 0));
    let site = slug(&party.trade_name);
    line.shown("email", format_args!("facturacion@{site}.example"))
        .shown("website", format_args!("https://www.{site}.example"))
        .done()
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
        .done()
}

fn bank_account(issuer: Issuer, number: u32, bank: usize) -> String {
    let (name, code) = BANKS[bank % BANKS.len()];
    let mut dice = issuer.dice(Resource::Bank, number);
    issuer
        .record(Resource::Bank, number)
        .text("name", name)
        .text("iban", &iban(code, dice.between(1, 9_999), dice.roll() % 10_000_000_000))
        .text("accountCode", &issuer.company.account_code(Account::new(572, number + 1)))
        .flag("isDefault", number == 0)
        .done()
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
            .done()
    })
}

fn products(issuer: Issuer) -> impl Iterator<Item = String> {
    (0_u32..).zip(issuer.company.sector.items).map(move |(number, item)| {
        issuer
            .record(Resource::Product, number)
            .shown("code", format_args!("ART-{:03}", number + 1))
            .text("description", item.text)
            .euros("unitPrice", item.price_cents)
            .number("vatRate", item.vat_rate)
            .flag("isStocked", issuer.company.sector.sales_group != 705)
            .done()
    })
}

fn representative(issuer: Issuer, number: u32) -> String {
    let mut dice = issuer.dice(Resource::Representative, number);
    let human = Human::any(&mut dice, issuer.key, number);
    issuer
        .record(Resource::Representative, number)
        .shown("code", format_args!("R{:02}", number + 1))
        .text("name", &human.full_name())
        .text("vatNumber", &human.vat_number)
        .number("commissionRate", dice.between(2, 6))
        .done()
}

fn customer(issuer: Issuer, number: u32) -> String {
    let party = issuer.company.customer(number + 1);
    let representative = issuer.dice(Resource::Customer, number).below(REPRESENTATIVES);
    dealer(issuer, Resource::Customer, number, &party)
        .id("representativeId", issuer.id(Resource::Representative, representative))
        .done()
}

fn supplier(issuer: Issuer, number: u32) -> String {
    let party = issuer.company.supplier(number + 1);
    dealer(issuer, Resource::Supplier, number, &party).done()
}

fn dealer(issuer: Issuer, resource: Resource, number: u32, party: &Party) -> Line {
    let name = if party.vat_name.is_empty() { &party.trade_name } else { &party.vat_name };
    let line = issuer
        .record(resource, number)
        .shown("code", format_args!("{:05}", number + 1))
        .text("name", name)
        .text("tradeName", &party.trade_name)
        .text("vatNumber", &party.vat_number);
    let line = address(line, &mut issuer.dice(resource, number));
    line.number("paymentTermDays", if number.is_multiple_of(3) { 60_u32 } else { 30 })
}

fn contact(issuer: Issuer, number: u32) -> String {
    let mut dice = issuer.dice(Resource::Contact, number);
    let human = Human::any(&mut dice, issuer.key, REPRESENTATIVES + number);
    let position = *dice.pick(&["Administración", "Compras", "Gerencia", "Almacén"]);
    issuer
        .record(Resource::Contact, number)
        .text("name", &human.full_name())
        .text("position", position)
        .shown("email", format_args!("{}@correo.example", slug(&human.full_name())))
        .id("customerId", issuer.id(Resource::Customer, dice.below(CUSTOMERS)))
        .done()
}

/// An account number with the control digits that banks check, and the IBAN's own two in front.
fn iban(bank: u32, branch: u32, account: u64) -> String {
    let office = u64::from(bank) * 10_000 + u64::from(branch);
    let bban = format!("{office:08}{}{}{account:010}", bank_control(office), bank_control(account));
    // ES as 1428, then 00, moved to the end.
    let remainder =
        bban.bytes().chain(*b"142800").fold(0, |rest, digit| (rest * 10 + u32::from(digit - b'0')) % 97);
    format!("ES{:02}{bban}", 98 - remainder)
}

fn bank_control(mut number: u64) -> u64 {
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
    fn an_iban_is_the_textbooks() {
        assert_eq!(iban(2_100, 418, 200_051_332), "ES9121000418450200051332");
    }
}
