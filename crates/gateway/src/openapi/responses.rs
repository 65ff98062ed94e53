//! The responses of the read APIs. All endpoints share the error responses.

use domain::{ErrorCode, Resource};
use serde_json::{Value, json};
use utoipa::openapi::response::{Response, ResponseBuilder, ResponsesBuilder};
use utoipa::openapi::schema::ArrayBuilder;
use utoipa::openapi::{ComponentsBuilder, ContentBuilder, Ref, RefOr, Schema};

use super::schema_types::schema_ref;
use super::{errors, examples, headers, records};
use crate::endpoint::Endpoint;

const JSON: &str = "application/json";

/// One error response; `name` is the name of its component.
struct ErrorCase {
    /// All have the same status; the first is that of the example.
    codes: &'static [ErrorCode],
    name: &'static str,
    description: &'static str,
    /// The message of the example.
    message: &'static str,
    /// The field of the example's fault.
    field: Option<&'static str>,
    headers: &'static [&'static str],
}

const GONE: &str = "Gone";

static ERROR_CASES: [ErrorCase; 7] = [
    ErrorCase {
        codes: &[
            ErrorCode::InvalidParameter,
            ErrorCode::MissingContext,
            ErrorCode::InvalidContext,
            ErrorCode::ContextMismatch,
        ],
        name: "BadRequest",
        description: "A parameter or the header `context` is invalid; `errors` names it.",
        message: "pageSize must be a whole number from 1 to 1000.",
        field: Some("pageSize"),
        headers: &["X-Request-Id", "RateLimit"],
    },
    ErrorCase {
        codes: &[
            ErrorCode::InvalidToken,
            ErrorCode::MissingToken,
            ErrorCode::MissingSubscriptionKey,
            ErrorCode::InvalidSubscriptionKey,
        ],
        name: "Unauthorized",
        description: "The subscription key or the access token is missing or invalid. The key is checked first.",
        message: "Access denied due to invalid access token. It may have expired or have been revoked: refresh it, or sign the user in again.",
        field: None,
        headers: &["X-Request-Id", "WWW-Authenticate"],
    },
    ErrorCase {
        codes: &[ErrorCode::InsufficientScope, ErrorCode::ClientNotForProduct, ErrorCode::QuotaExceeded],
        name: "Forbidden",
        description: "The access token lacks the scope of this area; or its client is not registered for the area's \
                      product; or the subscription's daily quota is used up, and \
                      `Retry-After` says when it is replenished (`Out of call volume quota. Quota will be \
                      replenished in 07:30:00.`).",
        message: "insufficient_scope: the access token lacks the scope SVC.ES.NEWPOL.ACC.API. Request it and sign the user in again.",
        field: None,
        headers: &["X-Request-Id", "WWW-Authenticate", "RateLimit", "QuotaRetryAfter"],
    },
    ErrorCase {
        codes: &[ErrorCode::CompanyNotFound, ErrorCode::RecordNotFound],
        name: "NotFound",
        description: "The company or record does not exist, or belongs to another tenant.",
        message: "There is no such company. Take an id from the list of companies.",
        field: None,
        headers: &["X-Request-Id", "RateLimit"],
    },
    ErrorCase {
        codes: &[ErrorCode::BelowFloor],
        name: GONE,
        description: "The log no longer has the changes after this number; the message says where the feed begins.",
        message: "The changes after this number are no longer kept; the feed begins after 1192. Read the list, \
                  then follow the feed from its X-Sequence-Version.",
        field: Some("after"),
        headers: &["X-Request-Id", "RateLimit"],
    },
    ErrorCase {
        codes: &[ErrorCode::RateLimitExceeded],
        name: "TooManyRequests",
        description: "The subscription has exceeded its rate limit.",
        message: "Rate limit is exceeded. Try again in 2 seconds.",
        field: None,
        headers: &["X-Request-Id", "RateLimit", "Retry-After"],
    },
    ErrorCase {
        codes: &[ErrorCode::ServiceUnavailable],
        name: "ServiceUnavailable",
        description: "The service is temporarily unable to read its store.",
        message: "The data is temporarily unavailable. Try again in 5 seconds.",
        field: None,
        headers: &["X-Request-Id", "RateLimit", "Retry-After"],
    },
];

