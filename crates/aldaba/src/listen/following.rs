//! A subscribed receiver: makes its webhooks, tells what was missed, and sees that the service is still there.

use std::sync::Arc;
use std::time::Duration;

use aldaba_client::api::{Api, FeedChange};
use aldaba_client::sign_in::StaticToken;
use aldaba_client::webhooks::{InvoicingAction, InvoicingSubscription, Subscription};
use aldaba_client::{Error, Guid, Resource, RetryPolicy, Secret, TryStreamExt as _};
use domain::catalogue::Owner;
use domain::event::EventKind;
use serde_json::json;
use web::Stopwatch;

use super::desk::sentence;
use super::memory::{Memory, Scene};
use super::printer::{Printer, Tone};
use crate::cli::Listen;
use crate::exit::{Failure, Outcome};
use crate::output::say;

const APPLICATION: &str = "aldaba listen";
const BEAT: Duration = Duration::from_secs(1);
/// A service that takes a call and says nothing is as silent as one that is not there.
const ANSWER_MAX: Duration = Duration::from_secs(5);
const HANDSHAKE_MAX: Duration = Duration::from_secs(30);
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

pub(super) struct Following {
    api: Api,
    service: String,
    resources: Vec<Resource>,
    secret: Secret,
    reached_at: String,
    patience: Duration,
    printer: Printer,
    memory: Arc<Memory>,
    hooks: Vec<Hook>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hook {
    Family(Resource, Guid),
    Invoicing(Resource, Guid),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::InvalidInput { .. } => Self::Usage(error.to_string()),
            other => Self::Lost(other.to_string()),
        }
    }
}

impl Following {
    pub(super) fn new(
        args: &Listen,
        secret: &Secret,
        reached_at: &str,
        printer: Printer,
        memory: Arc<Memory>,
    ) -> Result<Self, Failure> {
        let given = |value: &Option<String>| value.clone().unwrap_or_default();
        let service = given(&args.url);
        let token = StaticToken(Secret::new(given(&args.access)));
        // Patience is ours: what fails is tried again at the next beat.
        let retry_policy = RetryPolicy { attempts_max: 1, ..RetryPolicy::default() };
        let api = Api::builder(&service, Secret::new(given(&args.key)), token)
            .retry_policy(retry_policy)
            .build()?;
        Ok(Self {
            api,
            service,
            resources: args.resources.clone(),
            secret: secret.clone(),
            reached_at: reached_at.trim_end_matches('/').to_owned(),
            patience: args.patience,
            printer,
            memory,
            hooks: Vec::new(),
        })
    }

    /// Ends only when the service is lost for good.
    pub(super) async fn run(&mut self) -> Outcome {
        // Before the handshake: what happens under way is found by the feed, the next time.
        let head = self.head().await?;
        self.subscribe().await?;
        let scene = self.scene().await?;
        if self.memory.begin(scene, head)? {
            self.tell_missed().await?;
        }
        self.printer.talk("ready", json!({}), "ready: what happens now is told here");
        self.watch().await
    }

