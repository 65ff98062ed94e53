//! The doctor: gathers the facts that `operator::operations::doctor` classifies. Every check has a deadline, and the result
//! is cached for some seconds, so that reading it again costs nothing.

mod addresses;
mod machine;
mod store;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use operator::operations::doctor::{self, Check, Examination, Finding, MailFacts};
use operator::ports::Doctor;
use tokio::net::TcpStream;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::Instant;
use web::UnnamedProxy;

use crate::config::Config;
use crate::wiring::{BasePorts, NodeClock};
use addresses::Addresses;

/// For each check; all run at once.
const DEADLINE: Duration = Duration::from_millis(1800);
/// How long a result is cached.
const KEPT: Duration = Duration::from_secs(10);
/// Reasons of systems and libraries may be long.
const REASON_CHARS_MAX: usize = 200;
/// One for each check that reads files.
const FILE_OPERATIONS: usize = 4;

/// The first proxies that are not trusted, of each listener.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnnamedProxies {
    pub(crate) public: UnnamedProxy,
    pub(crate) operator: UnnamedProxy,
}

/// Examines an installation by its configuration; the service need not run.
pub(crate) struct Examiner {
    config: Config,
    base: BasePorts,
    proxies: UnnamedProxies,
    /// Why the configuration would be refused; the service itself runs on one that was not.
    faults: Option<Vec<String>>,
    addresses: Addresses,
    /// A file operation that hangs keeps its place, so that hanging ones do not pile up.
    file_operations: Arc<Semaphore>,
    last: Mutex<Option<(Instant, Arc<Examination>)>>,
}

impl Examiner {
    /// The configuration's URLs must be complete.
    pub(crate) fn new(config: Config, base: BasePorts, proxies: UnnamedProxies) -> Self {
        Self {
            config,
            base,
            proxies,
            faults: None,
            addresses: Addresses::default(),
            file_operations: Arc::new(Semaphore::new(FILE_OPERATIONS)),
            last: Mutex::new(None),
        }
    }

    /// Reports these errors of the configuration too.
    pub(crate) fn with_faults(self, faults: Vec<String>) -> Self {
        Self { faults: Some(faults), ..self }
    }

    fn node_clock(&self) -> &NodeClock {
        &self.base.node_clock
    }

    async fn examine_now(&self) -> Examination {
        let now = self.base.clock.now();
        let config = &self.config;
        let (disk, descriptors, certificates) = (config.clone(), config.clone(), config.clone());
        let (clock_and_store, disk, descriptors, certificates, addresses, mail) = tokio::join!(
            within(&[Check::Clock, Check::Store], self.clock_and_store()),
            self.blocking(Check::Disk, move || doctor::disk(&machine::disks(&disk))),
            self.blocking(Check::Descriptors, move || {
                vec![doctor::descriptors(crate::descriptors::facts(&descriptors))]
            }),
            self.blocking(Check::Certificates, move || {
                doctor::certificates(&machine::certificates(&certificates), now)
            }),
            within(&[Check::Addresses, Check::Dns], self.addresses.examine(config)),
            within(&[Check::Outbound], self.outbound()),
        );
        let faults = self.faults.iter().map(|faults| doctor::configuration(faults));
        let proxies = doctor::proxies(&machine::proxies(config, &self.proxies));
        let mut findings: Vec<Finding> = faults
            .chain([clock_and_store, disk, descriptors, addresses, proxies, certificates, mail].concat())
            .collect();
        let order = |check: Check| Check::ALL.iter().position(|one| *one == check);
        findings.sort_by_key(|finding| order(finding.check));
        Examination { at: now, findings }
    }

    async fn clock_and_store(&self) -> Vec<Finding> {
        let found = store::examine(&self.config, self.node_clock(), &self.file_operations).await;
        let mut findings = vec![doctor::clock(found.clock)];
        findings.extend(doctor::store(&found.store));
        findings
    }

    async fn outbound(&self) -> Vec<Finding> {
        let Some(server) = &self.config.mail.server else { return vec![doctor::outbound(None)] };
        let connecting = TcpStream::connect((server.host.as_str(), server.port));
        let connected = match tokio::time::timeout(DEADLINE / 10 * 9, connecting).await {
            Ok(connected) => connected.map(drop).map_err(|error| reason(&error)),
            Err(_) => Err("no answer in time".to_owned()),
        };
        let server = format!("{}:{}", server.host, server.port);
        vec![doctor::outbound(Some(&MailFacts { server, connected }))]
    }

    /// Runs file operations where they may block.
    async fn blocking(
        &self,
        check: Check,
        work: impl FnOnce() -> Vec<Finding> + Send + 'static,
    ) -> Vec<Finding> {
        let Ok(place) = self.file_operations.clone().try_acquire_owned() else {
            return vec![doctor::unfinished(check)];
        };
        let working = tokio::task::spawn_blocking(move || {
            let _place = place;
            work()
        });
        within(&[check], async { working.await.unwrap_or_else(|_| vec![doctor::unfinished(check)]) }).await
    }
}

/// The findings, or that there are none in time.
async fn within(checks: &[Check], examining: impl Future<Output = Vec<Finding>>) -> Vec<Finding> {
    let found = tokio::time::timeout(DEADLINE, examining).await;
    found.unwrap_or_else(|_| checks.iter().map(|check| doctor::unfinished(*check)).collect())
}

/// The reason of an error, for people.
fn reason(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    let mut text: String = text.trim().trim_end_matches('.').chars().take(REASON_CHARS_MAX + 1).collect();
    if text.chars().count() > REASON_CHARS_MAX {
        text.pop();
        text.push('…');
    }
    text
}

#[async_trait]
impl Doctor for Examiner {
    async fn examine(&self) -> Arc<Examination> {
        // Requests that arrive meanwhile wait for the same result.
        let mut last = self.last.lock().await;
        if let Some((at, examination)) = &*last
            && at.elapsed() < KEPT
        {
            return examination.clone();
        }
        let examination = Arc::new(self.examine_now().await);
        *last = Some((Instant::now(), examination.clone()));
        examination
    }
}