impl ErrorCase {
    /// The status is that of all codes.
    fn status(&self) -> u16 {
        self.codes.first().map_or(500, |code| code.status())
    }

    /// The description, with the codes.
    fn description(&self) -> String {
        let codes: Vec<String> = self.codes.iter().map(|code| format!("`{code}`")).collect();
        format!("{} `code`: {}.", self.description, codes.join(", "))
    }
}

/// The shared responses.
pub(super) fn shared(components: ComponentsBuilder) -> ComponentsBuilder {
    let not_modified = ResponseBuilder::new().description("The client's copy is current.");
    let components = components.response("NotModified", headers::put(not_modified, &headers::OF_READS));
    ERROR_CASES.iter().fold(components, |components, case| {
        let code = case.codes.first().copied().unwrap_or(ErrorCode::InternalError);
        let example = examples::error(code, case.message, case.field);
        let content = ContentBuilder::new().schema(Some(schema_ref(errors::ERROR))).example(Some(example));
        let response = headers::put(ResponseBuilder::new().description(case.description()), case.headers);
        components.response(case.name, response.content(JSON, content.build()))
    })
}

/// All responses of an endpoint.
pub(super) fn of(endpoint: Endpoint) -> ResponsesBuilder {
    let is_feed = matches!(endpoint, Endpoint::Feed(_) | Endpoint::InvoicingFeed);
    let responses = ResponsesBuilder::new()
        .response("200", success(endpoint))
        .response("304", Ref::from_response_name("NotModified"));
    ERROR_CASES.iter().filter(|case| is_feed || case.name != GONE).fold(responses, |responses, case| {
        responses.response(case.status().to_string(), Ref::from_response_name(case.name))
    })
}

fn success(endpoint: Endpoint) -> Response {
    let (description, more): (&str, &[&str]) = match endpoint {
        Endpoint::Record(_) => ("The record.", &[]),
        Endpoint::Feed(_) | Endpoint::InvoicingFeed => ("The changes, oldest first.", &["Link"]),
        Endpoint::List(_) | Endpoint::PayrollCompanies => ("The page.", &headers::OF_PAGES),
    };
    let response = ResponseBuilder::new().description(description);
    let response = headers::put(headers::put(response, &headers::OF_READS), more);
    let (schema, example) = body(endpoint);
    response.content(JSON, ContentBuilder::new().schema(Some(schema)).example(Some(example)).build()).build()
}

fn body(endpoint: Endpoint) -> (RefOr<Schema>, Value) {
    let list = |name: &str, item: Value| {
        let items: RefOr<Schema> = ArrayBuilder::new().items(schema_ref(name)).into();
        (items, json!([item]))
    };
    let payroll = Resource::payroll_companies();
    match endpoint {
        Endpoint::List(resource) => list(records::name(resource), examples::record(resource)),
        Endpoint::Record(resource) => {
            (schema_ref(records::name(resource)).into(), examples::record(resource))
        }
        Endpoint::Feed(resource) => list(records::CHANGE, examples::change(resource)),
        Endpoint::PayrollCompanies => list(records::name(payroll), examples::record(payroll)),
        Endpoint::InvoicingFeed => {
            let changes = Resource::invoicing().take(1).map(examples::change).collect();
            (ArrayBuilder::new().items(schema_ref(records::CHANGE)).into(), Value::Array(changes))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_a_response_have_its_status() {
        for case in &ERROR_CASES {
            assert!(case.codes.iter().all(|code| code.status() == case.status()), "{}", case.name);
        }
    }
}
