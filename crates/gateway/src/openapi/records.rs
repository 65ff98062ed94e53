//! The schemas of the records: the four whose members the contract defines, the common form of all others, and a
//! change of the feed.

use domain::Resource;
use domain::record::State;
use utoipa::openapi::schema::{AdditionalProperties, Type};
use utoipa::openapi::{ComponentsBuilder, ObjectBuilder};

use super::examples::{self, COMPANY, RECORD, SEQUENCE, VERSION};
use super::schema_types::{date_time, integer, object, pattern, text};

/// The name of the schema of a change in a feed.
pub(super) const CHANGE: &str = "ChangeEvent";
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
        "GenericRecordWithState"
    } else {
        "GenericRecord"
    }
}

pub(super) fn schemas(components: ComponentsBuilder) -> ComponentsBuilder {
    let with = |object: ObjectBuilder, resource| object.examples([examples::record(resource)]);
    let first_with = |schema: &str| Resource::accounting_family().find(|resource| name(*resource) == schema);
    let mut components = components
        .schema("Company", with(company(), Resource::companies()))
        .schema("Customer", with(customer(), Resource::customers()))
        .schema("Account", with(account(), Resource::accounts()))
        .schema("PayrollCompany", with(payroll_company(), Resource::payroll_companies()))
        .schema(CHANGE, change().examples([examples::change(Resource::customers())]));
    for schema in ["GenericRecord", "GenericRecordWithState"] {
        if let Some(resource) = first_with(schema) {
            components = components.schema(schema, with(record(resource), resource));
        }
    }
    components
}

pub(super) fn correlation_id(description: &str, example: &str) -> ObjectBuilder {
    text(description, example).min_length(Some(1)).max_length(Some(ID_CHARS_MAX))
}

/// Adds the members that the store sets in every record of the accounting family.
fn with_store_members(members: ObjectBuilder, id: ObjectBuilder, has_state: bool) -> ObjectBuilder {
    let state = ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some("Whether the record is in use."))
        .enum_values(Some([State::Enabled.as_str(), State::Disabled.as_str()]))
        .examples([State::Enabled.as_str()]);
    let store_members = [
        ("correlationId", Some(id)),
        ("state", has_state.then_some(state)),
        ("version", Some(date_time("When the record was last changed, UTC.", 7, VERSION))),
        (
            "sequenceVersion",
            Some(sequence("The sequence number of the record's last change in the tenant's log.")),
        ),
    ];
    store_members.into_iter().fold(members, |object, (name, member)| match member {
        Some(member) => object.property(name, member).required(name),
        None => object,
    })
}

pub(super) fn sequence(description: &str) -> ObjectBuilder {
    pattern(description, "^[0-9]{1,19}$", SEQUENCE)
}

fn record_id() -> ObjectBuilder {
    correlation_id("The record's id, set by its writer.", RECORD)
}

fn company() -> ObjectBuilder {
    let members = object(
        "A company with its own books.",
        [
            ("vatName", text("The company's name for tax purposes.", "Panadería Núñez S.L.")),
            ("vatNumber", pattern("The company's tax identifier.", TAX_ID, "B12345674")),
            ("chartOfAccountId", integer("The company's chart of accounts.", 0, EXACT_INTEGER_MAX, 1)),
            ("accountLength", integer("The number of digits of the company's account codes.", 1, 20, 9)),
        ],
    );
    let id = correlation_id("The company's id; the header `context` carries it as `clientId`.", COMPANY);
    with_store_members(members, id, true)
}

fn customer() -> ObjectBuilder {
    let members = object(
        "A customer of a company.",
        [
            ("tradeName", text("The customer's trade name.", "Hotel Ávila")),
            ("vatNumber", pattern("The customer's tax identifier; may be empty.", TAX_ID, "")),
            ("vatName", text("The customer's name for tax purposes; may be empty.", "")),
            ("accountCode", pattern("The code of the customer's account.", ACCOUNT_CODE, "430000001")),
            ("vatNumberCorrelationId", text("The id of the tax identifier; may be empty.", "")),
            ("accountCodeCorrelationId", text("The id of the account.", RECORD)),
        ],
    );
    with_store_members(members, record_id(), true)
}

fn account() -> ObjectBuilder {
    let members = object(
        "An account in a company's chart of accounts.",
        [
            (
                "code",
                pattern(
                    "The account code; its length is the company's `accountLength`.",
                    ACCOUNT_CODE,
                    "430000001",
                ),
            ),
            ("description", text("What the account is for.", "Hotel Ávila")),
        ],
    );
    with_store_members(members, record_id(), true)
}

fn payroll_company() -> ObjectBuilder {
    object(
        "A company in the payroll product.",
        [
            ("companyCode", integer("The company's number.", 0, EXACT_INTEGER_MAX, 17)),
            ("companyName", text("The company's name.", "Panadería Núñez S.L.")),
            ("identifierNumber", pattern("The company's tax identifier.", TAX_ID, "B12345674")),
            (
                "lastUpdate",
                date_time("When the company was last changed, UTC.", 3, "2026-11-15T08:30:00.123Z"),
            ),
        ],
    )
}

/// Records whose members the writer defines.
fn record(resource: Resource) -> ObjectBuilder {
    let description =
        "A record with the members that its writer sent, unchanged, and those that every record has.";
    let members = ObjectBuilder::new().schema_type(Type::Object).description(Some(description));
    let members = members.additional_properties(Some(AdditionalProperties::FreeForm(true)));
    with_store_members(members, record_id(), resource.has_state())
}

fn change() -> ObjectBuilder {
    object(
        "One change of a record.",
        [
            ("sequenceVersion", sequence("The change's sequence number; pass it as `after` to read on.")),
            ("event", text("The event's semantic name.", "Svc.ACC.Customers.CustomerUpdated")),
            ("correlationId", correlation_id("The record that changed.", RECORD)),
            ("version", date_time("When the change happened, UTC.", 7, VERSION)),
            ("user", text("The user who made the change, as sent by the writer; may be empty.", "maria")),
            ("processId", text("The id of the request that carried the change.", examples::REQUEST_ID)),
        ],
    )
}
