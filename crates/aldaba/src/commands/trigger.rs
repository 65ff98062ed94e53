//! `aldaba trigger`: makes a change happen through the operator's door of a running service.

use domain::catalogue::Owner;
use domain::event::{EventKind, event_type, semantic_name};
use domain::suggest::did_you_mean;
use domain::{Area, Guid, Random as _, Resource};
use serde_json::{Value, json};

use super::remote;
use crate::cli::Trigger;
use crate::exit::{Failure, Outcome};
use crate::output::{Output, fields};
use crate::wiring::SystemRandom;

const ACCOUNT_DIGITS_DEFAULT: usize = 9;

pub(crate) async fn run(args: &Trigger, output: Output) -> Outcome {
    let (resource, kind) = find(&args.event)?;
    let wanted = Wanted::new(args, resource, kind)?;
    let mut lines = wanted.lines(ACCOUNT_DIGITS_DEFAULT);
    let mut answer = send(args, &lines).await?;
    // Only the company knows how long its account codes are, and the door says it.
    if let Some(digits) = account_digits(&answer) {
        lines = wanted.lines(digits);
        answer = send(args, &lines).await?;
    }
    if let Some(error) = answer["errors"].as_array().and_then(|errors| errors.first()) {
        let why = error["message"].as_str().unwrap_or("the service refused the change");
        return Err(Failure::Refused(format!("{}: {why}", args.event)));
    }
    let made: Vec<String> = lines.iter().map(|(kind, _)| semantic_name(resource, *kind)).collect();
    let sequence = answer["lastSequenceVersion"].as_str().unwrap_or_default();
    let change = lines.last().map(|(_, line)| line.clone()).unwrap_or_default();
    let told = json!({
        "event": semantic_name(resource, kind), "correlationId": wanted.id, "company": wanted.company,
        "sequenceVersion": sequence, "processId": answer["processId"], "made": made, "change": change,
    });
    output.result(&told, || {
        fields(&[
            ("event", made.join(", then ")),
            ("company", wanted.company.clone().unwrap_or_else(|| "-".into())),
            ("record", wanted.id.clone()),
            ("sequence", sequence.to_owned()),
            ("data", change["data"].to_string()),
        ])
    });
    Ok(())
}

/// Everything that can be told, with the names that it goes by: the contract's first, the short one last.
fn known() -> impl Iterator<Item = (Resource, EventKind, [String; 3])> {
    Resource::all().flat_map(|resource| {
        resource.event_kinds().into_iter().map(move |kind| {
            let names = [
                semantic_name(resource, kind),
                format!("{}.{}", resource.plural(), event_type(resource, kind)),
                format!("{}.{}", resource.as_str(), kind.as_str()),
            ];
            (resource, kind, names)
        })
    })
}

fn find(name: &str) -> Result<(Resource, EventKind), Failure> {
    let is_meant = |names: &[String; 3]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    if let Some((resource, kind, _)) = known().find(|(_, _, names)| is_meant(names)) {
        return Ok((resource, kind));
    }
    let told = |why: String| Err(Failure::Usage(format!("there is no event {name:?}{why}")));
    // A resource that is known has few events: all of them say more than the nearest name.
    let before = name.rsplit_once('.').map_or("", |(before, _)| before);
    let of_resource = known().filter(|(resource, _, [whole, ..])| {
        let start = whole.rsplit_once('.').map_or("", |(start, _)| start);
        resource.as_str().eq_ignore_ascii_case(before) || start.eq_ignore_ascii_case(before)
    });
    let offered: Vec<String> = of_resource.map(|(_, _, [.., short])| short).collect();
    if !offered.is_empty() {
        return told(format!("; {before} has {}", offered.join(", ")));
    }
    let names: Vec<String> = known().flat_map(|(_, _, [whole, _, short])| [short, whole]).collect();
    let hint = did_you_mean(name, names.iter().map(String::as_str));
    told(format!(
        "{hint}: events are called as in customers.created, SaleInvoice.Updated or \
         Svc.ACC.Customers.CustomerDisabled; aldaba asyncapi lists them all"
    ))
}

/// What is to happen, to which record.
struct Wanted {
    resource: Resource,
    kind: EventKind,
    company: Option<String>,
    id: String,
    /// Whether the record is there already.
    is_there: bool,
    /// So that no two records, and no two states of one, are the same.
    mark: String,
}

