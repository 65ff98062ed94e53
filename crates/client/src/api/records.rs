//! The typed records of the contract, and a generic type for all other resources.

use std::fmt;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// Whether a record is in use.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// The record is in use.
    Enabled,
    /// The record is no longer in use.
    Disabled,
    /// A state that this version of the client does not know.
    Other(String),
}

impl State {
    /// The value in the API.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Enabled => "Enabled",
            Self::Disabled => "Disabled",
            Self::Other(name) => name,
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for State {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.as_str().serialize(to)
    }
}

impl<'de> Deserialize<'de> for State {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(match String::deserialize(from)? {
            name if name == "Enabled" => Self::Enabled,
            name if name == "Disabled" => Self::Disabled,
            name => Self::Other(name),
        })
    }
}

/// Serialises a number as a JSON string.
pub(crate) mod number {
    use super::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
    pub(crate) fn serialize<S: Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
        number.to_string().serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A company of the accounting API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Company {
    /// The name for tax purposes.
    pub vat_name: String,
    /// The tax identifier.
    pub vat_number: String,
    /// Whether the company is in use.
    pub state: State,
    /// The id of its chart of accounts.
    pub chart_of_account_id: i64,
    /// The number of digits of its account codes.
    pub account_length: i64,
    /// The id of the record, which is also the company in the context of its records.
    pub correlation_id: String,
    /// The time of the last change: ISO 8601, UTC, 7 digits of a second.
    pub version: String,
    /// The log position of the last change of this record.
    #[serde(with = "number")]
    pub sequence_version: u64,
}

/// A customer of a company.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Customer {
    /// The trade name.
    pub trade_name: String,
    /// Whether the customer is in use.
    pub state: State,
    /// The tax identifier; may be empty.
    #[serde(default)]
    pub vat_number: String,
    /// The name for tax purposes; may be empty.
    #[serde(default)]
    pub vat_name: String,
    /// The code of the customer's account.
    pub account_code: String,
    /// The id of the record.
    pub correlation_id: String,
    /// The id that belongs to the tax identifier; may be empty.
    #[serde(default)]
    pub vat_number_correlation_id: String,
    /// The id of the customer's account.
    #[serde(default)]
    pub account_code_correlation_id: String,
    /// The time of the last change: ISO 8601, UTC, 7 digits of a second.
    pub version: String,
    /// The log position of the last change of this record.
    #[serde(with = "number")]
    pub sequence_version: u64,
}

/// An account of a company.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Account {
    /// The id of the record.
    pub correlation_id: String,
    /// The account code; only digits.
    pub code: String,
    /// The name of the account.
    pub description: String,
    /// Whether the account is in use.
    pub state: State,
    /// The time of the last change: ISO 8601, UTC, 7 digits of a second.
    pub version: String,
    /// The log position of the last change of this record.
    #[serde(with = "number")]
    pub sequence_version: u64,
}

/// A company of the payroll API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PayrollCompany {
    /// The number of the company; its id.
    pub company_code: i64,
    /// The name of the company.
    pub company_name: String,
    /// The tax identifier.
    pub identifier_number: String,
    /// The time of the last update: ISO 8601, UTC, milliseconds.
    pub last_update: String,
}

/// A record of any resource of the accounting family.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Record {
    /// The id of the record.
    pub correlation_id: String,
    /// Only accounts, customers, suppliers and companies have a state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// The time of the last change: ISO 8601, UTC, 7 digits of a second.
    pub version: String,
    /// The log position of the last change of this record.
    #[serde(with = "number")]
    pub sequence_version: u64,
    /// All other members.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

impl Record {
    /// Deserialises the record into your own type.
    pub fn read_as<T: DeserializeOwned>(&self) -> Result<T, crate::Error> {
        let unreadable = |error: serde_json::Error| crate::Error::InvalidResponse {
            call: format!("record {}", self.correlation_id),
            reason: error.to_string(),
        };
        let whole = serde_json::to_value(self).map_err(unreadable)?;
        T::deserialize(whole).map_err(|error| unreadable(serde_json::Error::custom(error)))
    }
}
