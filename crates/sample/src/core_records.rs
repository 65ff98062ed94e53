//! The records of the core and import areas: legal entities, persons, activities, tax regimes, imported files.

use std::iter::once;

use crate::calendar::{BOOKED_MONTHS, Day, timestamp};
use crate::change_line::{ChangeLine, RecordId};
use crate::company::Company;
use crate::legal_form::LegalForm;
use crate::names::slug;
use crate::party::{FIRST_OTHER_INDEX, Party, Person, address};
use crate::resource::Resource;
use crate::rng::Rng;

/// How many customers of a company have a record of their legal entity.
const CUSTOMER_ENTITIES: u32 = 12;
const FIRST_RELATION_INDEX: u32 = FIRST_OTHER_INDEX + 517_423;
// The numbers of the legal entities of the company itself, its shareholder, its landlords and its manager.
const OWN: u32 = 20_000_500;
const SHAREHOLDER: u32 = OWN + 1;
const LANDLORDS: u32 = OWN + 2;
const MANAGER: u32 = OWN + 3;

pub(crate) fn records(company: Company) -> impl Iterator<Item = String> {
    legal_entities(company)
        .chain((0..3).map(move |number| person(company, number)))
        .chain((0..2).flat_map(move |number| [activity(company, number), estimation(company, number)]))
        .chain((2025..=2026).map(move |year| prorate(company, year)))
        .chain((0..2).map(move |number| licence(company, number)))
        .chain((1..=BOOKED_MONTHS).map(move |month| integration_file(company, month)))
}

fn legal_entities(company: Company) -> impl Iterator<Item = String> {
    let relation = move |number: u32, legal_form| {
        let mut rng = company.rng(Resource::CorporateLegalEntities, number);
        let index = FIRST_RELATION_INDEX + number - OWN;
        let party = Party::with_legal_form(legal_form, &mut rng, company.key, index);
        legal_entity(company, &party, entity_id(company, number), number)
    };
    let relations = [
        (SHAREHOLDER, LegalForm::Limited),
        (LANDLORDS, LegalForm::JointOwnership),
        (MANAGER, LegalForm::Person),
    ];
    let customers = (1..=company.customers.min(CUSTOMER_ENTITIES)).filter_map(move |number| {
        let party = company.customer(number);
        let id = company.customer_entity_id(number);
        (!party.vat_number.is_empty()).then(|| legal_entity(company, &party, id, number))
    });
    once(legal_entity(company, &company.party(), entity_id(company, OWN), OWN))
        .chain(relations.into_iter().map(move |(number, legal_form)| relation(number, legal_form)))
        .chain(customers)
}

fn entity_id(company: Company, number: u32) -> RecordId {
    company.record_id(Resource::CorporateLegalEntities, number)
}

fn legal_entity(company: Company, party: &Party, id: RecordId, number: u32) -> String {
    let mut rng = company.rng(Resource::IndividualLegalEntities, number);
    let resource = match party.legal_form {
        LegalForm::Person => Resource::IndividualLegalEntities,
        legal_form if legal_form.allocates_income() => Resource::IncomeAllocationLegalEntities,
        _ => Resource::CorporateLegalEntities,
    };
    let line = company
        .change_line(resource, id)
        .text("vatName", &party.vat_name)
        .text("vatNumber", &party.vat_number)
        .text("legalForm", party.legal_form.label());
    let line = address(line, &mut rng);
    let line = line.display("email", format_args!("administracion@{}.example", slug(&party.trade_name)));
    if party.legal_form.allocates_income() {
        members(line, company, &mut rng, number).finish()
    } else {
        line.finish()
    }
}

/// The members of a partnership and the percentage of its income that each receives.
fn members(line: ChangeLine, company: Company, rng: &mut Rng, number: u32) -> ChangeLine {
    let share = rng.between(30, 70);
    let shares = [(share, 0), (100 - share, 1)].map(|(percentage, offset)| {
        (
            percentage,
            Person::random(rng, company.key, FIRST_RELATION_INDEX + 100 + 2 * (number % 1_000) + offset),
        )
    });
    line.list("members", shares, |line, (percentage, person)| {
        line.text("vatName", &person.listed_name())
            .text("vatNumber", &person.vat_number)
            .number("percentage", percentage)
    })
}