impl Wanted {
    fn new(args: &Trigger, resource: Resource, kind: EventKind) -> Result<Self, Failure> {
        let given = args.company.clone().filter(|id| !id.is_empty());
        let company = given.filter(|_| resource.owner() == Owner::Company);
        if resource.owner() == Owner::Company && company.is_none() {
            let why =
                format!("{} belong to a company: say which with --company ID or COMPANY", resource.as_str());
            return Err(Failure::Usage(format!("{why} (aldaba trigger companies.created makes one)")));
        }
        let mut bytes = [0; 16];
        SystemRandom.fill(&mut bytes);
        let made = Guid::random_from(bytes).to_string();
        let mark = made[..8].to_owned();
        let id = args.id.clone().unwrap_or(made);
        Ok(Self { resource, kind, company, id, is_there: args.id.is_some(), mark })
    }

    /// The changes, each with what it is told as. What happens to a record that is not there yet needs one first.
    fn lines(&self, account_digits: usize) -> Vec<(EventKind, Value)> {
        let upsert = |kind, name: &str| (kind, self.line("upsert", Some(self.data(name, account_digits))));
        let first = self.resource.first_event();
        let made = upsert(first, "Prueba");
        let after = match self.kind {
            kind if kind == first => return vec![made],
            EventKind::ErrorOccurred => return vec![(self.kind, self.line("fail", None))],
            EventKind::Disabled => (self.kind, self.line("disable", None)),
            EventKind::Deleted => (self.kind, self.line("delete", None)),
            EventKind::Created | EventKind::Updated => upsert(self.kind, "Prueba cambiada"),
        };
        if self.is_there { vec![after] } else { vec![made, after] }
    }

    fn line(&self, action: &str, data: Option<Value>) -> Value {
        let mut line = json!({
            "area": self.resource.area().as_str(), "resource": self.resource.as_str(), "action": action,
            "correlationId": self.id, "user": "trigger", "sourceInterface": "aldaba", "sourceAction": "trigger",
        });
        if let Some(company) = &self.company {
            line["company"] = json!(company);
        }
        if let Some(data) = data {
            line["data"] = data;
        }
        line
    }

    fn data(&self, name: &str, account_digits: usize) -> Value {
        let name = format!("{name} {}", self.mark);
        let code = |group: &str| {
            format!("{group:0<account_digits$}").chars().take(account_digits).collect::<String>()
        };
        match (self.resource.area(), self.resource.as_str()) {
            (Area::Accounting, "companies") => {
                json!({"vatName": name, "vatNumber": "", "chartOfAccountId": 1, "accountLength": account_digits})
            }
            (Area::Accounting, "accounts") => json!({"code": code("572"), "description": name}),
            (Area::Accounting, "customers") => json!({"tradeName": name, "accountCode": code("430")}),
            (Area::Accounting, "suppliers") => json!({"tradeName": name, "accountCode": code("400")}),
            (Area::Invoicing, _) => json!({"name": name}),
            _ => json!({"description": name}),
        }
    }
}

async fn send(args: &Trigger, lines: &[(EventKind, Value)]) -> Result<Value, Failure> {
    let body: String = lines.iter().flat_map(|(_, line)| [line.to_string(), "\n".into()]).collect();
    let body = futures_util::stream::iter([Ok(body.into())]);
    remote::send(&args.url, &args.token, &args.tenant, None, body).await
}

/// How long the company's account codes are, where that is what the door minds.
fn account_digits(answer: &Value) -> Option<usize> {
    let error = answer["errors"].as_array()?.first()?;
    error["message"].as_str()?.split("accountLength is ").nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_is_found_by_each_of_its_names_in_any_case() {
        for (resource, kind, names) in known() {
            for name in names {
                assert_eq!(find(&name).ok(), Some((resource, kind)), "{name}");
                assert_eq!(find(&name.to_lowercase()).ok(), Some((resource, kind)), "{name}");
            }
        }
    }

    #[test]
    fn a_slip_gets_the_nearest_name_and_a_known_resource_all_of_its_events() {
        let why = |name: &str| find(name).map_err(|failure| failure.message()).unwrap_err();
        let slip = why("custmers.created");
        assert!(slip.contains("did you mean \"customers.Created\""), "{slip}");
        for name in ["customers.deleted", "Svc.ACC.Customers.CustomerDeleted"] {
            let known = why(name);
            assert!(
                known.contains("has customers.Created, customers.Updated, customers.Disabled"),
                "{known}"
            );
        }
        assert!(!why("zebra").contains("did you mean"));
    }
}
