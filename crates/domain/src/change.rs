//! Parses and validates one change of a request to the changes endpoint.

use crate::catalogue::{Area, Owner, Resource};
use crate::error_code::ErrorCode;
use crate::field_error::FieldError;
use crate::ids::{CorrelationId, Guid};
use crate::json::Object;
use crate::record::{self, PayrollCompany, TypedFields, Upsert, Warnings};
use crate::suggest::did_you_mean;

/// The maximum length of the descriptive members (`user`, `sourceInterface`, `sourceAction`).
pub const LABEL_CHARS_MAX: usize = 200;

const MEMBERS: [&str; 9] = [
    "area",
    "resource",
    "company",
    "action",
    "correlationId",
    "data",
    "user",
    "sourceInterface",
    "sourceAction",
];
const ACTIONS: [&str; 5] = ["upsert", "disable", "enable", "delete", "fail"];

/// What a change does to a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Upsert(Upsert),
    Disable,
    Enable,
    Delete,
    /// Another system failed to process the record: publish an `ErrorOccurred` event and change nothing.
    Fail,
}

/// A valid change to one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub resource: Resource,
    /// The company that owns the record, for resources that a company owns.
    pub company: Option<CorrelationId>,
    pub correlation_id: CorrelationId,
    pub action: Action,
    pub user: Box<str>,
    pub source_interface: Box<str>,
    pub source_action: Box<str>,
}

/// The result of parsing a change: the change, whether its correlation id was generated, and warnings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedChange {
    pub change: Change,
    pub id_was_generated: bool,
    pub warnings: Warnings,
}

impl Change {
    /// Parses one change. `generate_id` makes the correlation id of a change that has none.
    pub fn parse(line: &[u8], generate_id: impl FnOnce() -> Guid) -> Result<ParsedChange, FieldError> {
        let object = Object::parse(line)
            .map_err(|error| FieldError::new(ErrorCode::InvalidJson, error.to_string()))?;
        let line = Line(&object);
        line.refuse_unknown_members()?;
        let resource = line.resource()?;
        let company = line.company(resource)?;
        let mut warnings = Warnings::new();
        let given_id = line.correlation_id()?;
        let data = line.data()?;
        let action = line.action(resource, data.as_ref(), given_id.as_ref(), &mut warnings)?;
        let given_id = if resource.area() == Area::Payroll {
            Some(payroll_key(&action, data.as_ref(), given_id)?)
        } else {
            given_id
        };
        let id_was_generated = given_id.is_none();
        if id_was_generated && !matches!(action, Action::Upsert(_) | Action::Fail) {
            return Err(FieldError::new(
                ErrorCode::MissingMember,
                "correlationId is missing: it names the record to change",
            )
            .at("correlationId"));
        }
        let change = Self {
            resource,
            company,
            correlation_id: given_id.unwrap_or_else(|| CorrelationId::from(generate_id())),
            action,
            user: line.label("user")?,
            source_interface: line.label("sourceInterface")?,
            source_action: line.label("sourceAction")?,
        };
        Ok(ParsedChange { change, id_was_generated, warnings })
    }
}

/// The `companyCode` of a payroll company is its correlation id.
fn payroll_key(
    action: &Action,
    data: Option<&Object>,
    given: Option<CorrelationId>,
) -> Result<CorrelationId, FieldError> {
    let code = match action {
        Action::Upsert(Upsert { typed_fields: TypedFields::Payroll(company), .. }) => Some(company.code),
        _ => data.and_then(|data| data.get("companyCode")).and_then(|code| code.parse().ok()),
    };
    match (code.map(PayrollCompany::key), given) {
        (Some(key), Some(given)) if key != given.as_str() => Err(FieldError::new(
            ErrorCode::InvalidMember,
            format!("correlationId is \"{given}\" but data.companyCode is {key}; leave correlationId out"),
        )
        .at("correlationId")),
        (Some(key), _) => Ok(CorrelationId::new(key)),
        (None, Some(given)) => Ok(given),
        (None, None) => Err(FieldError::new(
            ErrorCode::MissingMember,
            "data.companyCode is missing: it names the company to change",
        )
        .at("data.companyCode")),
    }
}

struct Line<'a>(&'a Object);

