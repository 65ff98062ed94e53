//! One company of the sample: its properties, its number of records, and the ids of its records.

use crate::change_line::{ChangeLine, RecordId, push_digits};
use crate::legal_form::LegalForm;
use crate::names::BANKS;
use crate::party::{FIRST_OTHER_INDEX, Party};
use crate::resource::Resource;
use crate::rng::{Rng, mix};
use crate::sectors::Sector;

const FIRST_SUPPLIER_INDEX: u32 = FIRST_OTHER_INDEX + 31_117;
/// One in so many customers has a trade name, but no legal name and no tax identifier.
const NAMELESS_EVERY: u32 = 12;

/// An account of the chart: the digits of its group, and its number in the group.
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
    pub(crate) id: RecordId,
    pub(crate) customers: u32,
    pub(crate) suppliers: u32,
    /// How many rounds of two sales, two purchases, a charge and a payment the year has.
    pub(crate) rounds: u32,
    pub(crate) account_length: u32,
    pub(crate) sector: &'static Sector,
    pub(crate) legal_form: LegalForm,
}

impl Company {
    pub(crate) fn new(seed: u64, index: u32, customers: u32) -> Self {
        let key = mix(seed, u64::from(index));
        let Party { sector, legal_form, .. } = party(seed, index);
        Self {
            seed,
            index,
            key,
            id: RecordId::derive(key, Resource::Companies, 0),
            customers,
            suppliers: (customers / 4).clamp(6, 2_000),
            rounds: if customers == 0 { 0 } else { (customers / 4).clamp(6, 500) },
            account_length: account_length(seed, index, customers),
            sector,
            legal_form,
        }
    }

    pub(crate) fn party(&self) -> Party {
        party(self.seed, self.index)
    }

    pub(crate) fn is_self_employed(&self) -> bool {
        self.legal_form == LegalForm::Person
    }

    pub(crate) fn rng(&self, resource: Resource, number: u32) -> Rng {
        Rng::new(mix(mix(self.key, resource as u64), u64::from(number)))
    }

    pub(crate) fn record_id(&self, resource: Resource, number: u32) -> RecordId {
        RecordId::derive(self.key, resource, u64::from(number))
    }

    pub(crate) fn change_line(&self, resource: Resource, id: RecordId) -> ChangeLine {
        ChangeLine::new(resource, Some(self.id), id)
    }

    /// Starts the change line of record `number` of a resource.
    pub(crate) fn record(&self, resource: Resource, number: u32) -> ChangeLine {
        self.change_line(resource, self.record_id(resource, number))
    }

    pub(crate) fn account_id(&self, account: Account) -> RecordId {
        RecordId::derive(
            self.key,
            Resource::Accounts,
            u64::from(account.group) << 32 | u64::from(account.number),
        )
    }

    /// The group and the number, with zeros between them up to the length of this company's codes.
    pub(crate) fn account_code(&self, account: Account) -> String {
        let Account { group, number } = account;
        let group_length = if group < 1_000 { 3 } else { 4 };
        let width = self.account_length.saturating_sub(group_length) as usize;
        let mut code = String::with_capacity(self.account_length as usize);
        push_digits(&mut code, u64::from(group), 1);
        push_digits(&mut code, u64::from(number), width);
        code
    }

    /// Customer numbers start at 1 and are also the numbers of their accounts.
    pub(crate) fn customer(&self, number: u32) -> Party {
        let mut rng = self.rng(Resource::Customers, number);
        let mut customer = Party::customer(&mut rng, self.key, number);
        if number % NAMELESS_EVERY == 7 {
            customer.vat_name.clear();
            customer.vat_number.clear();
        }
        customer
    }

    /// A random customer that can be invoiced (it has a tax identifier).
    pub(crate) fn random_named_customer(&self, rng: &mut Rng) -> u32 {
        let number = 1 + rng.below(self.customers);
        if number % NAMELESS_EVERY == 7 { number - 1 } else { number }
    }

    pub(crate) fn supplier(&self, number: u32) -> Party {
        let mut rng = self.rng(Resource::Suppliers, number);
        Party::supplier(&mut rng, self.key, FIRST_SUPPLIER_INDEX + number)
    }

    /// The id of the legal entity (core area) that a customer's tax identifier belongs to.
    pub(crate) fn customer_entity_id(&self, number: u32) -> RecordId {
        self.record_id(Resource::CorporateLegalEntities, number)
    }

    pub(crate) fn supplier_entity_id(&self, number: u32) -> RecordId {
        self.record_id(Resource::CorporateLegalEntities, FIRST_SUPPLIER_INDEX + number)
    }

    /// Its two banks, as indexes of `BANKS`.
    pub(crate) fn banks(&self) -> [usize; 2] {
        let first = self.rng(Resource::Bank, 0).below(u32::MAX) as usize % BANKS.len();
        [first, first + 5]
    }
}

fn party(seed: u64, index: u32) -> Party {
    let mut rng = Rng::new(mix(mix(seed, u64::from(index)), Resource::Companies as u64));
    Party::company(&mut rng, mix(seed, Resource::Companies as u64), index)
}

/// 8 to 12 digits, or more if the customers' numbers do not fit after `430`.
fn account_length(seed: u64, index: u32, customers: u32) -> u32 {
    let usual = 8 + u32::try_from((mix(seed, 1) % 5 + u64::from(index)) % 5).unwrap_or_default();
    let needed = 3 + customers.checked_ilog10().map_or(1, |tens| tens + 1);
    usual.max(needed)
}
