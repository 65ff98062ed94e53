//! `aldaba trigger`: writes a test change through the ingest API of a running service.

use domain::catalogue::Owner;
use domain::event::{EventKind, semantic_name};
use domain::suggest::did_you_mean;
use domain::{Guid, Random as _, Resource};
use operator::ingest::{EventLines, find_event, known_events};
use serde_json::{Value, json};

use super::ingest_client;
use crate::cli::Trigger;
use crate::dev::running::DevSelector;
use crate::exit::{CommandResult, Failure};
use crate::output::{Output, fields};
use crate::wiring::SystemRandom;

const ACCOUNT_DIGITS_DEFAULT: usize = 9;

pub(crate) async fn run(args: &Trigger, running: &DevSelector, output: Output) -> CommandResult {
    let (resource, kind) = find(&args.event)?;
    let (target, company) = Target::choose(args, running, output)?;
    let request = TriggerRequest::new(args, company, resource, kind)?;
    let mut lines = request.lines(ACCOUNT_DIGITS_DEFAULT);
    let mut answer = send(&target, &lines).await?;
    // The length of account codes depends on the company; the error message contains it.
    let mut digits = ACCOUNT_DIGITS_DEFAULT;
    if let Some(found) = account_digits(&answer) {
        digits = found;
        lines = request.lines(digits);
        answer = send(&target, &lines).await?;
    }
    // A customer needs its account.
    if first_error(&answer).is_some_and(|error| error["code"] == "account_not_found") {
        send(&target, &[(EventKind::Created, request.event_lines(digits).account())]).await?;
        answer = send(&target, &lines).await?;
    }
    if let Some(error) = first_error(&answer) {
        let why = error["message"].as_str().unwrap_or("the service rejected the change");
        return Err(Failure::Refused(format!("{}: {why}", args.event)));
    }
    let events: Vec<String> = lines.iter().map(|(kind, _)| semantic_name(resource, *kind)).collect();
    let sequence = answer["lastSequenceVersion"].as_str().unwrap_or_default();
    let change = lines.last().map(|(_, line)| line.clone()).unwrap_or_default();
    let result = json!({
        "event": semantic_name(resource, kind), "correlationId": request.id, "company": request.company,
        "sequenceVersion": sequence, "processId": answer["processId"], "made": events, "change": change,
    });
    output.result(&result, || {
        fields(&[
            ("event", events.join(", then ")),
            ("company", request.company.clone().unwrap_or_else(|| "-".into())),
            ("record", request.id.clone()),
            ("sequence", sequence.to_owned()),
            ("data", change["data"].to_string()),
        ])
    });
    Ok(())
}

/// Where the change goes.
struct Target {
    url: String,
    token: String,
    tenant: String,
}

impl Target {
    /// The given service, or a running dev where nothing is given; and the company.
    fn choose(
        args: &Trigger,
        running: &DevSelector,
        output: Output,
    ) -> Result<(Self, Option<String>), Failure> {
        let given = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
        let (url, token, tenant) = (given(&args.url), given(&args.token), given(&args.tenant));
        let is_bare = url.is_none() && token.is_none() && tenant.is_none();
        if let Some(dev) = running.find()?.filter(|_| is_bare || running.wanted.is_some()) {
            output.print_message(&format!("using the running dev at {}", dev.description()));
            let first = dev.ready.tenants.first();
            let tenant = tenant.or_else(|| first.map(|tenant| tenant.id.clone())).unwrap_or_default();
            let own = dev.ready.tenants.iter().find(|one| one.id == tenant);
            let company = own.and_then(|tenant| tenant.companies.first()).map(ToString::to_string);
            let target = Self { url: dev.ready.operator_url, token: dev.ready.operator_token, tenant };
            return Ok((target, given(&args.company).or(company)));
        }
        let required = |value: Option<String>, flag: &str, variable: &str| {
            value.ok_or_else(|| {
                let remedy = "start `aldaba dev`, or paste the export lines that it printed";
                Failure::Usage(format!("--{flag} ({variable}) is missing; {remedy}"))
            })
        };
        let target = Self {
            url: required(url, "url", "OPERATOR")?,
            token: required(token, "token", "TOKEN")?,
            tenant: required(tenant, "tenant", "TENANT")?,
        };
        Ok((target, args.company.clone()))
    }
}

