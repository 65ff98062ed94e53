//! The four records whose fields the contract defines: company, customer, account and payroll company.

use serde::Deserialize;

use super::account_link::{MEMBER, UnlinkedAccount};
use super::fields::{Fields, invalid};
use super::{TypedFields, Upsert, Warnings, push_member};
use crate::error_code::ErrorCode;
use crate::field_error::FieldError;
use crate::json::{Object, write_string};
use crate::tax_id::{self, Check};
use crate::time::Ticks;

const TAX_ID_CHARS_MAX: usize = 20;
const ACCOUNT_LENGTH_MAX: i64 = 20;
/// The largest integer that every JSON parser represents exactly (2^53 - 1).
const EXACT_INTEGER_MAX: i64 = 9_007_199_254_740_991;

pub(super) fn company(data: &Object, warnings: &mut Warnings) -> Result<Upsert, FieldError> {
    let fields = Fields::of(data, &["vatName", "vatNumber", "chartOfAccountId", "accountLength"])?;
    let vat_number = tax_id(fields.text("vatNumber")?, "vatNumber", warnings)?;
    let account_length = fields.integer("accountLength", 1, ACCOUNT_LENGTH_MAX)?;
    let mut members = Members::default();
    members.text("vatName", &fields.text("vatName")?);
    members.text("vatNumber", &vat_number);
    members.number("chartOfAccountId", fields.integer("chartOfAccountId", 0, EXACT_INTEGER_MAX)?);
    members.number("accountLength", account_length);
    let account_length = u32::try_from(account_length).unwrap_or(0);
    let typed_fields = TypedFields::Company { account_length };
    Ok(Upsert { members: members.0, typed_fields, unlinked_account: None })
}

pub(super) fn customer(data: &Object, warnings: &mut Warnings) -> Result<Upsert, FieldError> {
    let fields = Fields::of(
        data,
        &["tradeName", "vatNumber", "vatName", "accountCode", "vatNumberCorrelationId", MEMBER],
    )?;
    let vat_number = tax_id(fields.text_or_empty("vatNumber")?, "vatNumber", warnings)?;
    let vat_name = fields.text_or_empty("vatName")?;
    if vat_name.is_empty() != vat_number.is_empty() {
        let (empty, given) =
            if vat_name.is_empty() { ("vatName", "vatNumber") } else { ("vatNumber", "vatName") };
        let message = format!("data.{empty} is empty while {given} is given; accepted");
        warnings.push(FieldError::new(ErrorCode::IncompleteTaxData, message).at(format!("data.{empty}")));
    }
    let code = fields.text("accountCode")?;
    let digits = code_digits(&code, "accountCode")?;
    let mut members = Members::default();
    members.text("tradeName", &fields.text("tradeName")?);
    members.text("vatNumber", &vat_number);
    members.text("vatName", &vat_name);
    members.text("accountCode", &code);
    members.text("vatNumberCorrelationId", &fields.text_or_empty("vatNumberCorrelationId")?);
    let account = fields.text_or_empty(MEMBER)?;
    members.text(MEMBER, &account);
    let unlinked_account = account.is_empty().then(|| UnlinkedAccount::at_end_of(&members.0, &code));
    let typed_fields = TypedFields::AccountCode { field: "accountCode", digits };
    Ok(Upsert { members: members.0, typed_fields, unlinked_account })
}

pub(super) fn account(data: &Object) -> Result<Upsert, FieldError> {
    let fields = Fields::of(data, &["code", "description"])?;
    let code = fields.text("code")?;
    let digits = code_digits(&code, "code")?;
    let mut members = Members::default();
    members.text("code", &code);
    members.text("description", &fields.text("description")?);
    let typed_fields = TypedFields::AccountCode { field: "code", digits };
    Ok(Upsert { members: members.0, typed_fields, unlinked_account: None })
}

