//! Companies, customers and suppliers: their names, addresses and tax identifiers.

use std::ops::Range;

use domain::tax_id;

use crate::change_line::ChangeLine;
use crate::legal_form::{COMPANY_LEGAL_FORMS, CUSTOMER_LEGAL_FORMS, LegalForm, SUPPLIER_LEGAL_FORMS};
use crate::names::{
    ASSOCIATIONS, BUSINESS_NAMES, COMPOUND_SURNAMES, FIRST_NAMES, REGIONS, STREETS, SURNAMES, TOWNS, blend,
    conjunction,
};
use crate::rng::{Rng, spread};
use crate::sectors::{self, Sector};
use crate::service_sectors;

/// Customers with these indexes get longer names, because the short combinations run out after some thousands.
const LONG_NAMES: Range<u32> = 4_000..FIRST_OTHER_INDEX;
/// The indexes of all other parties start after those of customers, so that no two share a tax identifier.
pub(crate) const FIRST_OTHER_INDEX: u32 = 9_000_000;

#[derive(Debug)]
pub(crate) struct Party {
    pub(crate) legal_form: LegalForm,
    pub(crate) sector: &'static Sector,
    pub(crate) trade_name: String,
    pub(crate) vat_name: String,
    pub(crate) vat_number: String,
}

impl Party {
    /// `key` identifies the owner of the list that the party is in, and `index` its position in the list.
    pub(crate) fn company(rng: &mut Rng, key: u64, index: u32) -> Self {
        let legal_form = *rng.pick(COMPANY_LEGAL_FORMS);
        Self::with_legal_form(legal_form, rng, key, index)
    }

    pub(crate) fn customer(rng: &mut Rng, key: u64, index: u32) -> Self {
        // Every 40th customer is a town hall, and each town appears once.
        let town = index / 40;
        if index % 40 == 9 && (town as usize) < TOWNS.len() {
            return Self::town_hall(key, town);
        }
        let legal_form = *rng.pick(CUSTOMER_LEGAL_FORMS);
        Self::with_legal_form(legal_form, rng, key, index)
    }

    /// Suppliers who are persons are professionals.
    pub(crate) fn supplier(rng: &mut Rng, key: u64, index: u32) -> Self {
        match *rng.pick(SUPPLIER_LEGAL_FORMS) {
            LegalForm::Person => Self::person(&service_sectors::PROFESSIONAL, rng, key, index),
            legal_form => Self::with_legal_form(legal_form, rng, key, index),
        }
    }

    pub(crate) fn with_legal_form(legal_form: LegalForm, rng: &mut Rng, key: u64, index: u32) -> Self {
        let sector = sectors::random(rng);
        let short = !LONG_NAMES.contains(&index);
        let trade_name = match legal_form {
            LegalForm::Person => return Self::person(sector, rng, key, index),
            LegalForm::Homeowners => homeowners_name(rng, short),
            LegalForm::Association => association_name(rng, short),
            _ => company_name(sector, rng, short),
        };
        // The first two digits are the province's code, 01 to 98.
        let number = 100_000 + spread(index, key, 6_056_537, 9_800_000);
        Self {
            legal_form,
            sector,
            vat_name: format!("{trade_name}{}", legal_form.suffix()),
            trade_name,
            vat_number: tax_id::cif(legal_form.cif_letter(), number),
        }
    }

    fn person(sector: &'static Sector, rng: &mut Rng, key: u64, index: u32) -> Self {
        let person = Person::random(rng, key, index);
        let trade_name = if rng.one_in(3) {
            format!("{} {}", rng.pick(sector.nouns), person.first)
        } else {
            person.full_name()
        };
        let vat_name = person.listed_name();
        Self { legal_form: LegalForm::Person, sector, trade_name, vat_name, vat_number: person.vat_number }
    }

