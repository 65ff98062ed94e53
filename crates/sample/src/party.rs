//! Whom one does business with: firms, bodies and persons, with their names and tax identifiers.

use std::ops::Range;

use domain::tax_id;

use crate::chance::{Dice, spread};
use crate::form::{COMPANY_FORMS, CUSTOMER_FORMS, Form, SUPPLIER_FORMS};
use crate::line::Line;
use crate::names::{
    ASSOCIATIONS, COMPOUND_SURNAMES, FIRST_NAMES, HOUSES, REGIONS, STREETS, SURNAMES, TOWNS, and, blend,
};
use crate::sectors::{self, Sector};
use crate::services;

/// Customers past the first thousands carry more words in their names: the short ones have run out.
const LONG_NAMES: Range<u32> = 4_000..FIRST_OTHER_INDEX;
/// Who is not a customer is numbered after all customers, so that no two parties share a tax identifier.
pub(crate) const FIRST_OTHER_INDEX: u32 = 9_000_000;

#[derive(Debug)]
pub(crate) struct Party {
    pub(crate) form: Form,
    pub(crate) sector: &'static Sector,
    pub(crate) trade_name: String,
    pub(crate) vat_name: String,
    pub(crate) vat_number: String,
}

impl Party {
    /// `index` tells it from its siblings, `key` stands for whose siblings they are.
    pub(crate) fn company(dice: &mut Dice, key: u64, index: u32) -> Self {
        let form = *dice.pick(COMPANY_FORMS);
        Self::of_form(form, dice, key, index)
    }

    pub(crate) fn customer(dice: &mut Dice, key: u64, index: u32) -> Self {
        // A town hall now and then, each of them once.
        let town = index / 40;
        if index % 40 == 9 && (town as usize) < TOWNS.len() {
            return Self::town_hall(key, town);
        }
        let form = *dice.pick(CUSTOMER_FORMS);
        Self::of_form(form, dice, key, index)
    }

    /// Persons who sell to a company are professionals.
    pub(crate) fn supplier(dice: &mut Dice, key: u64, index: u32) -> Self {
        match *dice.pick(SUPPLIER_FORMS) {
            Form::Person => Self::person(&services::PROFESSIONAL, dice, key, index),
            form => Self::of_form(form, dice, key, index),
        }
    }

    pub(crate) fn of_form(form: Form, dice: &mut Dice, key: u64, index: u32) -> Self {
        let sector = sectors::any(dice);
        let short = !LONG_NAMES.contains(&index);
        let trade_name = match form {
            Form::Person => return Self::person(sector, dice, key, index),
            Form::Owners => owners(dice, short),
            Form::Association => association(dice, short),
            _ => firm(sector, dice, short),
        };
        // Numbers start with a province, 01 to 98.
        let number = 100_000 + spread(index, key, 6_056_537, 9_800_000);
        Self {
            form,
            sector,
            vat_name: format!("{trade_name}{}", form.suffix()),
            trade_name,
            vat_number: tax_id::cif(form.kind(), number),
        }
    }

    fn person(sector: &'static Sector, dice: &mut Dice, key: u64, index: u32) -> Self {
        let human = Human::any(dice, key, index);
        let trade_name = if dice.one_in(3) {
            format!("{} {}", dice.pick(sector.nouns), human.first)
        } else {
            human.full_name()
        };
        let vat_name = human.listed_name();
        Self { form: Form::Person, sector, trade_name, vat_name, vat_number: human.vat_number }
    }

    fn town_hall(key: u64, index: u32) -> Self {
        let rows = u32::try_from(TOWNS.len()).unwrap_or(u32::MAX);
        let (town, code) = TOWNS[spread(index, key, 1, rows) as usize];
        let name = format!("Ayuntamiento de {town}");
        Self {
            form: Form::TownHall,
            sector: &services::PROFESSIONAL,
            trade_name: name.clone(),
            vat_name: name,
            vat_number: tax_id::cif(Form::TownHall.kind(), code * 100),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Human {
    pub(crate) first: &'static str,
    pub(crate) surnames: [&'static str; 2],
    pub(crate) vat_number: String,
}

impl Human {
    pub(crate) fn any(dice: &mut Dice, key: u64, index: u32) -> Self {
        let first = *dice.pick(FIRST_NAMES);
        let compound = dice.one_in(20);
        let surnames = [dice.pick(if compound { COMPOUND_SURNAMES } else { SURNAMES }), dice.pick(SURNAMES)];
        let vat_number = if dice.one_in(9) {
            let prefix = if dice.one_in(3) { 'X' } else { 'Y' };
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

    /// Surnames first, as registers list persons.
    pub(crate) fn listed_name(&self) -> String {
        let [father, mother] = self.surnames;
        let mut listed = format!("{father} {mother}, {}", self.first);
        if let Some(initial) = listed.get_mut(..1) {
            initial.make_ascii_uppercase();
        }
        listed
    }
}

fn firm(sector: &Sector, dice: &mut Dice, short: bool) -> String {
    let noun = dice.pick(sector.nouns);
    let (surname, other) = (dice.pick(SURNAMES), dice.pick(SURNAMES));
    let pattern = if short { dice.below(11) } else { dice.between(6, 10) };
    match pattern {
        0 | 1 => format!("{noun} {surname}"),
        2 | 3 => format!("{noun} {}", dice.pick(HOUSES)),
        4 => format!("{noun} {}", dice.pick(REGIONS)),
        5 => format!("{noun} {surname} e Hijos"),
        6 => format!("{noun} {surname} {} {other}", and(other)),
        7 if short => format!("{noun} {}", blend(surname, other)),
        7 => format!("{noun} {} {}", blend(surname, other), dice.pick(REGIONS)),
        8 => format!("{noun} {} {surname} {other}", dice.pick(FIRST_NAMES)),
        9 => format!("{noun} Hermanos {surname} {other}"),
        _ => format!("{noun} {surname} {}", dice.pick(TOWNS).0),
    }
}

fn owners(dice: &mut Dice, short: bool) -> String {
    let (street, number) = (dice.pick(STREETS), dice.between(1, 140));
    if short {
        format!("Comunidad de Propietarios {street}, {number}")
    } else {
        format!("Comunidad de Propietarios {street}, {number}, {}", dice.pick(TOWNS).0)
    }
}

fn association(dice: &mut Dice, short: bool) -> String {
    let (kind, house) = (dice.pick(ASSOCIATIONS), dice.pick(HOUSES));
    if short { format!("{kind} {house}") } else { format!("{kind} {house} de {}", dice.pick(TOWNS).0) }
}

/// Members of an address in some provincial capital.
pub(crate) fn address(line: Line, dice: &mut Dice) -> Line {
    let (town, code) = dice.pick(TOWNS);
    let (street, number) = (dice.pick(STREETS), dice.between(1, 140));
    line.shown("address", format_args!("{street}, {number}"))
        .shown("postalCode", format_args!("{:02}00{}", code / 1_000, dice.between(1, 3)))
        .text("city", town)
}
