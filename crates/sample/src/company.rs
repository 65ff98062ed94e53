//! One company of the sample: what it is, how much of everything it has, where each of its records stands.

use crate::chance::{Dice, mix};
use crate::form::Form;
use crate::line::{Guid, Line, push_digits};
use crate::names::BANKS;
use crate::party::{FIRST_OTHER_INDEX, Party};
use crate::resource::Resource;
use crate::sectors::Sector;

const FIRST_SUPPLIER_INDEX: u32 = FIRST_OTHER_INDEX + 31_117;
/// Every so many customers, one is known by its trade name alone.
const NAMELESS_EVERY: u32 = 12;

/// A place in the chart: the group's digits, and the number within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Account {
    group: u16,
    number: u32,
}

impl Account {
    pub(crate) fn new(group: u16, number: u32) -> Self {
        Self { group, number }
    }

    pub(crate) fn customer(number: u32) -> Self {
        Self::new(430, number)
    }

    pub(crate) fn supplier(number: u32) -> Self {
        Self::new(400, number)
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Company {
    seed: u64,
    index: u32,
    pub(crate) key: u64,
    pub(crate) id: Guid,
    pub(crate) customers: u32,
    pub(crate) suppliers: u32,
    /// How often the round of two sales, two purchases, a charge and a payment goes by.
    pub(crate) rounds: u32,
    pub(crate) account_length: u32,
    pub(crate) sector: &'static Sector,
    pub(crate) form: Form,
}

impl Company {
    pub(crate) fn new(seed: u64, index: u32, customers: u32) -> Self {
        let key = mix(seed, u64::from(index));
        let Party { sector, form, .. } = party(seed, index);
        Self {
            seed,
            index,
            key,
            id: Guid::of(key, Resource::Companies, 0),
            customers,
            suppliers: (customers / 4).clamp(6, 2_000),
            rounds: if customers == 0 { 0 } else { (customers / 4).clamp(6, 500) },
            account_length: account_length(seed, index, customers),
            sector,
            form,
        }
    }

    pub(crate) fn party(&self) -> Party {
        party(self.seed, self.index)
    }

    pub(crate) fn is_self_employed(&self) -> bool {
        self.form == Form::Person
    }

    pub(crate) fn dice(&self, resource: Resource, number: u32) -> Dice {
        Dice::new(mix(mix(self.key, resource as u64), u64::from(number)))
    }

    pub(crate) fn record_id(&self, resource: Resource, number: u32) -> Guid {
        Guid::of(self.key, resource, u64::from(number))
    }

    pub(crate) fn line(&self, resource: Resource, id: Guid) -> Line {
        Line::new(resource, Some(self.id), id)
    }

    /// The record `number` of a resource, begun.
    pub(crate) fn record(&self, resource: Resource, number: u32) -> Line {
        self.line(resource, self.record_id(resource, number))
    }

    pub(crate) fn account_id(&self, account: Account) -> Guid {
        Guid::of(self.key, Resource::Accounts, u64::from(account.group) << 32 | u64::from(account.number))
    }

    /// Group, zeros, number: as long as this company's codes are.
    pub(crate) fn account_code(&self, account: Account) -> String {
        let Account { group, number } = account;
        let group_length = if group < 1_000 { 3 } else { 4 };
        let width = self.account_length.saturating_sub(group_length) as usize;
        let mut code = String::with_capacity(self.account_length as usize);
        push_digits(&mut code, u64::from(group), 1);
        push_digits(&mut code, u64::from(number), width);
        code
    }

    /// Customers are numbered from 1, as their accounts are.
    pub(crate) fn customer(&self, number: u32) -> Party {
        let mut dice = self.dice(Resource::Customers, number);
        let mut customer = Party::customer(&mut dice, self.key, number);
        if number % NAMELESS_EVERY == 7 {
            customer.vat_name.clear();
            customer.vat_number.clear();
        }
        customer
    }

    /// Any customer to whom an invoice can be made out.
    pub(crate) fn any_named_customer(&self, dice: &mut Dice) -> u32 {
        let number = 1 + dice.below(self.customers);
        if number % NAMELESS_EVERY == 7 { number - 1 } else { number }
    }

    pub(crate) fn supplier(&self, number: u32) -> Party {
        let mut dice = self.dice(Resource::Suppliers, number);
        Party::supplier(&mut dice, self.key, FIRST_SUPPLIER_INDEX + number)
    }

    /// Who a customer's tax identifier belongs to: a legal entity of the core area.
    pub(crate) fn customer_entity_id(&self, number: u32) -> Guid {
        self.record_id(Resource::CorporateLegalEntities, number)
    }

    pub(crate) fn supplier_entity_id(&self, number: u32) -> Guid {
        self.record_id(Resource::CorporateLegalEntities, FIRST_SUPPLIER_INDEX + number)
    }

    /// The two banks it works with, as rows of the table.
    pub(crate) fn banks(&self) -> [usize; 2] {
        let first = self.dice(Resource::Bank, 0).below(u32::MAX) as usize % BANKS.len();
        [first, first + 5]
    }
}

fn party(seed: u64, index: u32) -> Party {
    let mut dice = Dice::new(mix(mix(seed, u64::from(index)), Resource::Companies as u64));
    Party::company(&mut dice, mix(seed, Resource::Companies as u64), index)
}

/// 8 to 12 digits, and more where the customers' numbers would not fit after `430`.
fn account_length(seed: u64, index: u32, customers: u32) -> u32 {
    let usual = 8 + u32::try_from((mix(seed, 1) % 5 + u64::from(index)) % 5).unwrap_or_default();
    let needed = 3 + customers.checked_ilog10().map_or(1, |tens| tens + 1);
    usual.max(needed)
}