    fn town_hall(key: u64, index: u32) -> Self {
        let count = u32::try_from(TOWNS.len()).unwrap_or(u32::MAX);
        let (town, code) = TOWNS[spread(index, key, 1, count) as usize];
        let name = format!("Ayuntamiento de {town}");
        Self {
            legal_form: LegalForm::TownHall,
            sector: &service_sectors::PROFESSIONAL,
            trade_name: name.clone(),
            vat_name: name,
            vat_number: tax_id::cif(LegalForm::TownHall.cif_letter(), code * 100),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Person {
    pub(crate) first: &'static str,
    pub(crate) surnames: [&'static str; 2],
    pub(crate) vat_number: String,
}

impl Person {
    pub(crate) fn random(rng: &mut Rng, key: u64, index: u32) -> Self {
        let first = *rng.pick(FIRST_NAMES);
        let compound = rng.one_in(20);
        let surnames = [rng.pick(if compound { COMPOUND_SURNAMES } else { SURNAMES }), rng.pick(SURNAMES)];
        let vat_number = if rng.one_in(9) {
            let prefix = if rng.one_in(3) { 'X' } else { 'Y' };
            tax_id::nie(prefix, 1_000_000 + spread(index, key, 5_438_699, 8_800_000))
        } else {
            tax_id::nif(1_000_000 + spread(index, key, 48_206_651, 78_000_000))
        };
        Self { first, surnames: surnames.map(|surname| *surname), vat_number }
    }

    pub(crate) fn full_name(&self) -> String {
        let [father, mother] = self.surnames;
        format!("{} {father} {mother}", self.first)
    }

    /// Surnames first, as in an official register.
    pub(crate) fn listed_name(&self) -> String {
        let [father, mother] = self.surnames;
        let mut listed = format!("{father} {mother}, {}", self.first);
        if let Some(initial) = listed.get_mut(..1) {
            initial.make_ascii_uppercase();
        }
        listed
    }
}

fn company_name(sector: &Sector, rng: &mut Rng, short: bool) -> String {
    let noun = rng.pick(sector.nouns);
    let (surname, other) = (rng.pick(SURNAMES), rng.pick(SURNAMES));
    let pattern = if short { rng.below(11) } else { rng.between(6, 10) };
    match pattern {
        0 | 1 => format!("{noun} {surname}"),
        2 | 3 => format!("{noun} {}", rng.pick(BUSINESS_NAMES)),
        4 => format!("{noun} {}", rng.pick(REGIONS)),
        5 => format!("{noun} {surname} e Hijos"),
        6 => format!("{noun} {surname} {} {other}", conjunction(other)),
        7 if short => format!("{noun} {}", blend(surname, other)),
        7 => format!("{noun} {} {}", blend(surname, other), rng.pick(REGIONS)),
        8 => format!("{noun} {} {surname} {other}", rng.pick(FIRST_NAMES)),
        9 => format!("{noun} Hermanos {surname} {other}"),
        _ => format!("{noun} {surname} {}", rng.pick(TOWNS).0),
    }
}

fn homeowners_name(rng: &mut Rng, short: bool) -> String {
    let (street, number) = (rng.pick(STREETS), rng.between(1, 140));
    if short {
        format!("Comunidad de Propietarios {street}, {number}")
    } else {
        format!("Comunidad de Propietarios {street}, {number}, {}", rng.pick(TOWNS).0)
    }
}

fn association_name(rng: &mut Rng, short: bool) -> String {
    let (kind, name) = (rng.pick(ASSOCIATIONS), rng.pick(BUSINESS_NAMES));
    if short { format!("{kind} {name}") } else { format!("{kind} {name} de {}", rng.pick(TOWNS).0) }
}

/// Writes the members of a random address in a provincial capital.
pub(crate) fn address(line: ChangeLine, rng: &mut Rng) -> ChangeLine {
    let (town, code) = rng.pick(TOWNS);
    let (street, number) = (rng.pick(STREETS), rng.between(1, 140));
    line.display("address", format_args!("{street}, {number}"))
        .display("postalCode", format_args!("{:02}00{}", code / 1_000, rng.between(1, 3)))
        .text("city", town)
}
