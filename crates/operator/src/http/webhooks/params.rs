//! The query parameters of the lists of webhooks and deliveries.

use std::str::FromStr;

use domain::delivery::{
    DELIVERIES_PER_PAGE_DEFAULT, DELIVERIES_PER_PAGE_MAX, DeliveryCursor, DeliveryPageQuery, DeliveryStatus,
};
use domain::{Resource, WebhookStatus, parse_digits};
use serde::Deserialize;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema as _};

use crate::admin::{
    WebhookCursor, WebhookFamily, WebhookFilter, WebhookListQuery, WebhookState, WebhookStatusSchema,
    names_schema, resource_schema, subscribable_resources,
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
    /// Only those of this team's clients.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    team: Option<NameFilter>,
    /// Only of receivers at this host.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    host: Option<NameFilter>,
    /// Only of this family.
    #[param(value_type = WebhookFamily, inline, required = false)]
    family: Option<EnumParam<WebhookFamily>>,
    /// Only of this resource.
    #[param(schema_with = resource_schema, required = false)]
    resource: Option<EnumParam<Resource>>,
    /// Only those with this status; without it, all that are neither unsubscribed nor deleted.
    #[param(value_type = WebhookStatusSchema, inline, required = false)]
    status: Option<EnumParam<WebhookStatus>>,
    /// How many items a page has at most.
    #[param(value_type = u16, required = false, minimum = 1, maximum = 1000, default = 100)]
    page_size: Option<PageSize>,
    /// The `next` of the page before; leave it out for the first page.
    #[param(
        value_type = String,
        required = false,
        pattern = "^(0|[1-9][0-9]{0,17})\\.[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
    )]
    after: Option<TextParam<WebhookCursor>>,
}

impl From<WebhookParams> for WebhookListQuery {
    fn from(params: WebhookParams) -> Self {
        Self {
            tenant: params.tenant.map(|name| name.0),
            client: params.client.map(|name| name.0),
            team: params.team.map(|name| name.0),
            host: params.host.map(|name| name.0),
            family: params.family.map(|family| family.0),
            resource: params.resource.map(|resource| resource.0),
            status: params.status.map(|status| status.0),
            after: params.after.map(|cursor| cursor.0),
            rows_max: params.page_size.map(|size| size.0),
        }
    }
}

/// Which webhooks an action is for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct FilterParams {
    /// Only of receivers at this host.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    host: Option<NameFilter>,
    /// Only this tenant's.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    tenant: Option<NameFilter>,
    /// Only this client's.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    client: Option<NameFilter>,
    /// Only those of this team's clients.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    team: Option<NameFilter>,
    /// Only of this family.
    #[param(value_type = WebhookFamily, inline, required = false)]
    family: Option<EnumParam<WebhookFamily>>,
    /// Only of this resource.
    #[param(schema_with = resource_schema, required = false)]
    resource: Option<EnumParam<Resource>>,
    /// Only those with this status, or those that are failing; without it, all that are neither unsubscribed nor deleted.
    #[param(schema_with = state_schema, required = false)]
    state: Option<EnumParam<WebhookState>>,
}

impl From<FilterParams> for WebhookFilter {
    fn from(params: FilterParams) -> Self {
        Self {
            host: params.host.map(|name| name.0),
            tenant: params.tenant.map(|name| name.0),
            client: params.client.map(|name| name.0),
            team: params.team.map(|name| name.0),
            family: params.family.map(|family| family.0),
            resource: params.resource.map(|resource| resource.0),
            state: params.state.map(|state| state.0),
        }
    }
}

fn state_schema() -> RefOr<Schema> {
    names_schema(None, WebhookState::all().map(WebhookState::as_str))
}