fn person(company: Company, number: u32) -> String {
    let mut rng = company.rng(Resource::Persons, number);
    let person = Person::random(&mut rng, company.key, FIRST_RELATION_INDEX + 10 + number);
    let [father, mother] = person.surnames;
    let role = match (number, company.is_self_employed()) {
        (0, true) => "Apoderado",
        (0, false) => "Administrador",
        (1, _) => "Responsable de contabilidad",
        _ => "Contacto",
    };
    company
        .record(Resource::Persons, number)
        .text("firstName", person.first)
        .text("surname1", father)
        .text("surname2", mother)
        .text("vatNumber", &person.vat_number)
        .text("role", role)
        .display("email", format_args!("{}.{}@correo.example", slug(person.first), slug(father)))
        .finish()
}

/// The company's own business, and the letting of flats: an exempt activity, so that it has a VAT prorate.
fn activity(company: Company, number: u32) -> String {
    let main = number == 0;
    let (heading, description) =
        if main { (company.sector.iae, company.sector.activity) } else { ("861.1", "Alquiler de viviendas") };
    let year = company.rng(Resource::Activities, number).between(1992, 2024);
    company
        .record(Resource::Activities, number)
        .id("legalEntityCorrelationId", entity_id(company, OWN))
        .text("iaeHeading", heading)
        .text("description", description)
        .text("vatRegime", if main { "General" } else { "Exento" })
        .display("startDate", format_args!("{year}-01-01"))
        .flag("isMain", main)
        .finish()
}

fn estimation(company: Company, number: u32) -> String {
    let method = if company.is_self_employed() { "Directa simplificada" } else { "Directa" };
    company
        .record(Resource::Estimations, number)
        .id("activityCorrelationId", company.record_id(Resource::Activities, number))
        .number("year", 2026_u32)
        .text("method", method)
        .text("tax", if company.is_self_employed() { "IRPF" } else { "Impuesto sobre Sociedades" })
        .finish()
}

/// The final percentage of a year is the provisional percentage of the next.
fn prorate(company: Company, year: u32) -> String {
    let percentage = |year| company.rng(Resource::Prorates, year).between(81, 99);
    let line = company
        .record(Resource::Prorates, year)
        .id("activityCorrelationId", company.record_id(Resource::Activities, 0))
        .number("year", year)
        .text("kind", "General")
        .number("provisionalPercentage", percentage(year - 1));
    if year < 2026 { line.number("finalPercentage", percentage(year)).finish() } else { line.finish() }
}

fn licence(company: Company, number: u32) -> String {
    let module = if number == 0 { "Contabilidad" } else { "Facturación" };
    company
        .record(Resource::LegalEntityLicences, number)
        .id("legalEntityCorrelationId", entity_id(company, OWN))
        .text("module", module)
        .number("users", company.rng(Resource::LegalEntityLicences, number).between(1, 8))
        .text("validFrom", "2026-01-01")
        .text("validTo", "2026-12-31")
        .finish()
}

fn integration_file(company: Company, month: u32) -> String {
    let mut rng = company.rng(Resource::IntegrationFiles, month);
    let (stem, kind) = *rng.pick(&[
        ("facturas_emitidas", "Facturas emitidas"),
        ("facturas_recibidas", "Facturas recibidas"),
        ("extracto_bancario", "Extracto bancario"),
    ]);
    let (records, rejected) = (rng.between(20, 400), rng.below(4));
    company
        .record(Resource::IntegrationFiles, month)
        .display("fileName", format_args!("{stem}_2026_{month:02}.xlsx"))
        .text("kind", kind)
        .text("importedAt", &timestamp(Day::end_of(month).plus(4), &mut rng))
        .number("records", records)
        .number("rejectedRecords", rejected)
        .finish()
}
