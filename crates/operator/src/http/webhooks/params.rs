//! What lists of webhooks and deliveries are asked with.

use std::str::FromStr;

use domain::Resource;
use serde::Deserialize;
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema as _};

use crate::admin::{
    DELIVERIES_MAX, DeliveryAsk, DeliveryMark, DeliveryStatus, FamilyWord, WebhookAsk, WebhookMark,
    WebhookStatus, resources, subscribable,
};
use crate::http::paging::PageSize;
use crate::http::schema_types::{NameFilter, Timestamp};

/// The query of the list of webhooks.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct WebhookParams {
    /// Only this tenant's.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    tenant: Option<NameFilter>,
    /// Only this client's.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    client: Option<NameFilter>,
    /// Only of this family.
    #[param(value_type = FamilyWord, inline, required = false)]
    family: Option<Word<FamilyWord>>,
    /// Only of this resource.
    #[param(schema_with = resources, required = false)]
    resource: Option<Word<Resource>>,
    /// Only those that stand so; without it, all that are not over.
    #[param(value_type = WebhookStatus, inline, required = false)]
    status: Option<Word<WebhookStatus>>,
    /// How many a page has at the most.
    #[param(value_type = u16, required = false, minimum = 1, maximum = 1000, default = 100)]
    page_size: Option<PageSize>,
    /// The `next` of the page before; leave it out for the first page.
    #[param(
        value_type = String,
        required = false,
        pattern = "^(0|[1-9][0-9]{0,17})\\.[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
    )]
    after: Option<Parsed<WebhookMark>>,
}

impl From<WebhookParams> for WebhookAsk {
    fn from(asked: WebhookParams) -> Self {
        Self {
            tenant: asked.tenant.map(|name| name.0),
            client: asked.client.map(|name| name.0),
            family: asked.family.map(|word| word.0),
            resource: asked.resource.map(|word| word.0),
            status: asked.status.map(|word| word.0),
            after: asked.after.map(|mark| mark.0),
            rows_max: asked.page_size.map(|size| size.0),
        }
    }
}

/// The query of the list of deliveries.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct DeliveryParams {
    /// Only those that stand so.
    #[param(schema_with = listed, required = false)]
    status: Option<Word<DeliveryStatus>>,
    /// Only what happened from then on.
    #[param(schema_with = Timestamp::schema, required = false)]
    since: Option<Timestamp>,
    /// How many a page has at the most.
    #[param(value_type = u16, required = false, minimum = 1, maximum = 100, default = 25)]
    page_size: Option<FewRows>,
    /// The `next` of the page before; leave it out for the newest.
    #[param(value_type = String, required = false, pattern = "^(0|[1-9][0-9]{0,17})-(0|[1-9][0-9]{0,17})$")]
    before: Option<Parsed<DeliveryMark>>,
}

impl From<DeliveryParams> for DeliveryAsk {
    fn from(asked: DeliveryParams) -> Self {
        Self {
            status: asked.status.map(|word| word.0),
            since: asked.since.map(|moment| moment.0),
            before: asked.before.map(|mark| mark.0),
            rows_max: asked.page_size.map(|size| size.0),
        }
    }
}

fn listed() -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(SchemaType::new(Type::String))
        .enum_values(Some(DeliveryStatus::LISTED.map(DeliveryStatus::as_str)))
        .build()
        .into()
}

/// Something that is named by one of a few words.
trait Worded: Sized {
    fn read(word: &str) -> Option<Self>;
    fn schema_types() -> Vec<&'static str>;
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String", bound = "T: Worded")]
struct Word<T>(T);

impl<T: Worded> TryFrom<String> for Word<T> {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        let read = T::read(&word).map(Self);
        read.ok_or_else(|| format!("it must be one of {}; not {word:?}", T::schema_types().join(", ")))
    }
}

impl Worded for FamilyWord {
    fn read(word: &str) -> Option<Self> {
        Self::parse(word)
    }

    fn schema_types() -> Vec<&'static str> {
        [Self::Accounting, Self::Invoicing].map(Self::as_str).to_vec()
    }
}

impl Worded for WebhookStatus {
    fn read(word: &str) -> Option<Self> {
        Self::parse(word)
    }

    fn schema_types() -> Vec<&'static str> {
        Self::ALL.map(Self::as_str).to_vec()
    }
}

impl Worded for DeliveryStatus {
    fn read(word: &str) -> Option<Self> {
        Self::parse(word)
    }

    fn schema_types() -> Vec<&'static str> {
        Self::LISTED.map(Self::as_str).to_vec()
    }
}

impl Worded for Resource {
    fn read(word: &str) -> Option<Self> {
        subscribable().find(|resource| resource.as_str() == word)
    }

    fn schema_types() -> Vec<&'static str> {
        subscribable().map(Self::as_str).collect()
    }
}

/// A text that is read as something else.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String", bound = "T: FromStr<Err = String>")]
struct Parsed<T>(T);

impl<T: FromStr<Err = String>> TryFrom<String> for Parsed<T> {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self)
    }
}

/// Each delivery takes a look of its own: pages are small.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
struct FewRows(usize);

impl TryFrom<String> for FewRows {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let size = text.parse().ok().filter(|size| (1..=DELIVERIES_MAX).contains(size)).map(Self);
        size.ok_or_else(|| {
            format!("pageSize must be a whole number from 1 to {DELIVERIES_MAX}, not {text:?}")
        })
    }
}