/// The query of the list of deliveries.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct DeliveryParams {
    /// Only those with this status.
    #[param(schema_with = listed_statuses, required = false)]
    status: Option<EnumParam<DeliveryStatus>>,
    /// Only deliveries of the event with this name: `Svc.ACC.Customers.CustomerCreated`, for example.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    event: Option<NameFilter>,
    /// Only deliveries of the record with this correlationId.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    record: Option<NameFilter>,
    /// Only deliveries with an attempt or a success at or after this time.
    #[param(schema_with = Timestamp::schema, required = false)]
    since: Option<Timestamp>,
    /// Only deliveries whose newest attempt or success was before this time.
    #[param(schema_with = Timestamp::schema, required = false)]
    until: Option<Timestamp>,
    /// How many items a page has at most.
    #[param(value_type = u16, required = false, minimum = 1, maximum = 100, default = 25)]
    page_size: Option<DeliveryPageSize>,
    /// The `next` of the page before; leave it out for the newest.
    #[param(value_type = String, required = false, pattern = "^(0|[1-9][0-9]{0,17})-(0|[1-9][0-9]{0,17})$")]
    before: Option<TextParam<DeliveryCursor>>,
}

impl DeliveryParams {
    /// The query, and the name of the event, whose kind the webhook's resource decides.
    pub(super) fn into_query(self) -> (DeliveryPageQuery, Option<String>) {
        let query = DeliveryPageQuery {
            status: self.status.map(|status| status.0),
            kind: None,
            record: self.record.map(|record| record.0.into()),
            since: self.since.map(|since| since.0),
            until: self.until.map(|until| until.0),
            before: self.before.map(|cursor| cursor.0),
            page_size: self.page_size.map_or(DELIVERIES_PER_PAGE_DEFAULT, |size| size.0),
        };
        (query, self.event.map(|event| event.0))
    }
}

fn listed_statuses() -> RefOr<Schema> {
    names_schema(None, DeliveryStatus::LISTED.map(DeliveryStatus::as_str))
}

/// A value that has one of a few names.
trait NamedValue: Sized {
    fn parse(name: &str) -> Option<Self>;
    fn names() -> Vec<&'static str>;
}

/// A parameter with one of a few names.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String", bound = "T: NamedValue")]
struct EnumParam<T>(T);

impl<T: NamedValue> TryFrom<String> for EnumParam<T> {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let value = T::parse(&name).map(Self);
        value.ok_or_else(|| format!("it must be one of {}; not {name:?}", T::names().join(", ")))
    }
}

impl NamedValue for WebhookFamily {
    fn parse(name: &str) -> Option<Self> {
        Self::parse(name)
    }

    fn names() -> Vec<&'static str> {
        Self::ALL.map(Self::as_str).to_vec()
    }
}

impl NamedValue for WebhookState {
    fn parse(name: &str) -> Option<Self> {
        Self::parse(name)
    }

    fn names() -> Vec<&'static str> {
        Self::all().map(Self::as_str).collect()
    }
}

impl NamedValue for WebhookStatus {
    fn parse(name: &str) -> Option<Self> {
        Self::parse(name)
    }

    fn names() -> Vec<&'static str> {
        Self::ALL.map(Self::as_str).to_vec()
    }
}

impl NamedValue for DeliveryStatus {
    fn parse(name: &str) -> Option<Self> {
        Self::parse(name)
    }

    fn names() -> Vec<&'static str> {
        Self::LISTED.map(Self::as_str).to_vec()
    }
}

impl NamedValue for Resource {
    fn parse(name: &str) -> Option<Self> {
        subscribable_resources().find(|resource| resource.as_str() == name)
    }

    fn names() -> Vec<&'static str> {
        subscribable_resources().map(Self::as_str).collect()
    }
}

/// A parameter that is parsed from its text.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String", bound = "T: FromStr<Err = String>")]
struct TextParam<T>(T);

impl<T: FromStr<Err = String>> TryFrom<String> for TextParam<T> {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self)
    }
}

/// How many deliveries a page has at most.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
struct DeliveryPageSize(usize);

impl TryFrom<String> for DeliveryPageSize {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let size = parse_digits(&text).filter(|size| (1..=DELIVERIES_PER_PAGE_MAX).contains(size)).map(Self);
        size.ok_or_else(|| {
            format!("pageSize must be a whole number from 1 to {DELIVERIES_PER_PAGE_MAX}, not {text:?}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_size_has_no_sign() {
        assert_eq!(DeliveryPageSize::try_from("5".to_owned()).map(|size| size.0), Ok(5));
        for wrong in ["", "0", "+5", "-5", "101"] {
            assert!(DeliveryPageSize::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }
}
