//! What a read hands out: the four records whose fields the contract names, the common form of all others,
//! and a change of the feed.

use domain::Resource;
use domain::record::State;
use utoipa::openapi::schema::{AdditionalProperties, Type};
use utoipa::openapi::{ComponentsBuilder, ObjectBuilder};

use super::examples::{self, COMPANY, RECORD, SEQUENCE, VERSION};
use super::shape::{integer, moment, object, pattern, text};

const ID_CHARS_MAX: usize = 200;
const TAX_ID: &str = "^[A-Z0-9]{0,20}$";
const ACCOUNT_CODE: &str = "^[0-9]{1,20}$";
const EXACT_INTEGER_MAX: i64 = 9_007_199_254_740_991;

/// The name of a resource's schema.
pub(super) fn name(resource: Resource) -> &'static str {
    if resource == Resource::companies() {
        "Company"
    } else if resource == Resource::customers() {
        "Customer"
    } else if resource == Resource::accounts() {
        "Account"
    } else if resource == Resource::payroll_companies() {
        "PayrollCompany"
    } else if resource.has_state() {
        "RecordWithState"
    } else {
        "Record"
    }
}

pub(super) fn schemas(components: ComponentsBuilder) -> ComponentsBuilder {
    let with = |object: ObjectBuilder, resource| object.examples([examples::record(resource)]);
    let of_kind = |wanted: &str| Resource::accounting_family().find(|resource| name(*resource) == wanted);
    let mut components = components
        .schema("Company", with(company(), Resource::companies()))
        .schema("Customer", with(customer(), Resource::customers()))
        .schema("Account", with(account(), Resource::accounts()))
        .schema("PayrollCompany", with(payroll_company(), Resource::payroll_companies()))
        .schema("Change", change().examples([examples::change(Resource::customers())]));
    for kind in ["Record", "RecordWithState"] {
        if let Some(resource) = of_kind(kind) {
            components = components.schema(kind, with(record(resource), resource));
        }
    }
    components
}

pub(super) fn correlation_id(about: &str, example: &str) -> ObjectBuilder {
    text(about, example).min_length(Some(1)).max_length(Some(ID_CHARS_MAX))
}

/// What the store adds to every record of the accounting family.
fn with_tail(members: ObjectBuilder, id: ObjectBuilder, has_state: bool) -> ObjectBuilder {
    let state = ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some("Whether the record is in use."))
        .enum_values(Some([State::Enabled.as_str(), State::Disabled.as_str()]))
        .examples([State::Enabled.as_str()]);
    let tail = [
        ("correlationId", Some(id)),
        ("state", has_state.then_some(state)),
        ("version", Some(moment("When the record was last changed, UTC.", 7, VERSION))),
        ("sequenceVersion", Some(sequence("The number of the record's last change in its tenant's log."))),
    ];
    tail.into_iter().fold(members, |object, (name, member)| match member {
        Some(member) => object.property(name, member).required(name),
        None => object,
    })
}

pub(super) fn sequence(about: &str) -> ObjectBuilder {
    pattern(about, "^[0-9]{1,19}$", SEQUENCE)
}

fn record_id() -> ObjectBuilder {
    correlation_id("The record's id, given by who wrote it.", RECORD)
}

fn company() -> ObjectBuilder {
    let members = object(
        "A company that keeps its books.",
        [
            ("vatName", text("The name under which it is taxed.", "Panadería Núñez S.L.")),
            ("vatNumber", pattern("Its tax identifier.", TAX_ID, "B12345674")),
            ("chartOfAccountId", integer("Its chart of accounts.", 0, EXACT_INTEGER_MAX, 1)),
            ("accountLength", integer("How many digits its account codes have.", 1, 20, 9)),
        ],
    );
    let id = correlation_id("The company's id; the header `context` carries it as `clientId`.", COMPANY);
    with_tail(members, id, true)
}

fn customer() -> ObjectBuilder {
    let members = object(
        "A customer of a company.",
        [
            ("tradeName", text("The name under which it trades.", "Hotel Ávila")),
            ("vatNumber", pattern("Its tax identifier; may be empty.", TAX_ID, "")),
            ("vatName", text("The name under which it is taxed; may be empty.", "")),
            ("accountCode", pattern("The code of its account.", ACCOUNT_CODE, "430000001")),
            ("vatNumberCorrelationId", text("The id of its tax identifier; may be empty.", "")),
            ("accountCodeCorrelationId", text("The id of its account; may be empty.", RECORD)),
        ],
    );
    with_tail(members, record_id(), true)
}

fn account() -> ObjectBuilder {
    let members = object(
        "An account of a company's chart.",
        [
            (
                "code",
                pattern("As many digits as the company's `accountLength` says.", ACCOUNT_CODE, "430000001"),
            ),
            ("description", text("What it is for.", "Hotel Ávila")),
        ],
    );
    with_tail(members, record_id(), true)
}

fn payroll_company() -> ObjectBuilder {
    object(
        "A company whose payroll is kept.",
        [
            ("companyCode", integer("Its number.", 0, EXACT_INTEGER_MAX, 17)),
            ("companyName", text("Its name.", "Panadería Núñez S.L.")),
            ("identifierNumber", pattern("Its tax identifier.", TAX_ID, "B12345674")),
            ("lastUpdate", moment("When it was last changed, UTC.", 3, "2026-11-15T08:30:00.123Z")),
        ],
    )
}

/// Records whose own members are the writer's.
fn record(resource: Resource) -> ObjectBuilder {
    let about = "The members that the writer gave, as they were given, and those that are always there.";
    let members = ObjectBuilder::new().schema_type(Type::Object).description(Some(about));
    let members = members.additional_properties(Some(AdditionalProperties::FreeForm(true)));
    with_tail(members, record_id(), resource.has_state())
}

fn change() -> ObjectBuilder {
    object(
        "One line of a log.",
        [
            ("sequenceVersion", sequence("Its number: ask for what comes `after` it.")),
            ("event", text("What happened, by its semantic name.", "Svc.ACC.Customers.CustomerUpdated")),
            ("correlationId", correlation_id("The record that changed.", RECORD)),
            ("version", moment("When it happened, UTC.", 7, VERSION)),
            ("user", text("Who made the change, as the writer tells; may be empty.", "maria")),
            ("processId", text("The request that brought the change in.", examples::REQUEST_ID)),
        ],
    )
}