pub(super) fn payroll_company(data: &Object, warnings: &mut Warnings) -> Result<Upsert, FieldError> {
    let fields = Fields::of(data, &["companyCode", "companyName", "identifierNumber", "lastUpdate"])?;
    let last_update = match fields.optional_text("lastUpdate")? {
        None => None,
        Some(text) => Some(
            Ticks::parse_iso(&text)
                .ok_or_else(|| {
                    invalid("lastUpdate", "must be an ISO 8601 time such as 2026-11-15T08:30:00.000Z")
                })?
                .to_millisecond(),
        ),
    };
    let company = PayrollCompany {
        code: fields.integer("companyCode", 0, EXACT_INTEGER_MAX)?,
        name: fields.text("companyName")?,
        identifier: tax_id(fields.text("identifierNumber")?, "identifierNumber", warnings)?,
        last_update,
    };
    let typed_fields = TypedFields::Payroll(company);
    Ok(Upsert { members: String::new(), typed_fields, unlinked_account: None })
}

/// A payroll company; `last_update` is `None` if the writer gave none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayrollCompany {
    pub code: i64,
    pub name: String,
    pub identifier: String,
    pub last_update: Option<Ticks>,
}

impl PayrollCompany {
    /// The correlation id of the company with this code.
    pub fn key(code: i64) -> String {
        code.to_string()
    }

    /// The body of the record; `lastUpdate` defaults to the time of the commit.
    pub fn body(&self, committed: Ticks) -> String {
        let mut members = Members::default();
        members.number("companyCode", self.code);
        members.text("companyName", &self.name);
        members.text("identifierNumber", &self.identifier);
        members.text("lastUpdate", &self.last_update(committed).iso_millis());
        format!("{{{}}}", members.0)
    }

    pub fn last_update(&self, committed: Ticks) -> Ticks {
        self.last_update.unwrap_or(committed).to_millisecond()
    }

    /// Parses a body that `body` rendered.
    pub fn from_body(body: &str) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Body {
            company_code: i64,
            company_name: String,
            identifier_number: String,
            last_update: String,
        }
        let stored: Body = serde_json::from_str(body).ok()?;
        Some(Self {
            code: stored.company_code,
            name: stored.company_name,
            identifier: stored.identifier_number,
            last_update: Ticks::parse_iso(&stored.last_update),
        })
    }

    /// Whether an upsert of `self` over `stored` would change nothing.
    pub fn is_unchanged_from(&self, stored: &Self) -> bool {
        self.code == stored.code
            && self.name == stored.name
            && self.identifier == stored.identifier
            && (self.last_update.is_none() || self.last_update == stored.last_update)
    }
}

fn tax_id(text: String, field: &'static str, warnings: &mut Warnings) -> Result<String, FieldError> {
    let well_formed = text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    if text.len() > TAX_ID_CHARS_MAX || !well_formed {
        return Err(invalid(
            field,
            "must be at most 20 capital letters (A-Z) and digits, without spaces or hyphens",
        ));
    }
    if tax_id::check(&text) == Check::WrongControl {
        warnings.push(
            FieldError::new(
                ErrorCode::WrongControl,
                format!("data.{field} {text} has a wrong control character; accepted"),
            )
            .at(format!("data.{field}")),
        );
    }
    Ok(text)
}

fn code_digits(code: &str, field: &'static str) -> Result<u32, FieldError> {
    if code.is_empty() || !code.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(invalid(field, "must be made of digits"));
    }
    Ok(u32::try_from(code.len()).unwrap_or(u32::MAX))
}

#[derive(Default)]
struct Members(String);

impl Members {
    fn text(&mut self, name: &str, value: &str) {
        let mut quoted = String::with_capacity(value.len() + 2);
        write_string(value, &mut quoted);
        push_member(&mut self.0, name, &quoted);
    }

    fn number(&mut self, name: &str, value: i64) {
        push_member(&mut self.0, name, &value.to_string());
    }
}
