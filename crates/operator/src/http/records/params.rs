//! The query parameters and the body of the operations on records.

use std::borrow::Cow;

use domain::ids::CORRELATION_ID_CHARS_MAX;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use crate::admin::{EditAction, NewRecordEdit, RECORD_ROWS_MAX, WebhookCursor};
use crate::error::AdminError;
use crate::http::schema_types::{EditReason, WHOLE_MAX};
use crate::http::variants::{Variant, one_of};

/// The company that the records belong to.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct CompanyId(pub(super) String);

impl TryFrom<String> for CompanyId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let count = text.chars().count();
        if text.contains('\0') || !(1..=CORRELATION_ID_CHARS_MAX).contains(&count) {
            return Err(format!("company has 1 to {CORRELATION_ID_CHARS_MAX} characters, none of them NUL"));
        }
        Ok(Self(text))
    }
}

/// Numbers in query parameters and in the log's text form: digits without leading zeros.
macro_rules! numbers {
    ($($(#[doc = $doc:literal])* $name:ident($kind:ty): $range:expr;)*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, Deserialize)]
        #[serde(try_from = "String")]
        pub(super) struct $name(pub(super) $kind);

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                let range = $range;
                let number: Option<$kind> = text.parse().ok().filter(|number| range.contains(number));
                let canonical = number.filter(|number| number.to_string() == text);
                let (from, to) = (range.start(), range.end());
                canonical.map(Self).ok_or_else(|| format!("it is a whole number from {from} to {to}, not {text:?}"))
            }
        }
    )*};
}

/// The largest number that an entry of the log can be asked for by.
const SEQUENCE_MAX: u64 = 999_999_999_999_999_999;

numbers! {
    /// How many records to skip.
    Offset(u64): 0..=WHOLE_MAX;
    RecordPageSize(usize): 1..=RECORD_ROWS_MAX;
    WebhooksPageSize(usize): 1..=50;
    /// The number of a change in the log.
    Sequence(u64): 0..=SEQUENCE_MAX;
}

impl PartialSchema for Sequence {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::new(Type::String))
            .description(Some("The number of a change in the log, as text."))
            .pattern(Some("^(0|[1-9][0-9]{0,17})$"))
            .examples(["1018"])
            .build()
            .into()
    }
}

impl ToSchema for Sequence {}

/// Whose records.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct OwnerParams {
    /// The company's correlationId, where the resource belongs to a company; leave it out elsewhere.
    #[param(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"^[^\x00]*$")]
    pub(super) company: Option<CompanyId>,
}

/// The query of a list of records.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct RecordListParams {
    /// The company's correlationId, where the resource belongs to a company; leave it out elsewhere.
    #[param(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"^[^\x00]*$")]
    pub(super) company: Option<CompanyId>,
    /// How many records to skip: the `next` of the page before.
    #[param(value_type = u64, required = false, minimum = 0, maximum = 9_007_199_254_740_991_i64, default = 0)]
    pub(super) offset: Option<Offset>,
    /// The largest number of records on the page.
    #[param(value_type = u16, required = false, minimum = 1, maximum = 100, default = 50)]
    pub(super) page_size: Option<RecordPageSize>,
}

/// The query of a record's history.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct HistoryParams {
    /// The company's correlationId, where the resource belongs to a company; leave it out elsewhere.
    #[param(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"^[^\x00]*$")]
    pub(super) company: Option<CompanyId>,
    /// The `next` of the page before; leave it out for the newest changes.
    #[param(schema_with = Sequence::schema, required = false)]
    pub(super) before: Option<Sequence>,
    /// The largest number of changes on the page.
    #[param(value_type = u16, required = false, minimum = 1, maximum = 100, default = 50)]
    pub(super) page_size: Option<RecordPageSize>,
}

/// The query of a comparison.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct DiffParams {
    /// The company's correlationId, where the resource belongs to a company; leave it out elsewhere.
    #[param(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"^[^\x00]*$")]
    pub(super) company: Option<CompanyId>,
    /// One version: the number of its change.
    #[param(value_type = String, pattern = "^(0|[1-9][0-9]{0,17})$", example = "1018")]
    pub(super) from: Sequence,
    /// The other version.
    #[param(value_type = String, pattern = "^(0|[1-9][0-9]{0,17})$", example = "1018")]
    pub(super) to: Sequence,
}

/// The query of a record's notifications.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct NotifiedParams {
    /// The company's correlationId, where the resource belongs to a company; leave it out elsewhere.
    #[param(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"^[^\x00]*$")]
    pub(super) company: Option<CompanyId>,
    /// Only notifications of the change with this number; without it, those of the newest 20.
    #[param(schema_with = Sequence::schema, required = false)]
    pub(super) change: Option<Sequence>,
    /// The largest number of webhooks on the page.
    #[param(value_type = u16, required = false, minimum = 1, maximum = 50, default = 20)]
    pub(super) page_size: Option<WebhooksPageSize>,
    /// The `next` of the page before; leave it out for the first page.
    #[param(
        value_type = String,
        required = false,
        pattern = "^(0|[1-9][0-9]{0,17})\\.[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
    )]
    pub(super) after: Option<Cursor>,
}

