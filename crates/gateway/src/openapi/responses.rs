//! What a read can answer. Refusals are alike everywhere, so they stand once; the answer to HEAD is the same
//! without a body.

use domain::Resource;
use serde_json::{Value, json};
use utoipa::openapi::response::{Response, ResponseBuilder, ResponsesBuilder};
use utoipa::openapi::schema::ArrayBuilder;
use utoipa::openapi::{ComponentsBuilder, ContentBuilder, Ref, RefOr, Schema};

use super::schema_types::schema_ref;
use super::{examples, headers, records};
use crate::endpoint::Endpoint;

const JSON: &str = "application/json";

/// How an answer is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadMethod {
    Get,
    Head,
}

/// A refusal: its status, its name in the document, what it means, an example of its message with the fault
/// in it, and its headers.
struct ErrorCase {
    status: u16,
    name: &'static str,
    description: &'static str,
    message: &'static str,
    fault: Option<(&'static str, &'static str)>,
    headers: &'static [&'static str],
}

const GONE: u16 = 410;

static ERROR_CASES: [ErrorCase; 7] = [
    ErrorCase {
        status: 400,
        name: "BadRequest",
        description: "A parameter or the header `context` cannot be taken; `errors` names it.",
        message: "pageSize must be a whole number from 1 to 1000.",
        fault: Some(("invalid_parameter", "pageSize")),
        headers: &["X-Request-Id", "RateLimit"],
    },
    ErrorCase {
        status: 401,
        name: "Unauthorized",
        description: "The subscription key or the access token is missing or not good. The key is looked at first.",
        message: "Access denied due to invalid access token. It may have expired or have been revoked.",
        fault: None,
        headers: &["X-Request-Id", "WWW-Authenticate"],
    },
    ErrorCase {
        status: 403,
        name: "Forbidden",
        description: "The access token lacks the scope of this area; or the subscription has used up its calls of the \
                day, and `Retry-After` tells when there are new ones (`Out of call volume quota. Quota will be \
                replenished in 07:30:00.`).",
        message: "insufficient_scope: the access token lacks the scope SVC.ES.NEWPOL.ACC.API.",
        fault: None,
        headers: &["X-Request-Id", "WWW-Authenticate", "RateLimit", "QuotaRetryAfter"],
    },
    ErrorCase {
        status: 404,
        name: "NotFound",
        description: "There is no such company or record, or it is another tenant's: the answer is the same.",
        message: "There is no such company.",
        fault: None,
        headers: &["X-Request-Id", "RateLimit"],
    },
    ErrorCase {
        status: GONE,
        name: "Gone",
        description: "The changes after this number are no longer kept; the message says where the feed begins.",
        message: "The changes after this number are no longer kept; the feed begins after 1192. Read the list, \
                  then follow the feed from its X-Sequence-Version.",
        fault: Some(("below_floor", "after")),
        headers: &["X-Request-Id", "RateLimit"],
    },
    ErrorCase {
        status: 429,
        name: "TooManyRequests",
        description: "The subscription has used up its limit.",
        message: "Rate limit is exceeded. Try again in 2 seconds.",
        fault: None,
        headers: &["X-Request-Id", "RateLimit", "Retry-After"],
    },
    ErrorCase {
        status: 503,
        name: "ServiceUnavailable",
        description: "The service cannot read now.",
        message: "The service cannot read now. Try again in 5 seconds.",
        fault: None,
        headers: &["X-Request-Id", "RateLimit", "Retry-After"],
    },
];

/// The answers that stand once, for both ways of asking.
pub(super) fn shared(components: ComponentsBuilder) -> ComponentsBuilder {
    let not_modified = ResponseBuilder::new().description("The reader has it already.");
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

/// All answers of an address.
pub(super) fn of(endpoint: Endpoint, method: ReadMethod) -> ResponsesBuilder {
    let is_feed = matches!(endpoint, Endpoint::Feed(_) | Endpoint::InvoicingFeed);
    let answers = ResponsesBuilder::new()
        .response("200", good(endpoint, method))
        .response("304", Ref::from_response_name("NotModified"));
    ERROR_CASES.iter().filter(|case| is_feed || case.status != GONE).fold(answers, |answers, case| {
        let there = Ref::from_response_name(shared_name(case, method));
        answers.response(case.status.to_string(), there)
    })
}

fn good(endpoint: Endpoint, method: ReadMethod) -> Response {
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