    async fn watch(&mut self) -> Outcome {
        let mut silent: Option<Stopwatch> = None;
        loop {
            tokio::time::sleep(BEAT).await;
            match self.beat(silent.is_some()).await {
                Ok(()) => silent = None,
                Err(error) if error.is_temporary() => {
                    let since = silent.get_or_insert_with(|| {
                        let text = format!("the service does not answer; trying for {:?}", self.patience);
                        self.printer.talk("silent", json!({"reason": error.to_string()}), &text);
                        Stopwatch::start()
                    });
                    if since.elapsed() >= self.patience {
                        let next = "start again later: what is missed until then will be told";
                        return Err(Failure::Lost(format!("the service is lost: {error}; {next}")));
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Sees that the service is there and the webhooks with it, and keeps the memory short.
    async fn beat(&mut self, was_silent: bool) -> Result<(), Error> {
        let after = ANSWER_MAX.min(self.patience);
        let late = || Error::TimedOut { call: "a look at the service".into(), after };
        tokio::time::timeout(after, self.head()).await.unwrap_or_else(|_| Err(late()))?;
        if was_silent {
            self.subscribe().await?;
            self.printer.talk("back", json!({}), "the service is back");
        }
        if self.memory.is_long() {
            let changes = self.changes(self.memory.position()).await?;
            let changes: Vec<FeedChange> = changes.into_iter().map(|(_, change)| change).collect();
            if let Err(failure) = self.memory.shorten(&changes) {
                say(&format!("aldaba: it cannot be remembered: {}", failure.message()));
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

    /// Where the tenant's log stands.
    async fn head(&self) -> Result<u64, Error> {
        if self.family().next().is_some() {
            let page = self.api.companies().page_size(1).page(1).await?;
            return Ok(page.position.unwrap_or(0));
        }
        let mut feed = self.api.invoicing_changes(self.memory.position()).page_size(1000);
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
            let url = format!("{}/{}", self.reached_at, resource.as_str());
            let wanted = Subscription::to_all(resource, APPLICATION, &url, self.secret.clone());
            let webhooks = self.api.webhooks(resource);
            let id = webhooks.subscribe(&wanted).await?;
            if self.is_new(Hook::Family(resource, id), &url) {
                webhooks.wait_until_active(id, HANDSHAKE_MAX).await?;
            }
        }
        for resource in self.entities().collect::<Vec<_>>() {
            for kind in resource.event_kinds() {
                let Some(action) = action(kind) else { continue };
                let uri = format!("{}/api/webhooks/incoming/Invoicing", self.reached_at);
                let new = InvoicingSubscription::new("", resource.as_str(), action, self.secret.clone());
                let wanted =
                    InvoicingSubscription { uri: uri.clone(), application_name: APPLICATION.into(), ..new };
                let id = self.api.invoicing_webhooks().subscribe(&wanted).await?.id;
                if self.is_new(Hook::Invoicing(resource, id), &uri) {
                    self.wait_effective(id).await?;
                }
            }
        }
        Ok(())
    }

    /// Whether this is the first time that it is seen; then it is told.
    fn is_new(&mut self, hook: Hook, url: &str) -> bool {
        if self.hooks.contains(&hook) {
            return false;
        }
        self.hooks.push(hook);
        let (Hook::Family(resource, id) | Hook::Invoicing(resource, id)) = hook;
        let text = format!("subscribed to {}: webhook {id} to {url}", resource.as_str());
        let data = json!({"resource": resource.as_str(), "webhookId": id, "url": url});
        self.printer.talk("subscribed", data, &text);
        true
    }

    async fn wait_effective(&self, id: Guid) -> Result<(), Error> {
        let looking = async {
            while self.api.invoicing_webhooks().get(id).await?.is_some_and(|hook| hook.status != "Effective")
            {
                tokio::time::sleep(BETWEEN_LOOKS).await;
            }
            Ok(())
        };
        let late = Error::TimedOut { call: format!("the echo of webhook {id}"), after: HANDSHAKE_MAX };
        tokio::time::timeout(HANDSHAKE_MAX, looking).await.unwrap_or(Err(late))
    }

    pub(super) async fn unsubscribe(&mut self) -> Result<(), Error> {
        for hook in std::mem::take(&mut self.hooks) {
            match hook {
                Hook::Family(resource, id) => self.api.webhooks(resource).delete(id).await?,
                Hook::Invoicing(_, id) => self.api.invoicing_webhooks().delete(id).await.map(drop)?,
            }
        }
        self.printer.talk("unsubscribed", json!({}), "unsubscribed");
        Ok(())
    }

    /// A position means something only in the log that it was read from.
    async fn scene(&self) -> Result<Scene, Error> {
        let mut tenant = String::new();
        for hook in &self.hooks {
            if let Hook::Family(resource, id) = *hook {
                let webhook = self.api.webhooks(resource).get(id).await?;
                tenant = webhook.map(|webhook| webhook.tenant_id).unwrap_or_default();
            }
        }
        let mut resources: Vec<String> = self.resources.iter().map(|one| one.as_str().to_owned()).collect();
        resources.sort();
        Ok(Scene { service: self.service.clone(), tenant, resources })
    }

    async fn tell_missed(&self) -> Outcome {
        let changes = self.changes(self.memory.position()).await?;
        for (company, change) in self.memory.missed(changes)? {
            let data = json!({
                "event": change.event, "company": company, "record": change.correlation_id,
                "sequenceVersion": change.sequence_version.to_string(), "user": change.user,
            });
            let line = sentence(&data);
            self.printer.tell("missed", Tone::Odd, data, &line);
        }
        Ok(())
    }

    /// Everything after a position, in order, with the company that it belongs to.
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
                    // It was deleted under way, and its records with it.
                    Err(error) if error.is_not_found() => {}
                    Err(error) => return Err(error),
                }
            }
        }
        let words: Vec<&str> = self.entities().map(Resource::as_str).collect();
        if !words.is_empty() {
            let changes = self.feed(None, None, after).await?;
            let is_wanted = |change: &FeedChange| {
                change.event.split('.').next().is_some_and(|entity| words.contains(&entity))
            };
            all.extend(changes.into_iter().filter(|(_, change)| is_wanted(change)));
        }
        all.sort_by_key(|(_, change)| change.sequence_version);
        Ok(all)
    }

    /// One feed to its end; invoicing's where no resource is named.
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
                let text = format!("what happened up to {floor} is no longer kept, and cannot be told");
                self.printer.talk("gap", json!({"upto": floor.to_string()}), &text);
                feed(floor).stream().try_collect().await?
            }
            read => read?,
        };
        Ok(changes.into_iter().map(|change| (company.map(ToOwned::to_owned), change)).collect())
    }
}

fn action(kind: EventKind) -> Option<InvoicingAction> {
    match kind {
        EventKind::Created => Some(InvoicingAction::Created),
        EventKind::Updated => Some(InvoicingAction::Updated),
        EventKind::Deleted => Some(InvoicingAction::Deleted),
        EventKind::Disabled | EventKind::ErrorOccurred => None,
    }
}
