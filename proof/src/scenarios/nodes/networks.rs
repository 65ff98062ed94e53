//! Each node on a network of its own, whose packets are lost, or whose link goes down.

use std::time::Duration;

use tempfile::TempDir;

use super::{CALL_MAX, Fleet, NODES, SILENCE_MAX};
use crate::cleanup::Cleanup;
use crate::namespaces::Namespaces;
use crate::process::{NodeSettings, quiet};
use crate::proxy::Proxy;
use crate::receivers::Receivers;
use crate::trial::Bounds;
use crate::{Fallible, Options, Part};

/// Far more than a healthy network loses.
const LOST_PERCENT: u8 = 3;
const ISOLATED: Duration = Duration::from_secs(30);
/// HAProxy looks every half second, and a call that was under way there is repeated by its client.
const ISOLATED_CALL_MAX: Duration = Duration::from_secs(40);

/// A namespace for each node, joined by links to where the database, the balancer and the receivers are.
pub(super) struct Networks {
    namespaces: Namespaces,
    /// What the nodes send to their loopback address comes here.
    _receivers: Proxy,
    // Removes the namespaces when all of the above is gone.
    _cleanup: Cleanup,
    _folder: TempDir,
}

impl Networks {
    pub(super) async fn create(receivers: &Receivers) -> Fallible<Self> {
        let folder = tempfile::tempdir()?;
        let (namespaces, remove) = Namespaces::planned(NODES);
        let cleanup = Cleanup::of(folder.path(), &remove)?;
        namespaces.create()?;
        let address = receivers.address();
        let near = format!("{}:{}", namespaces.outside(), address.port());
        let proxy = Proxy::between(&near, &address.to_string()).await?;
        for number in 0..NODES {
            namespaces.lead_loopback_outside(number)?;
        }
        Ok(Self { namespaces, _receivers: proxy, _cleanup: cleanup, _folder: folder })
    }

    /// The address outside at which a node finds the database.
    pub(super) fn outside(&self) -> String {
        self.namespaces.outside()
    }

    /// Starts the node on its network.
    pub(super) fn apply_to(&self, settings: NodeSettings, number: usize) -> NodeSettings {
        let namespace = self.namespaces.name(number);
        NodeSettings {
            host: self.namespaces.address(number),
            wrapper: ["ip", "netns", "exec", &namespace].map(str::to_owned).into(),
            ..settings.set("operator.accept_plain_http", "true")
        }
    }
}

impl Fleet {
    /// Packets of all nodes are lost.
    pub(super) async fn loss(&mut self, options: &Options) -> Fallible<Part> {
        let span = options.span(Duration::from_secs(60), Duration::from_secs(8));
        let tried = format!(
            "Each node is in a network namespace. For {} s, {LOST_PERCENT} of a hundred packets in each direction between every node and PostgreSQL, HAProxy and the receivers are dropped (nftables, where they come in).",
            span.as_secs()
        );
        let mut part = Part::new("packet loss", tried);
        let Self { trial, networks, .. } = self;
        let namespaces = &networks.as_ref().ok_or("the nodes have no networks of their own")?.namespaces;
        let mut lost = 0;
        trial
            .run(&mut part, Bounds { silence: SILENCE_MAX, call: CALL_MAX }, async || {
                namespaces.lose(LOST_PERCENT)?;
                tokio::time::sleep(span).await;
                lost = namespaces.lose_nothing()?;
                quiet(2).await;
                Ok(())
            })
            .await?;
        part.holds_that("packets were lost", lost > 0, format!("{lost}"));
        Ok(part)
    }

    /// The link of one node goes down and up again.
    pub(super) async fn isolation(&mut self, options: &Options) -> Fallible<Part> {
        let rounds = options.count(3, 1);
        let tried = format!(
            "Each node is in a network namespace. The link of one node goes down for {} s under load, {rounds} times in turn: every packet between it and PostgreSQL, HAProxy and the receivers is dropped.",
            ISOLATED.as_secs()
        );
        let mut part = Part::new("a node loses its network", tried);
        let Self { trial, networks, nodes, .. } = self;
        let namespaces = &networks.as_ref().ok_or("the nodes have no networks of their own")?.namespaces;
        let bounds = Bounds { silence: SILENCE_MAX, call: ISOLATED_CALL_MAX };
        let mut longest = Duration::ZERO;
        trial
            .run(&mut part, bounds, async || {
                quiet(2).await;
                for round in 0..rounds {
                    let place = round % NODES;
                    namespaces.cut(place)?;
                    tokio::time::sleep(ISOLATED).await;
                    namespaces.mend(place)?;
                    longest = longest.max(nodes[place].wait_ready().await?);
                    quiet(5).await;
                }
                Ok(())
            })
            .await?;
        part.within("until the node is ready again", longest, Duration::from_secs(30));
        Ok(part)
    }
}
