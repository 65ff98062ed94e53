//! The access of an application ends and returns under load, at one of the nodes: nothing may reach the application
//! meanwhile, from any node, and everything afterwards.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{CALL_MAX, Fleet, NODES, SILENCE_MAX};
use crate::access_checker::{self, Absence, ENDED_WITHIN};
use crate::load::Load;
use crate::process::Node;
use crate::receivers::Receivers;
use crate::service::{EMAIL, Service, TENANT};
use crate::sign_in::Application;
use crate::trial::{Bounds, SETTLE_MAX};
use crate::{Fallible, Options, Part};

/// How long the application is without access: longer than the time in which every node has to know.
const ABSENT: Duration = Duration::from_secs(5);

/// How access ends and returns.
#[derive(Clone, Copy, Debug)]
enum End {
    /// The authorization is withdrawn; the user signs in again.
    Withdrawn,
    /// The same while another node stands still: it must not go on with what it knew.
    WithdrawnUnseen,
    /// The application is disabled and enabled.
    Disabled,
}

const ENDS: [End; 3] = [End::Withdrawn, End::WithdrawnUnseen, End::Disabled];

/// The application whose access ends.
struct Other<'a> {
    service: &'a Service,
    application: Application,
    /// What stands before the nodes.
    public_url: &'a str,
    access_token: String,
    absences: Vec<Absence>,
    reads: usize,
    /// Reads that were answered without access.
    wrong_reads: Vec<String>,
}

impl Fleet {
    pub(super) async fn access(&mut self, options: &Options) -> Fallible<Part> {
        let (rounds, webhooks) = (options.count(12, 3), options.count(30, 10));
        let tried = format!(
            "A second application with {webhooks} webhooks loses its access for {} s under load, {rounds} times, at one node after the other: its user's authorization is withdrawn and given again by a sign-in, the same while another node is stopped (SIGSTOP) until 4 s after the end, and the application is disabled and enabled.",
            ABSENT.as_secs()
        );
        let mut part = Part::new("access ends", tried);
        let Self { trial, nodes, balancer, .. } = self;
        let (service, public_url) = (&trial.service, &balancer.target.public_url);
        let application = service.add_application(&nodes[0].operator_url).await?;
        let tokens = application.sign_in(&service.http, public_url, EMAIL).await?;
        let receivers = Receivers::open().await?;
        service.subscribe(public_url, &tokens.access, &receivers.urls(webhooks)).await?;
        let mut other = Other {
            service,
            application,
            public_url,
            access_token: tokens.access,
            absences: Vec::new(),
            reads: 0,
            wrong_reads: Vec::new(),
        };
        let bounds = Bounds { silence: SILENCE_MAX, call: CALL_MAX };
        let fault = async |_: &Load| {
            for round in 0..rounds {
                tokio::time::sleep(Duration::from_secs(3)).await;
                other.lose_access(ENDS[round % ENDS.len()], nodes, round % NODES).await?;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(())
        };
        let outcome = trial.run_beside(&mut part, bounds, fault).await?;
        let findings = outcome.load.settle(&receivers, webhooks, SETTLE_MAX).await;
        part.tell("events of the second application", receivers.count());
        part.none("events that it never got", findings.lost);
        part.none("of its events, out of order of their record", findings.out_of_order);
        part.none("of its events, repeated with other bytes, id or number", findings.altered);
        part.none("of its events, those of no change", findings.invented);
        part.within(
            "its webhooks' longest silence, with the time without access",
            findings.longest_silence,
            ABSENT + SILENCE_MAX,
        );
        let acknowledged = outcome.load.ledger.acknowledged();
        access_checker::check(&other.absences, &acknowledged, &receivers.arrivals()).tell(&mut part);
        part.tell("reads without access", other.reads);
        if let Some(first) = other.wrong_reads.first() {
            eprintln!("    {first}");
        }
        part.none("of these, answered", other.wrong_reads.len());
        Ok(part)
    }
}

impl Other<'_> {
    /// Ends access at the node, waits, and gives it back at the next one.
    async fn lose_access(&mut self, end: End, nodes: &[Node], place: usize) -> Fallible<()> {
        let (node, next) = (&nodes[place], &nodes[(place + 1) % NODES]);
        if matches!(end, End::WithdrawnUnseen) {
            next.signal("STOP")?;
        }
        let ended = self.end(end, node).await?;
        self.read(node).await?;
        tokio::time::sleep(ENDED_WITHIN).await;
        for node in
            nodes.iter().filter(|node| !(matches!(end, End::WithdrawnUnseen) && node.id() == next.id()))
        {
            self.read(node).await?;
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
        if matches!(end, End::WithdrawnUnseen) {
            next.signal("CONT")?;
            self.read(next).await?;
        }
        tokio::time::sleep((ended + ABSENT).saturating_duration_since(Instant::now())).await;
        let returned = Instant::now();
        self.absences.push(Absence { ended, returned });
        self.give_back(end, next).await
    }

    /// Returns when the end was acknowledged.
    async fn end(&self, end: End, node: &Node) -> Fallible<Instant> {
        let client = &self.application.id;
        match end {
            End::Withdrawn | End::WithdrawnUnseen => {
                let path = format!("users/{EMAIL}/authorizations/{TENANT}/{client}");
                self.service.administer("DELETE", &node.operator_url, &path, &Value::Null).await?;
            }
            End::Disabled => self.set_standing(node, "disabled").await?,
        }
        Ok(Instant::now())
    }

    async fn give_back(&mut self, end: End, node: &Node) -> Fallible<()> {
        match end {
            End::Withdrawn | End::WithdrawnUnseen => {
                let tokens = self.application.sign_in(&self.service.http, self.public_url, EMAIL).await?;
                self.access_token = tokens.access;
                Ok(())
            }
            End::Disabled => self.set_standing(node, "active").await,
        }
    }

    async fn set_standing(&self, node: &Node, standing: &str) -> Fallible<()> {
        let path = format!("clients/{}", self.application.id);
        let change = json!({ "standing": standing });
        self.service.administer("PATCH", &node.operator_url, &path, &change).await.map(|_| ())
    }

    /// Reads with the token of the application, which must be refused.
    async fn read(&mut self, node: &Node) -> Fallible<()> {
        let read = self
            .service
            .call("GET", &node.public_url, &self.access_token, "customers?pageSize=10", "")
            .await?;
        self.reads += 1;
        if read.status.is_success() {
            self.wrong_reads.push(format!("{} at {}", read.status, node.public_url));
        }
        Ok(())
    }
}