impl Line<'_> {
    fn refuse_unknown_members(&self) -> Result<(), FieldError> {
        for (name, _) in self.0.members() {
            if !MEMBERS.contains(&name) {
                let message = format!("unknown member \"{name}\"{}", did_you_mean(name, MEMBERS));
                return Err(FieldError::new(ErrorCode::UnknownMember, message).at(name.to_owned()));
            }
        }
        Ok(())
    }

    fn text(&self, name: &'static str) -> Result<Option<String>, FieldError> {
        match self.0.get(name) {
            None | Some("null") => Ok(None),
            Some(value) => serde_json::from_str(value).map(Some).map_err(|_| {
                FieldError::new(ErrorCode::InvalidMember, format!("{name} must be a string")).at(name)
            }),
        }
    }

    fn required(&self, name: &'static str) -> Result<String, FieldError> {
        self.text(name)?
            .ok_or_else(|| FieldError::new(ErrorCode::MissingMember, format!("{name} is missing")).at(name))
    }

    fn resource(&self) -> Result<Resource, FieldError> {
        let area_name = self.required("area")?;
        let Some(area) = Area::parse(&area_name) else {
            let known = Area::ALL.map(Area::as_str);
            let hint = did_you_mean(&area_name, known);
            let message = format!("unknown area \"{area_name}\"{hint}; areas are {}", known.join(", "));
            return Err(FieldError::new(ErrorCode::UnknownArea, message).at("area"));
        };
        let name = self.required("resource")?;
        Resource::find(area, &name).ok_or_else(|| {
            let known = Resource::all().filter(|resource| resource.area() == area).map(Resource::as_str);
            let hint = did_you_mean(&name, known);
            FieldError::new(
                ErrorCode::UnknownResource,
                format!("unknown resource \"{name}\" in area {area_name}{hint}"),
            )
            .at("resource")
        })
    }

    fn company(&self, resource: Resource) -> Result<Option<CorrelationId>, FieldError> {
        let given = self.text("company")?;
        match (resource.owner(), given) {
            (Owner::Company, None) => {
                let message = format!("company is missing: {} belong to a company", resource.as_str());
                Err(FieldError::new(ErrorCode::MissingMember, message).at("company"))
            }
            (Owner::Company, Some(company)) => CorrelationId::parse(&company).map(Some).map_err(|why| {
                FieldError::new(ErrorCode::InvalidMember, format!("company {why}")).at("company")
            }),
            (Owner::Tenant, None) => Ok(None),
            (Owner::Tenant, Some(_)) => {
                let message = format!("company must be left out: the tenant owns {}", resource.as_str());
                Err(FieldError::new(ErrorCode::UnexpectedMember, message).at("company"))
            }
        }
    }

    fn correlation_id(&self) -> Result<Option<CorrelationId>, FieldError> {
        let Some(text) = self.text("correlationId")? else {
            return Ok(None);
        };
        CorrelationId::parse(&text).map(Some).map_err(|why| {
            FieldError::new(ErrorCode::InvalidMember, format!("correlationId {why}")).at("correlationId")
        })
    }

    fn data(&self) -> Result<Option<Object>, FieldError> {
        match self.0.get("data") {
            None | Some("null") => Ok(None),
            Some(value) if value.starts_with('{') => Object::parse(value.as_bytes())
                .map(Some)
                .map_err(|error| FieldError::new(ErrorCode::InvalidJson, error.to_string()).at("data")),
            Some(_) => Err(FieldError::new(ErrorCode::InvalidMember, "data must be an object").at("data")),
        }
    }

    fn label(&self, name: &'static str) -> Result<Box<str>, FieldError> {
        let text = self.text(name)?.unwrap_or_default();
        if text.len() > LABEL_CHARS_MAX && text.chars().count() > LABEL_CHARS_MAX {
            let message = format!("{name} must have at most {LABEL_CHARS_MAX} characters");
            return Err(FieldError::new(ErrorCode::InvalidMember, message).at(name));
        }
        Ok(text.into())
    }

    fn action(
        &self,
        resource: Resource,
        data: Option<&Object>,
        id: Option<&CorrelationId>,
        warnings: &mut Warnings,
    ) -> Result<Action, FieldError> {
        let name = self.required("action")?;
        let action = match name.as_str() {
            "upsert" => {
                let data = data.ok_or_else(|| {
                    FieldError::new(
                        ErrorCode::MissingMember,
                        "data is missing: an upsert carries the whole record",
                    )
                    .at("data")
                })?;
                return record::check(resource, data, id, warnings).map(Action::Upsert);
            }
            "disable" => Action::Disable,
            "enable" => Action::Enable,
            "delete" => Action::Delete,
            "fail" => Action::Fail,
            _ => {
                let hint = did_you_mean(&name, ACTIONS);
                let message = format!("unknown action \"{name}\"{hint}; actions are {}", ACTIONS.join(", "));
                return Err(FieldError::new(ErrorCode::UnknownAction, message).at("action"));
            }
        };
        refuse_impossible(resource, &action, &name)?;
        let may_have_data = matches!(action, Action::Fail) || resource.area() == Area::Payroll;
        if !may_have_data && data.is_some_and(|data| !data.is_empty()) {
            let message = format!("data is allowed only with upsert; {name} ignores it, so leave it out");
            return Err(FieldError::new(ErrorCode::UnexpectedMember, message).at("data"));
        }
        Ok(action)
    }
}

fn refuse_impossible(resource: Resource, action: &Action, action_name: &str) -> Result<(), FieldError> {
    let possible = match action {
        Action::Upsert(_) => true,
        Action::Disable | Action::Enable => resource.has_state(),
        Action::Delete => resource.can_be_deleted(),
        Action::Fail => resource.is_accounting_family(),
    };
    if possible {
        return Ok(());
    }
    let name = resource.as_str();
    let why = match action {
        Action::Delete if resource.has_state() => {
            format!("{name} are never deleted, only disabled: use disable")
        }
        Action::Delete => format!("{name} cannot be deleted, only updated"),
        Action::Fail => format!("{name} have no ErrorOccurred event"),
        _ => format!("{name} have no state, so {action_name} does nothing for them"),
    };
    Err(FieldError::new(ErrorCode::ActionNotAllowed, why).at("action"))
}

#[cfg(test)]
mod tests;
