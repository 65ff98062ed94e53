//! Subscribes the receiver's webhooks, prints missed events, and checks that the service still responds.

use std::sync::Arc;
use std::time::Duration;

use aldaba_client::api::{Api, FeedChange};
use aldaba_client::sign_in::StaticToken;
use aldaba_client::webhooks::{Action, InvoicingSubscription, Subscription};
use aldaba_client::{Error, Guid, Patience, Resource, Secret, TryStreamExt as _};
use domain::catalogue::Owner;
use domain::event::EventKind;
use serde_json::json;
use web::Stopwatch;

use super::printer::{Printer, Severity};
use super::receiver::event_text;
use super::state_file::{ListenState, LogScope};
use crate::cli::Listen;
use crate::exit::{CommandResult, Failure};
use crate::output::print_message;

const APPLICATION: &str = "aldaba listen";
const HEARTBEAT: Duration = Duration::from_secs(1);
/// A request without a response within this time counts as a failed heartbeat.
const RESPONSE_MAX: Duration = Duration::from_secs(5);
const HANDSHAKE_MAX: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(200);

pub(super) struct Subscriber {
    api: Api,
    service: String,
    resources: Vec<Resource>,
    secret: Secret,
    receiver_url: String,
    patience: Duration,
    printer: Printer,
    state: Arc<ListenState>,
    subscribed: Vec<SubscribedWebhook>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SubscribedWebhook {
    Family(Resource, Guid),
    Invoicing(Resource, Guid),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Unusable { .. } => Self::Usage(error.to_string()),
            other => Self::ServiceLost(other.to_string()),
        }
    }
}

impl Subscriber {
    pub(super) fn new(
        args: &Listen,
        secret: &Secret,
        receiver_url: &str,
        printer: Printer,
        state: Arc<ListenState>,
    ) -> Result<Self, Failure> {
        let given = |value: &Option<String>| value.clone().unwrap_or_default();
        let service = given(&args.url);
        let token = StaticToken(Secret::new(given(&args.access)));
        // No retries in the client: the next heartbeat tries again.
        let patience = Patience { attempts_max: 1, ..Patience::default() };
        let api = Api::builder(&service, Secret::new(given(&args.key)), token).patience(patience).build()?;
        Ok(Self {
            api,
            service,
            resources: args.resources.clone(),
            secret: secret.clone(),
            receiver_url: receiver_url.trim_end_matches('/').to_owned(),
            patience: args.patience,
            printer,
            state,
            subscribed: Vec::new(),
        })
    }

    /// Returns only with an error: the service stopped responding, or refuses the receiver.
    pub(super) async fn run(&mut self) -> CommandResult {
        // Read before the handshake, so that the next start finds the changes made in between.
        let head = self.head().await?;
        self.subscribe().await?;
        let scope = self.scope().await?;
        if self.state.begin(scope, head)? {
            self.print_missed().await?;
        }
        self.printer.print_status("ready", json!({}), "ready: new events are printed here");
        self.watch().await
    }