fn find(name: &str) -> Result<(Resource, EventKind), Failure> {
    if let Some(found) = find_event(name) {
        return Ok(found);
    }
    let unknown = |hint: String| Err(Failure::Usage(format!("unknown event {name:?}{hint}")));
    // A known resource has few events: listing all of them helps more than the nearest name.
    let before = name.rsplit_once('.').map_or("", |(before, _)| before);
    let of_resource = known_events().filter(|(resource, _, [whole, ..])| {
        let start = whole.rsplit_once('.').map_or("", |(start, _)| start);
        resource.as_str().eq_ignore_ascii_case(before) || start.eq_ignore_ascii_case(before)
    });
    let offered: Vec<String> = of_resource.map(|(_, _, [.., short])| short).collect();
    if !offered.is_empty() {
        return unknown(format!("; the events of {before} are {}", offered.join(", ")));
    }
    let names: Vec<String> = known_events().flat_map(|(_, _, [whole, _, short])| [short, whole]).collect();
    let hint = did_you_mean(name, names.iter().map(String::as_str));
    unknown(format!(
        "{hint}. Examples: customers.created, SaleInvoice.Updated, Svc.ACC.Customers.CustomerDisabled; \
         `aldaba asyncapi` lists all events"
    ))
}

/// The event to cause, and the record.
struct TriggerRequest {
    resource: Resource,
    kind: EventKind,
    company: Option<String>,
    id: String,
    /// Whether the record exists already.
    exists: bool,
    /// A random suffix, so that every upsert changes something.
    suffix: String,
}

impl TriggerRequest {
    fn new(
        args: &Trigger,
        company: Option<String>,
        resource: Resource,
        kind: EventKind,
    ) -> Result<Self, Failure> {
        let company = company.filter(|id| !id.is_empty()).filter(|_| resource.owner() == Owner::Company);
        if resource.owner() == Owner::Company && company.is_none() {
            let why = format!("{} belong to a company: add --company ID or set COMPANY", resource.as_str());
            return Err(Failure::Usage(format!("{why} (`aldaba trigger companies.created` creates one)")));
        }
        let mut bytes = [0; 16];
        SystemRandom.fill(&mut bytes);
        let generated = Guid::random_from(bytes).to_string();
        let suffix = generated[..8].to_owned();
        let id = args.id.clone().unwrap_or(generated);
        Ok(Self { resource, kind, company, id, exists: args.id.is_some(), suffix })
    }

    fn event_lines(&self, account_digits: usize) -> EventLines {
        EventLines {
            resource: self.resource,
            company: self.company.clone(),
            id: self.id.clone(),
            suffix: self.suffix.clone(),
            user: "trigger",
            account_digits,
        }
    }

    /// The changes, each with its event. If the record does not exist yet, the first change creates it.
    fn lines(&self, account_digits: usize) -> Vec<(EventKind, Value)> {
        let (lines, first) = (self.event_lines(account_digits), self.resource.first_event());
        let change = (self.kind, lines.change(self.kind));
        if self.exists || self.kind == first || self.kind == EventKind::ErrorOccurred {
            return vec![change];
        }
        vec![(first, lines.change(first)), change]
    }
}

async fn send(target: &Target, lines: &[(EventKind, Value)]) -> Result<Value, Failure> {
    let body: String = lines.iter().flat_map(|(_, line)| [line.to_string(), "\n".into()]).collect();
    let body = futures_util::stream::iter([Ok(body.into())]);
    ingest_client::send(&target.url, &target.token, &target.tenant, None, body).await
}

fn first_error(answer: &Value) -> Option<&Value> {
    answer["errors"].as_array()?.first()
}

/// The length of the company's account codes, if the first error names it.
fn account_digits(answer: &Value) -> Option<usize> {
    first_error(answer)?["message"].as_str()?.split("accountLength is ").nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_is_found_by_each_of_its_names_in_any_case() {
        for (resource, kind, names) in known_events() {
            for name in names {
                assert_eq!(find(&name).ok(), Some((resource, kind)), "{name}");
                assert_eq!(find(&name.to_lowercase()).ok(), Some((resource, kind)), "{name}");
            }
        }
    }

    #[test]
    fn unknown_event_suggests_the_nearest_name_or_all_events_of_the_resource() {
        let why = |name: &str| find(name).map_err(|failure| failure.message()).unwrap_err();
        let misspelled = why("custmers.created");
        assert!(misspelled.contains("did you mean \"customers.Created\""), "{misspelled}");
        for name in ["customers.deleted", "Svc.ACC.Customers.CustomerDeleted"] {
            let known = why(name);
            assert!(
                known.contains("are customers.Created, customers.Updated, customers.Disabled"),
                "{known}"
            );
        }
        assert!(!why("zebra").contains("did you mean"));
    }
}
