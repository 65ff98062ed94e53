//! The responses of the read APIs. All endpoints share the error responses; a response to HEAD has no body.

use domain::Resource;
use serde_json::{Value, json};
use utoipa::openapi::response::{Response, ResponseBuilder, ResponsesBuilder};
use utoipa::openapi::schema::ArrayBuilder;
use utoipa::openapi::{ComponentsBuilder, ContentBuilder, Ref, RefOr, Schema};

use super::schema_types::schema_ref;
use super::{examples, headers, records};
use crate::endpoint::Endpoint;

const JSON: &str = "application/json";

/// The methods of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadMethod {
    Get,
    Head,
}

/// One error response; `name` is the name of its component.
struct ErrorCase {
    status: u16,
    name: &'static str,
    description: &'static str,
    /// The message of the example.
    message: &'static str,
    /// The code and the field of the example's fault.
    fault: Option<(&'static str, &'static str)>,
    headers: &'static [&'static str],
}

const GONE: u16 = 410;

static ERROR_CASES: [ErrorCase; 7] = [
    ErrorCase {
        status: 400,
        name: "BadRequest",
        description: "A parameter or the header `context` is invalid; `errors` names it.",
        message: "pageSize must be a whole number from 1 to 1000.",
        fault: Some(("invalid_parameter", "pageSize")),
        headers: &["X-Request-Id", "RateLimit"],
    },
    ErrorCase {
        status: 401,
        name: "Unauthorized",
        description: "The subscription key or the access token is missing or invalid. The key is checked first.",
        message: "Access denied due to invalid access token. It may have expired or have been revoked.",
        fault: None,
        headers: &["X-Request-Id", "WWW-Authenticate"],
    },
    ErrorCase {
        status: 403,
        name: "Forbidden",
        description: "The access token lacks the scope of this area; or its client is not registered for the area's \
                      product; or the subscription's daily quota is used up, and \
                      `Retry-After` says when it is replenished (`Out of call volume quota. Quota will be \
                      replenished in 07:30:00.`).",
        message: "insufficient_scope: the access token lacks the scope SVC.ES.NEWPOL.ACC.API.",
        fault: None,
        headers: &["X-Request-Id", "WWW-Authenticate", "RateLimit", "QuotaRetryAfter"],
    },
    ErrorCase {
        status: 404,
        name: "NotFound",
        description: "The company or record does not exist, or belongs to another tenant.",
        message: "There is no such company.",
        fault: None,
        headers: &["X-Request-Id", "RateLimit"],
    },
    ErrorCase {
        status: GONE,
        name: "Gone",
        description: "The log no longer has the changes after this number; the message says where the feed begins.",
        message: "The changes after this number are no longer kept; the feed begins after 1192. Read the list, \
                  then follow the feed from its X-Sequence-Version.",
        fault: Some(("below_floor", "after")),
        headers: &["X-Request-Id", "RateLimit"],
    },
    ErrorCase {
        status: 429,
        name: "TooManyRequests",
        description: "The subscription has exceeded its rate limit.",
        message: "Rate limit is exceeded. Try again in 2 seconds.",
        fault: None,
        headers: &["X-Request-Id", "RateLimit", "Retry-After"],
    },
    ErrorCase {
        status: 503,
        name: "ServiceUnavailable",
        description: "The service is temporarily unable to read its store.",
        message: "The data is temporarily unavailable. Try again in 5 seconds.",
        fault: None,
        headers: &["X-Request-Id", "RateLimit", "Retry-After"],
    },
];

/// The shared responses, for both methods.
pub(super) fn shared(components: ComponentsBuilder) -> ComponentsBuilder {
    let not_modified = ResponseBuilder::new().description("The client's copy is current.");
    let components = components.response("NotModified", headers::put(not_modified, &headers::OF_READS));
    ERROR_CASES.iter().fold(components, |components, case| {
        let bare = || headers::put(ResponseBuilder::new().description(case.description), case.headers);
        let example = examples::error(case.status, case.message, case.fault);
        let content = ContentBuilder::new().schema(Some(schema_ref("Error"))).example(Some(example));
        components
            .response(shared_name(case, ReadMethod::Head), bare())
            .response(shared_name(case, ReadMethod::Get), bare().content(JSON, content.build()))
    })
}

fn shared_name(case: &ErrorCase, method: ReadMethod) -> String {
    match method {
        ReadMethod::Get => case.name.to_owned(),
        ReadMethod::Head => format!("{}WithoutBody", case.name),
    }
}

/// All responses of an endpoint.
pub(super) fn of(endpoint: Endpoint, method: ReadMethod) -> ResponsesBuilder {
    let is_feed = matches!(endpoint, Endpoint::Feed(_) | Endpoint::InvoicingFeed);
    let responses = ResponsesBuilder::new()
        .response("200", success(endpoint, method))
        .response("304", Ref::from_response_name("NotModified"));
    ERROR_CASES.iter().filter(|case| is_feed || case.status != GONE).fold(responses, |responses, case| {
        let reference = Ref::from_response_name(shared_name(case, method));
        responses.response(case.status.to_string(), reference)
    })
}

fn success(endpoint: Endpoint, method: ReadMethod) -> Response {
    let (description, more): (&str, &[&str]) = match endpoint {
        Endpoint::Record(_) => ("The record.", &[]),
        Endpoint::Feed(_) | Endpoint::InvoicingFeed => ("The changes, oldest first.", &["Link"]),
        Endpoint::List(_) | Endpoint::PayrollCompanies => ("The page.", &headers::OF_PAGES),
    };
    let response = ResponseBuilder::new().description(description);
    let response = headers::put(headers::put(response, &headers::OF_READS), more);
    if method == ReadMethod::Head {
        return response.build();
    }
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
        Endpoint::Feed(resource) => list("Change", examples::change(resource)),
        Endpoint::PayrollCompanies => list(records::name(payroll), examples::record(payroll)),
        Endpoint::InvoicingFeed => {
            let changes = Resource::invoicing().take(1).map(examples::change).collect();
            (ArrayBuilder::new().items(schema_ref("Change")).into(), Value::Array(changes))
        }
    }
}
