//! The core area and the import area: who is behind a company and its customers, and how it is taxed.

use std::iter::once;

use crate::calendar::{BOOKED_MONTHS, Day, moment};
use crate::chance::Dice;
use crate::company::Company;
use crate::form::Form;
use crate::line::{Guid, Line};
use crate::names::slug;
use crate::party::{FIRST_OTHER_INDEX, Human, Party, address};
use crate::resource::Resource;

/// So many customers have their legal entity's own record.
const CUSTOMER_ENTITIES: u32 = 12;
const FIRST_RELATION_INDEX: u32 = FIRST_OTHER_INDEX + 517_423;
/// The company itself, the firm that holds a share of it, its landlords, its manager.
const OWN: u32 = 20_000_500;
const SHAREHOLDER: u32 = OWN + 1;
const LANDLORDS: u32 = OWN + 2;
const MANAGER: u32 = OWN + 3;

pub(crate) fn all(company: Company) -> impl Iterator<Item = String> {
    legal_entities(company)
        .chain((0..3).map(move |number| person(company, number)))
        .chain((0..2).flat_map(move |number| [activity(company, number), estimation(company, number)]))
        .chain((2025..=2026).map(move |year| prorate(company, year)))
        .chain((0..2).map(move |number| licence(company, number)))
        .chain((1..=BOOKED_MONTHS).map(move |month| integration_file(company, month)))
}

fn legal_entities(company: Company) -> impl Iterator<Item = String> {
    let relation = move |number: u32, form| {
        let mut dice = company.dice(Resource::CorporateLegalEntities, number);
        let index = FIRST_RELATION_INDEX + number - OWN;
        let party = Party::of_form(form, &mut dice, company.key, index);
        legal_entity(company, &party, entity_id(company, number), number)
    };
    let relations = [(SHAREHOLDER, Form::Limited), (LANDLORDS, Form::SharedGoods), (MANAGER, Form::Person)];
    let customers = (1..=company.customers.min(CUSTOMER_ENTITIES)).filter_map(move |number| {
        let party = company.customer(number);
        let id = company.customer_entity_id(number);
        (!party.vat_number.is_empty()).then(|| legal_entity(company, &party, id, number))
    });
    once(legal_entity(company, &company.party(), entity_id(company, OWN), OWN))
        .chain(relations.into_iter().map(move |(number, form)| relation(number, form)))
        .chain(customers)
}

fn entity_id(company: Company, number: u32) -> Guid {
    company.record_id(Resource::CorporateLegalEntities, number)
}

fn legal_entity(company: Company, party: &Party, id: Guid, number: u32) -> String {
    let mut dice = company.dice(Resource::IndividualLegalEntities, number);
    let resource = match party.form {
        Form::Person => Resource::IndividualLegalEntities,
        form if form.allocates_income() => Resource::IncomeAllocationLegalEntities,
        _ => Resource::CorporateLegalEntities,
    };
    let line = company
        .line(resource, id)
        .text("vatName", &party.vat_name)
        .text("vatNumber", &party.vat_number)
        .text("legalForm", party.form.label());
    let line = address(line, &mut dice);
    let line = line.shown("email", format_args!("administracion@{}.example", slug(&party.trade_name)));
    if party.form.allocates_income() { members(line, company, &mut dice, number).done() } else { line.done() }
}

/// Who shares the income of a partnership, and how.
fn members(line: Line, company: Company, dice: &mut Dice, number: u32) -> Line {
    let share = dice.between(30, 70);
    let shares = [(share, 0), (100 - share, 1)].map(|(percentage, place)| {
        (percentage, Human::any(dice, company.key, FIRST_RELATION_INDEX + 100 + 2 * (number % 1_000) + place))
    });
    line.list("members", shares, |line, (percentage, human)| {
        line.text("vatName", &human.listed_name())
            .text("vatNumber", &human.vat_number)
            .number("percentage", percentage)
    })
}

fn person(company: Company, number: u32) -> String {
    let mut dice = company.dice(Resource::Persons, number);
    let human = Human::any(&mut dice, company.key, FIRST_RELATION_INDEX + 10 + number);
    let [father, mother] = human.surnames;
    let role = match (number, company.is_self_employed()) {
        (0, true) => "Apoderado",
        (0, false) => "Administrador",
        (1, _) => "Responsable de contabilidad",
        _ => "Contacto",
    };
    company
        .record(Resource::Persons, number)
        .text("firstName", human.first)
        .text("surname1", father)
        .text("surname2", mother)
        .text("vatNumber", &human.vat_number)
        .text("role", role)
        .shown("email", format_args!("{}.{}@correo.example", slug(human.first), slug(father)))
        .done()
}

/// Its business, and the flats it lets: an exempt activity, which is why there is a prorate.
fn activity(company: Company, number: u32) -> String {
    let main = number == 0;
    let (heading, description) =
        if main { (company.sector.iae, company.sector.activity) } else { ("861.1", "Alquiler de viviendas") };
    let year = company.dice(Resource::Activities, number).between(1992, 2024);
    company
        .record(Resource::Activities, number)
        .id("legalEntityCorrelationId", entity_id(company, OWN))
        .text("iaeHeading", heading)
        .text("description", description)
        .text("vatRegime", if main { "General" } else { "Exento" })
        .shown("startDate", format_args!("{year}-01-01"))
        .flag("isMain", main)
        .done()
}

fn estimation(company: Company, number: u32) -> String {
    let method = if company.is_self_employed() { "Directa simplificada" } else { "Directa" };
    company
        .record(Resource::Estimations, number)
        .id("activityCorrelationId", company.record_id(Resource::Activities, number))
        .number("year", 2026_u32)
        .text("method", method)
        .text("tax", if company.is_self_employed() { "IRPF" } else { "Impuesto sobre Sociedades" })
        .done()
}

/// The final percentage of a year is the provisional one of the next.
fn prorate(company: Company, year: u32) -> String {
    let percentage = |year| company.dice(Resource::Prorates, year).between(81, 99);
    let line = company
        .record(Resource::Prorates, year)
        .id("activityCorrelationId", company.record_id(Resource::Activities, 0))
        .number("year", year)
        .text("kind", "General")
        .number("provisionalPercentage", percentage(year - 1));
    if year < 2026 { line.number("finalPercentage", percentage(year)).done() } else { line.done() }
}

fn licence(company: Company, number: u32) -> String {
    let module = if number == 0 { "Contabilidad" } else { "Facturación" };
    company
        .record(Resource::LegalEntityLicences, number)
        .id("legalEntityCorrelationId", entity_id(company, OWN))
        .text("module", module)
        .number("users", company.dice(Resource::LegalEntityLicences, number).between(1, 8))
        .text("validFrom", "2026-01-01")
        .text("validTo", "2026-12-31")
        .done()
}

fn integration_file(company: Company, month: u32) -> String {
    let mut dice = company.dice(Resource::IntegrationFiles, month);
    let (stem, kind) = *dice.pick(&[
        ("facturas_emitidas", "Facturas emitidas"),
        ("facturas_recibidas", "Facturas recibidas"),
        ("extracto_bancario", "Extracto bancario"),
    ]);
    let (records, rejected) = (dice.between(20, 400), dice.below(4));
    company
        .record(Resource::IntegrationFiles, month)
        .shown("fileName", format_args!("{stem}_2026_{month:02}.xlsx"))
        .text("kind", kind)
        .text("importedAt", &moment(Day::end_of(month).plus(4), &mut dice))
        .number("records", records)
        .number("rejectedRecords", rejected)
        .done()
}