    async fn watch(&mut self) -> CommandResult {
        let mut silent: Option<Stopwatch> = None;
        loop {
            tokio::time::sleep(HEARTBEAT).await;
            match self.heartbeat(silent.is_some()).await {
                Ok(()) => silent = None,
                Err(error) if error.is_temporary() => {
                    let since = silent.get_or_insert_with(|| {
                        let text = format!("the service does not respond; retrying for {:?}", self.patience);
                        self.printer.print_status("silent", json!({"reason": error.to_string()}), &text);
                        Stopwatch::start()
                    });
                    if since.elapsed() >= self.patience {
                        let next = "start again later to get the missed events";
                        return Err(Failure::ServiceLost(format!(
                            "the service stopped responding: {error}; {next}"
                        )));
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Checks that the service responds, subscribes again after an outage, and compacts the state file.
    async fn heartbeat(&mut self, was_silent: bool) -> Result<(), Error> {
        let after = RESPONSE_MAX.min(self.patience);
        let late = || Error::TimedOut { call: "heartbeat".into(), after };
        tokio::time::timeout(after, self.head()).await.unwrap_or_else(|_| Err(late()))?;
        if was_silent {
            self.subscribe().await?;
            self.printer.print_status("back", json!({}), "the service responds again");
        }
        if self.state.is_large() {
            let changes = self.changes(self.state.position()).await?;
            let changes: Vec<FeedChange> = changes.into_iter().map(|(_, change)| change).collect();
            if let Err(failure) = self.state.advance(&changes) {
                print_message(&format!("aldaba: cannot write the state file: {}", failure.message()));
            }
        }
        Ok(())
    }

    fn family(&self) -> impl Iterator<Item = Resource> {
        self.resources.iter().copied().filter(|resource| resource.is_accounting_family())
    }

    fn entities(&self) -> impl Iterator<Item = Resource> {
        self.resources.iter().copied().filter(|resource| !resource.is_accounting_family())
    }

    /// The head of the tenant's log.
    async fn head(&self) -> Result<u64, Error> {
        if self.family().next().is_some() {
            let page = self.api.companies().page_size(1).page(1).await?;
            return Ok(page.position.unwrap_or(0));
        }
        let mut feed = self.api.invoicing_changes(self.state.position()).page_size(1000);
        loop {
            match feed.next_page().await {
                Ok(page) if page.is_empty() => return Ok(feed.position()),
                Ok(_) => {}
                Err(Error::BelowFloor { floor }) => {
                    feed = self.api.invoicing_changes(floor).page_size(1000);
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn subscribe(&mut self) -> Result<(), Error> {
        for resource in self.family().collect::<Vec<_>>() {
            let url = format!("{}/{}", self.receiver_url, resource.as_str());
            let subscription = Subscription::to_all(resource, APPLICATION, &url, self.secret.clone());
            let webhooks = self.api.webhooks(resource);
            let id = webhooks.subscribe(&subscription).await?;
            if self.register(SubscribedWebhook::Family(resource, id), &url) {
                webhooks.wait_active(id, HANDSHAKE_MAX).await?;
            }
        }
        for resource in self.entities().collect::<Vec<_>>() {
            for kind in resource.event_kinds() {
                let Some(action) = action(kind) else { continue };
                let uri = format!("{}/api/webhooks/incoming/Invoicing", self.receiver_url);
                let new = InvoicingSubscription::new("", resource.as_str(), action, self.secret.clone());
                let subscription =
                    InvoicingSubscription { uri: uri.clone(), application_name: APPLICATION.into(), ..new };
                let id = self.api.invoicing_webhooks().subscribe(&subscription).await?.id;
                if self.register(SubscribedWebhook::Invoicing(resource, id), &uri) {
                    self.wait_effective(id).await?;
                }
            }
        }
        Ok(())
    }

    /// Registers and prints a webhook; false if it is already registered.
    fn register(&mut self, webhook: SubscribedWebhook, url: &str) -> bool {
        if self.subscribed.contains(&webhook) {
            return false;
        }
        self.subscribed.push(webhook);
        let (SubscribedWebhook::Family(resource, id) | SubscribedWebhook::Invoicing(resource, id)) = webhook;
        let text = format!("subscribed to {}: webhook {id} to {url}", resource.as_str());
        let data = json!({"resource": resource.as_str(), "webhookId": id, "url": url});
        self.printer.print_status("subscribed", data, &text);
        true
    }

    async fn wait_effective(&self, id: Guid) -> Result<(), Error> {
        let poll = async {
            while self
                .api
                .invoicing_webhooks()
                .get(id)
                .await?
                .is_some_and(|webhook| webhook.status != "Effective")
            {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
            Ok(())
        };
        let late = Error::TimedOut { call: format!("the echo of webhook {id}"), after: HANDSHAKE_MAX };
        tokio::time::timeout(HANDSHAKE_MAX, poll).await.unwrap_or(Err(late))
    }

    pub(super) async fn unsubscribe(&mut self) -> Result<(), Error> {
        for webhook in std::mem::take(&mut self.subscribed) {
            match webhook {
                SubscribedWebhook::Family(resource, id) => self.api.webhooks(resource).delete(id).await?,
                SubscribedWebhook::Invoicing(_, id) => {
                    self.api.invoicing_webhooks().delete(id).await?;
                }
            }
        }
        self.printer.print_status("unsubscribed", json!({}), "unsubscribed");
        Ok(())
    }

    /// The log that the saved position belongs to.
    async fn scope(&self) -> Result<LogScope, Error> {
        let mut tenant = String::new();
        for webhook in &self.subscribed {
            if let SubscribedWebhook::Family(resource, id) = *webhook {
                let webhook = self.api.webhooks(resource).get(id).await?;
                tenant = webhook.map(|webhook| webhook.tenant_id).unwrap_or_default();
            }
        }
        let mut resources: Vec<String> =
            self.resources.iter().map(|resource| resource.as_str().to_owned()).collect();
        resources.sort();
        Ok(LogScope { service: self.service.clone(), tenant, resources })
    }

    async fn print_missed(&self) -> CommandResult {
        let changes = self.changes(self.state.position()).await?;
        for (company, change) in self.state.missed(changes)? {
            let data = json!({
                "event": change.event, "company": company, "record": change.correlation_id,
                "sequenceVersion": change.sequence_version.to_string(), "user": change.user,
            });
            let line = event_text(&data);
            self.printer.print_event("missed", Severity::Warning, data, &line);
        }
        Ok(())
    }

    /// All changes after a position by sequence number, each with its company.
    async fn changes(&self, after: u64) -> Result<Vec<(Option<String>, FeedChange)>, Error> {
        let mut all = Vec::new();
        let mut companies: Option<Vec<String>> = None;
        for resource in self.family() {
            if resource.owner() == Owner::Tenant {
                all.extend(self.feed(Some(resource), None, after).await?);
                continue;
            }
            if companies.is_none() {
                let listed: Vec<_> = self.api.companies().page_size(1000).stream().try_collect().await?;
                companies = Some(listed.into_iter().map(|company| company.correlation_id).collect());
            }
            for company in companies.iter().flatten() {
                match self.feed(Some(resource), Some(company), after).await {
                    Ok(changes) => all.extend(changes),
                    // The company was deleted in the meantime, with its records.
                    Err(error) if error.is_not_found() => {}
                    Err(error) => return Err(error),
                }
            }
        }
        let names: Vec<&str> = self.entities().map(Resource::as_str).collect();
        if !names.is_empty() {
            let changes = self.feed(None, None, after).await?;
            let is_subscribed = |change: &FeedChange| {
                change.event.split('.').next().is_some_and(|entity| names.contains(&entity))
            };
            all.extend(changes.into_iter().filter(|(_, change)| is_subscribed(change)));
        }
        all.sort_by_key(|(_, change)| change.sequence_version);
        Ok(all)
    }

    /// Reads a feed to its end: the resource's feed, or invoicing's without a resource.
    async fn feed(
        &self,
        resource: Option<Resource>,
        company: Option<&str>,
        after: u64,
    ) -> Result<Vec<(Option<String>, FeedChange)>, Error> {
        let feed = |after| match resource {
            Some(resource) => self.api.changes(resource, company, after),
            None => self.api.invoicing_changes(after),
        };
        let read: Result<Vec<_>, Error> = feed(after).stream().try_collect().await;
        let changes = match read {
            Err(Error::BelowFloor { floor }) => {
                let text = format!("events up to {floor} are older than the retention and cannot be shown");
                self.printer.print_status("gap", json!({"upto": floor.to_string()}), &text);
                feed(floor).stream().try_collect().await?
            }
            read => read?,
        };
        Ok(changes.into_iter().map(|change| (company.map(ToOwned::to_owned), change)).collect())
    }
}

fn action(kind: EventKind) -> Option<Action> {
    match kind {
        EventKind::Created => Some(Action::Created),
        EventKind::Updated => Some(Action::Updated),
        EventKind::Deleted => Some(Action::Deleted),
        EventKind::Disabled | EventKind::ErrorOccurred => None,
    }
}
