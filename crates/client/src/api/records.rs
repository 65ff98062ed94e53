//! The records of the contract, typed, and one type for all others.

use std::fmt;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// Whether a record is in use.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    Enabled,
    Disabled,
    /// A word that this version of the client does not know.
    Other(String),
}

impl State {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Enabled => "Enabled",
            Self::Disabled => "Disabled",
            Self::Other(word) => word,
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
            word if word == "Enabled" => Self::Enabled,
            word if word == "Disabled" => Self::Disabled,
            word => Self::Other(word),
        })
    }
}

/// A number that travels as text.
pub(crate) mod number {
    use super::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over like this")]
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
    pub vat_name: String,
    pub vat_number: String,
    pub state: State,
    pub chart_of_account_id: i64,
    /// How many digits the codes of its accounts have.
    pub account_length: i64,
    /// What the context of its records names.
    pub correlation_id: String,
    /// ISO 8601, UTC, 7 digits of a second.
    pub version: String,
    #[serde(with = "number")]
    pub sequence_version: u64,
}

/// A customer of a company.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Customer {
    pub trade_name: String,
    pub state: State,
    /// May be empty.
    #[serde(default)]
    pub vat_number: String,
    /// May be empty.
    #[serde(default)]
    pub vat_name: String,
    pub account_code: String,
    pub correlation_id: String,
    /// May be empty.
    #[serde(default)]
    pub vat_number_correlation_id: String,
    #[serde(default)]
    pub account_code_correlation_id: String,
    pub version: String,
    #[serde(with = "number")]
    pub sequence_version: u64,
}

/// An account of a company.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Account {
    pub correlation_id: String,
    pub code: String,
    pub description: String,
    pub state: State,
    pub version: String,
    #[serde(with = "number")]
    pub sequence_version: u64,
}

/// A company of the payroll API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PayrollCompany {
    pub company_code: i64,
    pub company_name: String,
    /// Its tax identifier.
    pub identifier_number: String,
    /// ISO 8601, UTC, milliseconds.
    pub last_update: String,
}

/// A record of any resource of the accounting family.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Record {
    pub correlation_id: String,
    /// Only of accounts, customers, suppliers and companies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    pub version: String,
    #[serde(with = "number")]
    pub sequence_version: u64,
    /// All other members, as they came.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

impl Record {
    /// The record as a type of one's own.
    pub fn read_as<T: DeserializeOwned>(&self) -> Result<T, crate::Error> {
        let unreadable = |error: serde_json::Error| crate::Error::InvalidResponse {
            call: format!("record {}", self.correlation_id),
            reason: error.to_string(),
        };
        let whole = serde_json::to_value(self).map_err(unreadable)?;
        T::deserialize(whole).map_err(|error| unreadable(serde_json::Error::custom(error)))
    }
}
