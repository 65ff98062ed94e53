//! Backups under load, and a service restored from one.

use std::path::Path;
use std::time::{Duration, Instant};

use super::{CRASH_MAX, OneNode, wait_metric};
use crate::checker::check;
use crate::ledger::Acknowledged;
use crate::load::{Load, Target};
use crate::process::{Node, NodeSettings, free_port};
use crate::report::Figure;
use crate::service::Service;
use crate::trial::{Bounds, Trial};
use crate::{Fallible, Options, Part};

const CAUGHT_UP_TIMEOUT: Duration = Duration::from_secs(60);

pub(super) async fn under_load(one: &mut OneNode, options: &Options) -> Fallible<Part> {
    let rounds = options.count(5, 1);
    let tried = format!(
        "`aldaba store backup` under load, {rounds} times; the last one is restored into a new folder with `--access keep`, and a node is started there under load."
    );
    let mut part = Part::new("backup and restore", tried);
    let OneNode { trial, node, settings } = one;
    let (mut before, mut longest): (Vec<Acknowledged>, _) = (Vec::new(), Duration::ZERO);
    let second = Duration::from_secs(1);
    // A backup takes turns with the service's own writes.
    let bounds = Bounds { silence: CRASH_MAX, call: CRASH_MAX };
    let fault = async |load: &Load| {
        for _ in 0..rounds {
            tokio::time::sleep(second).await;
            before = load.ledger.acknowledged();
            let (service, from) = (trial.service.clone(), Instant::now());
            let backup = ["store", "backup", "backup.ndjson", "--force"];
            tokio::task::spawn_blocking(move || service.command(&backup, "")).await??;
            longest = longest.max(from.elapsed());
        }
        tokio::time::sleep(second).await;
        Ok(())
    };
    let outcome = trial.run_beside(&mut part, bounds, fault).await?;
    part.within("longest backup", longest, Duration::from_secs(60));
    node.terminate().await?;

    let folder = tempfile::tempdir()?;
    let mut restored = restore(&trial.service, folder.path(), settings).await?;
    let target = restored.target();
    let wrong = outcome.load.stored_too_old(&target, &before).await?;
    part.tell("acknowledged before the last backup began", format!("{} changes", before.len()));
    part.none("of these: records that the restored service lacks", wrong.len());
    wait_metric(&target, "aldaba_webhook_events_behind", "0", CAUGHT_UP_TIMEOUT).await?;
    // Everything that came from either service: the restored one may repeat, in the same bytes.
    let findings = check(&before, &trial.receivers.arrivals(), trial.webhooks);
    part.none(
        "of these: events lost, out of order or altered, and events of no change",
        findings.lost + findings.out_of_order + findings.altered + findings.invented,
    );
    let span = options.span(Duration::from_secs(10), second);
    part.figures.extend(load_restored(trial, target, bounds, span).await?);
    restored.terminate().await?;
    Ok(part)
}

/// What the load on the restored service shows.
async fn load_restored(
    trial: &Trial,
    target: Target,
    bounds: Bounds,
    span: Duration,
) -> Fallible<Vec<Figure>> {
    let restored = Trial {
        service: trial.service.clone(),
        receivers: trial.receivers.clone(),
        webhooks: trial.webhooks,
        targets: vec![target],
        load: trial.load.clone(),
    };
    let mut part = Part::new("the restored service", "");
    let fault = async || {
        tokio::time::sleep(span).await;
        Ok(())
    };
    restored.run(&mut part, bounds, fault).await?;
    let named = |figure: Figure| Figure { name: format!("restored service: {}", figure.name), ..figure };
    Ok(part.figures.into_iter().map(named).collect())
}

/// Restores the backup into a new store beside the service's own configuration and keys, and starts a node on it.
async fn restore(service: &Service, folder: &Path, settings: &NodeSettings) -> Fallible<Node> {
    for name in ["master.key", "operator.token"] {
        std::fs::copy(service.folder().join(name), folder.join(name))?;
    }
    let store = format!("sqlite:{}", folder.join("aldaba.db").display());
    let text = std::fs::read_to_string(service.folder().join("aldaba.toml"))?;
    let old = format!("sqlite:{}", service.folder().join("aldaba.db").display());
    std::fs::write(folder.join("aldaba.toml"), text.replace(&old, &store))?;
    let (config, file) = (folder.join("aldaba.toml"), service.folder().join("backup.ndjson"));
    let (config, file) = (config.display().to_string(), file.display().to_string());
    service.command(&["--config", &config, "store", "restore", &file, "--access", "keep"], "")?;
    let mut settings = settings.clone();
    settings.ports = (free_port()?, free_port()?);
    let mut node = Node::start(&service.program, folder, 1, &settings)?;
    node.wait_ready().await?;
    Ok(node)
}
