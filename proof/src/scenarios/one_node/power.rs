//! Power cuts: the process is killed, and its files become what a disk may have kept of them.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::{CRASH_MAX, OneNode, READY_MAX, power_commands, spawn, start, stored_too_old};
use crate::load::{Load, LoadSettings};
use crate::power_cut::{Cut, Moment, PowerCut, Survival, has_extension};
use crate::process::{Node, NodeSettings, PAUSE};
use crate::random::Random;
use crate::trial::{Bounds, Trial};
use crate::{Fallible, Options, Part};

/// How long the process may take to reach the moment of its end.
const MOMENT_MAX: Duration = Duration::from_secs(3);
/// So many changes that a checkpoint of the WAL comes every few seconds.
const CHANGES_PER_SECOND: u32 = 60;
/// Clients wait while the proof copies the store, checks it and reads every record.
const CALL_MAX: Duration = Duration::from_secs(30);
/// A WAL of 4,000 pages is checkpointed.
const CHECKPOINT_PAGES: usize = 1000;

#[derive(Default)]
struct Cuts {
    too_old: usize,
    damaged: Vec<String>,
    bytes: usize,
    names: usize,
    with_unsynced: usize,
    in_checkpoint: usize,
    before_load: usize,
    longest_start: Duration,
}

pub(super) async fn cut(one: &mut OneNode, options: &Options) -> Fallible<Part> {
    let rounds = options.count(50, 2);
    let tried = format!(
        "The power is cut {rounds} times under load ({CHANGES_PER_SECOND} changes a second): the process is killed at a random moment, in the middle of a write of the WAL, before a sync, or in the middle of a checkpoint. Its files then hold what was synced, and of the rest nothing, everything, the writes up to some point, or sectors of 512 bytes in any combination. The node starts on that, SQLite's `integrity_check` looks at a copy, and every record is read."
    );
    let mut part = Part::new("the power is cut", tried);
    one.node.terminate().await?;
    one.trial.load = LoadSettings { changes_per_second: CHANGES_PER_SECOND, ..LoadSettings::default() };
    let OneNode { trial, node, settings } = one;
    let mut power = PowerCut::of(trial.service.folder())?;
    let (mut random, mut cuts) = (Random::new(2), Cuts::default());
    *node = start(trial, &power.record(settings.clone(), None)?).await?;
    let mut moment = None;
    let fault = async |load: &Load| {
        for round in 0..rounds {
            let patience = if moment.is_some() { MOMENT_MAX } else { random.millis(300..1500) };
            wait_for_the_end(node, patience).await;
            load.pause(true);
            let survival = survival(&mut random);
            let cut = power.happen(survival, &mut random).map_err(|why| format!("cut {round}: {why}"))?;
            cuts.count(&cut);
            cuts.damaged.extend(damage(trial.service.folder())?);
            moment = next_moment(&mut random).filter(|_| round + 1 < rounds);
            let from = Instant::now();
            *node = spawn(trial, &power.record(settings.clone(), moment)?)?;
            let ready = node.wait_ready().await;
            cuts.longest_start = cuts.longest_start.max(from.elapsed());
            match stored_too_old(load, &trial.targets[0]).await {
                // The moment has come already: clients notice that before the process has ended.
                Err(_) if moment.is_some() => cuts.before_load += 1,
                too_old => {
                    ready?;
                    cuts.too_old += too_old?;
                    load.pause(false);
                }
            }
        }
        Ok(())
    };
    trial.run_beside(&mut part, Bounds { silence: CRASH_MAX, call: CALL_MAX }, fault).await?;
    cuts.tell(&mut part);
    let planted = lying_disk(trial, node, &mut power, settings).await?;
    part.at_least(
        "planted fault, a disk that reports syncs and does not do them: records found without an acknowledged change",
        planted as f64,
        1.0,
        "records",
    );
    power_commands::check(&mut part, &trial.service.program)?;
    Ok(part)
}

/// Waits until the process has killed itself, or kills it.
async fn wait_for_the_end(node: &mut Node, patience: Duration) {
    let from = Instant::now();
    while !node.has_ended() && from.elapsed() < patience {
        tokio::time::sleep(PAUSE).await;
    }
    node.kill();
}

fn next_moment(random: &mut Random) -> Option<Moment> {
    match random.among(0..4) {
        0 => None,
        1 => Some(Moment::Sync("-wal", random.among(1..80))),
        2 => Some(Moment::Write("-wal", random.among(1..800))),
        _ => Some(Moment::Write(".db", random.among(1..CHECKPOINT_PAGES))),
    }
}

fn survival(random: &mut Random) -> Survival {
    match random.among(0..8) {
        0 | 1 => Survival::Nothing,
        2 => Survival::Prefix,
        3 => Survival::Everything,
        _ => Survival::Sectors(random.among(5..95)),
    }
}

impl Cuts {
    fn count(&mut self, cut: &Cut) {
        self.bytes += cut.bytes;
        self.names += cut.names;
        self.with_unsynced += usize::from(cut.bytes > 0);
        self.in_checkpoint += usize::from(cut.files.iter().any(|file| has_extension(file, "db")));
    }

    fn tell(&self, part: &mut Part) {
        for damage in &self.damaged {
            eprintln!("    {damage}");
        }
        part.none("stores that SQLite finds damaged after a cut", self.damaged.len());
        part.none("records that lacked an acknowledged change after a cut", self.too_old);
        part.within("longest start after a cut", self.longest_start, READY_MAX);
        let what = format!(
            "{} cuts with unsynced writes ({} KiB in all), {} of them in a checkpoint; {} before changes went on; {} unsynced names",
            self.with_unsynced,
            self.bytes / 1024,
            self.in_checkpoint,
            self.before_load,
            self.names
        );
        part.tell("what the cuts hit", what);
    }
}

/// What SQLite's own check says about a copy of the store, where it is not well.
fn damage(folder: &Path) -> Fallible<Option<String>> {
    let copy = tempfile::tempdir()?;
    for name in ["aldaba.db", "aldaba.db-wal"] {
        if folder.join(name).exists() {
            std::fs::copy(folder.join(name), copy.path().join(name))?;
        }
    }
    let checked = Command::new("sqlite3")
        .arg(copy.path().join("aldaba.db"))
        .arg("PRAGMA integrity_check")
        .output()
        .map_err(|error| format!("sqlite3: {error}"))?;
    let said = [checked.stdout, checked.stderr].concat();
    let said = String::from_utf8_lossy(&said).trim().to_owned();
    Ok((said != "ok").then_some(said))
}

/// Shows that the check can fail: the same cut on a disk that does nothing when it is told to sync. Returns how many records
/// lack an acknowledged change.
async fn lying_disk(
    trial: &Trial,
    node: &mut Node,
    power: &mut PowerCut,
    settings: &NodeSettings,
) -> Fallible<usize> {
    node.terminate().await?;
    *node = start(trial, &power.record_without_syncs(settings.clone())?).await?;
    let tokens = trial.sign_in().await?;
    let mut load = Load::start(&trial.service, trial.targets.clone(), &tokens, &trial.load)?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    load.stop().await?;
    node.kill();
    power.happen(Survival::Nothing, &mut Random::new(3))?;
    *node = start(trial, settings).await?;
    Ok(load.stored_too_old(&trial.targets[0], &load.ledger.acknowledged()).await?.len())
}
