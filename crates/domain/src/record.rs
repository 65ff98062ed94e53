//! Records: validates the `data` of an upsert and renders the JSON body that the APIs return. The body is stored ready
//! to serve: the writer's members, and those that the store sets.

mod account_link;
mod fields;
mod layout;
mod typed;

use crate::catalogue::{Area, Resource};
use crate::error_code::ErrorCode;
use crate::field_error::FieldError;
use crate::ids::CorrelationId;
use crate::json::{self, Object};
use crate::time::Ticks;

pub use account_link::UnlinkedAccount;
pub use layout::account_code;
pub use typed::PayrollCompany;

/// The `state` of a record, for resources that have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Enabled,
    Disabled,
}

impl State {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enabled => "Enabled",
            Self::Disabled => "Disabled",
        }
    }

    pub fn code(self) -> i16 {
        match self {
            Self::Enabled => 1,
            Self::Disabled => 0,
        }
    }

    pub fn from_code(code: i16) -> Self {
        if code == 0 { Self::Disabled } else { Self::Enabled }
    }
}

/// The validated data of an upsert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upsert {
    /// The members as compact JSON without the braces; may be empty.
    pub members: String,
    pub typed_fields: TypedFields,
    /// The record names an account by its code alone.
    pub unlinked_account: Option<UnlinkedAccount>,
}

/// The fields that the store needs in addition to the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypedFields {
    None,
    Company {
        account_length: u32,
    },
    /// An account code; its company's `accountLength` sets its number of digits.
    AccountCode {
        field: &'static str,
        digits: u32,
    },
    Payroll(PayrollCompany),
}

/// Problems in an accepted change.
pub type Warnings = Vec<FieldError>;

/// Validates the `data` of a change. `outer` is the `correlationId` of the change itself, if it has one.
pub fn check(
    resource: Resource,
    data: &Object,
    outer: Option<&CorrelationId>,
    warnings: &mut Warnings,
) -> Result<Upsert, FieldError> {
    if resource.area() == Area::Payroll {
        return typed::payroll_company(data, warnings);
    }
    refuse_owned_members(resource, data, outer)?;
    match (resource.area(), resource.as_str()) {
        (Area::Accounting, "companies") => typed::company(data, warnings),
        (Area::Accounting, "customers") => typed::customer(data, warnings),
        (Area::Accounting, "accounts") => typed::account(data),
        (Area::Accounting, "suppliers") => Ok(account_link::supplier(data)),
        _ => Ok(opaque(data)),
    }
}

/// Refuses members that the store sets. `correlationId` is allowed in the data if it equals that of the change.
fn refuse_owned_members(
    resource: Resource,
    data: &Object,
    outer: Option<&CorrelationId>,
) -> Result<(), FieldError> {
    for (name, value) in data.members() {
        let owned = match name {
            "version" | "sequenceVersion" => true,
            "state" => resource.has_state(),
            "correlationId" => {
                let inner: Option<String> = serde_json::from_str(value).unwrap_or_default();
                if inner.is_none() || inner.as_deref() != outer.map(CorrelationId::as_str) {
                    return Err(FieldError::new(
                        ErrorCode::CorrelationIdInData,
                        "data.correlationId differs from the change's correlationId; give it next to data, not inside it",
                    )
                    .at("data.correlationId"));
                }
                false
            }
            _ => false,
        };
        if owned {
            let hint =
                if name == "state" { "; use the actions disable and enable" } else { "; leave it out" };
            return Err(FieldError::new(
                ErrorCode::OwnedMember,
                format!("data must not carry \"{name}\": Aldaba sets it{hint}"),
            )
            .at(format!("data.{name}")));
        }
    }
    Ok(())
}

/// The data of a resource whose members the writer defines.
fn opaque(data: &Object) -> Upsert {
    Upsert { members: opaque_members(data), typed_fields: TypedFields::None, unlinked_account: None }
}

fn opaque_members(data: &Object) -> String {
    if data.get("correlationId").is_none() {
        let text = data.text();
        return text[1..text.len() - 1].to_owned();
    }
    let mut out = String::with_capacity(data.text().len());
    for (name, value) in data.members().filter(|(name, _)| *name != "correlationId") {
        push_member(&mut out, name, value);
    }
    out
}

/// Appends `"name":value`, after a comma unless it is the first member.
pub(crate) fn push_member(out: &mut String, name: &str, value: &str) {
    if !out.is_empty() {
        out.push(',');
    }
    json::write_string(name, out);
    out.push(':');
    out.push_str(value);
}

/// The members of a body that the store sets.
#[derive(Clone, Copy, Debug)]
pub struct RecordTail<'a> {
    pub resource: Resource,
    pub correlation_id: &'a str,
    pub state: State,
    pub version: Ticks,
    pub sequence: u64,
}

impl RecordTail<'_> {
    /// The body of an upserted record.
    pub fn body(&self, upsert: &Upsert) -> String {
        match &upsert.typed_fields {
            TypedFields::Payroll(company) => company.body(self.version),
            _ => self.body_of(&upsert.members),
        }
    }
}

/// Whether two lists of members (JSON without the braces) are equal, in any order.
pub fn same_members(one: &str, other: &str) -> bool {
    // Reordering preserves the length, so texts of different length differ: most changes need no parsing.
    one == other
        || (one.len() == other.len()
            && json::canonical(&format!("{{{one}}}")) == json::canonical(&format!("{{{other}}}")))
}

#[cfg(test)]
mod tests;