/// The `next` of a page of webhooks.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Cursor(pub(super) WebhookCursor);

impl TryFrom<String> for Cursor {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum ActionName {
    Upsert,
    Disable,
    Enable,
    Delete,
}

/// An edit of a record.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewRecordEdit)]
pub(super) struct NewEdit {
    action: ActionName,
    /// The whole record, for an upsert; without the members that the service sets.
    #[schema(value_type = Option<Object>)]
    data: Option<Box<RawValue>>,
    reason: EditReason,
    /// The record's `sequenceVersion` that you read, 0 if there was no record: with another one stored, nothing changes and
    /// the response is 409 (`record_changed`). Without it, the edit is applied to whatever is stored.
    sequence_version: Option<Sequence>,
}

impl NewEdit {
    pub(super) fn into_edit(self) -> Result<NewRecordEdit, AdminError> {
        let action = match (self.action, self.data) {
            (ActionName::Upsert, Some(data)) => EditAction::Upsert(data.get().to_owned()),
            (ActionName::Upsert, None) => {
                return Err(AdminError::Invalid(
                    "data is missing: an upsert carries the whole record".into(),
                ));
            }
            (_, Some(_)) => {
                return Err(AdminError::Invalid("data is for an upsert alone; leave it out".into()));
            }
            (ActionName::Disable, None) => EditAction::Disable,
            (ActionName::Enable, None) => EditAction::Enable,
            (ActionName::Delete, None) => EditAction::Delete,
        };
        let expected_sequence = self.sequence_version.map(|sequence| sequence.0);
        Ok(NewRecordEdit { action, reason: self.reason.0, expected_sequence })
    }
}

/// The name of the schema of a record that is written: generators make one type of it.
const RECORD_DATA: &str = "RecordData";

/// The schema of an edit: data with an upsert alone.
pub(super) struct NewEditSchema;

impl PartialSchema for NewEditSchema {
    fn schema() -> RefOr<Schema> {
        let names = |names: &[&str]| {
            ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names.to_vec())).build()
        };
        let upsert = Variant::of::<NewEdit>("Upsert")
            .where_is("action", names(&["upsert"]))
            .where_is_named("data", RECORD_DATA);
        let others = Variant::of::<NewEdit>("Other actions")
            .where_is("action", names(&["disable", "enable", "delete"]))
            .without("data");
        one_of("An edit of a record; an upsert carries the whole record.", [upsert.with("data"), others])
    }
}

impl ToSchema for NewEditSchema {
    fn name() -> Cow<'static, str> {
        NewEdit::name()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        NewEdit::schemas(schemas);
        let data = ObjectBuilder::new()
            .schema_type(Type::Object)
            .description(Some("The whole record, without the members that the service sets."));
        schemas.push((RECORD_DATA.to_owned(), data.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_text_form() {
        for text in ["0", "17", "999999999999999999"] {
            assert_eq!(Sequence::try_from(text.to_owned()).unwrap().0.to_string(), text);
        }
        for text in ["", "-1", "+1", "01", "1.0", " 1", "1000000000000000000", "x"] {
            assert!(Sequence::try_from(text.to_owned()).is_err(), "{text}");
        }
        assert!(RecordPageSize::try_from("0".to_owned()).is_err());
        assert!(RecordPageSize::try_from("101".to_owned()).is_err());
    }

    #[test]
    fn data_comes_with_an_upsert_and_keeps_its_digits() {
        let edit = |text: &str| {
            let read = serde_json::from_str::<NewEdit>(text).map_err(|error| error.to_string())?;
            read.into_edit().map_err(|error| error.to_string())
        };
        let read = edit(r#"{"action":"upsert","data":{"a":1.50},"reason":"r"}"#).unwrap();
        assert_eq!(read.action, EditAction::Upsert(r#"{"a":1.50}"#.into()));
        let read = edit(r#"{"action":"delete","reason":"r","sequenceVersion":"7"}"#).unwrap();
        assert_eq!((read.action, read.expected_sequence), (EditAction::Delete, Some(7)));
        for wrong in [
            r#"{"action":"upsert","reason":"r"}"#,
            r#"{"action":"delete","data":{},"reason":"r"}"#,
            r#"{"action":"fail","reason":"r"}"#,
            r#"{"action":"delete","reason":" "}"#,
            r#"{"action":"delete"}"#,
            r#"{"action":"delete","reason":"r","sequenceVersion":7}"#,
        ] {
            assert!(edit(wrong).is_err(), "{wrong}");
        }
    }
}
