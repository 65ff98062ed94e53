//! The store's disk becomes full or read-only, and recovers.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::{CRASH_MAX, OneNode, READY_MAX, spawn, start, stored_too_old};
use crate::http::Answer;
use crate::load::{Load, change_line};
use crate::power_cut::{PowerCut, Survival};
use crate::process::{Node, PAUSE};
use crate::random::Random;
use crate::service::EMAIL;
use crate::trial::{Bounds, Trial};
use crate::{Fallible, Options, Part};

/// `Retry-After` of a refusal is 5 s: a client that obeys it is served at its first attempt after the disk has recovered.
const RECOVERY_MAX: Duration = Duration::from_secs(5);
/// Reads go on, so none takes longer than on a busy machine.
const READ_MAX: Duration = Duration::from_secs(2);
/// The WAL's file may have room for some more changes when the disk becomes full.
const UNTIL_REFUSED: Duration = Duration::from_secs(15);

/// A small tmpfs, unmounted when this is dropped.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount() -> Fallible<Self> {
        let folder = tempfile::tempdir()?;
        mount(&["-t", "tmpfs", "-o", "size=48m,mode=700", "aldaba-proof"], folder.path())?;
        Ok(Self(folder))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn set_read_only(&self, is_read_only: bool) -> Fallible<()> {
        mount(&["-o", if is_read_only { "remount,ro" } else { "remount,rw" }], self.path())
    }

    /// Writes a file until there is no room left. Deleting the file frees the room.
    fn fill(&self) -> Fallible<PathBuf> {
        let path = self.path().join("ballast");
        let mut file = std::fs::File::create(&path)?;
        while file.write_all(&[7; 4096]).is_ok() {}
        Ok(path)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).output();
    }
}

fn mount(options: &[&str], folder: &Path) -> Fallible<()> {
    let mounted = Command::new("mount").args(options).arg(folder).output()?;
    if mounted.status.success() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&mounted.stderr).into_owned();
    Err(format!("mount {}, which needs root: {why}", options.join(" ")).into())
}

pub(super) async fn run(options: &Options) -> Fallible<Vec<Part>> {
    if !options.has_part("full-disk") && !options.has_part("read-only") {
        return Ok(Vec::new());
    }
    let disk = SmallDisk::mount()?;
    let store = format!("sqlite:{}", disk.path().join("aldaba.db").display());
    let mut one = OneNode::start(options, &store).await?;
    let mut parts = Vec::new();
    if options.has_part("full-disk") {
        parts.push(full(&mut one, &disk, options).await?);
    }
    if options.has_part("read-only") {
        parts.push(read_only(&mut one, &disk, options).await?);
    }
    one.node.kill();
    Ok(parts)
}

/// What a client without repetitions saw while nothing could be written.
#[derive(Default)]
struct Refusals {
    /// Changes and reads that were not answered as they must be.
    wrong: Vec<String>,
    refused: usize,
    reads: usize,
    slowest_read: Duration,
    recovery: Duration,
}

impl Refusals {
    /// Sends changes until one is refused, and goes on for a while: changes must be refused, reads answered.
    async fn watch(&mut self, trial: &Trial, token: &str, code: &str, span: Duration) -> Fallible<()> {
        let from = Instant::now();
        while probe(trial).await?.status == 200 {
            if from.elapsed() > UNTIL_REFUSED {
                return Err("changes are not refused".into());
            }
        }
        let from = Instant::now();
        while from.elapsed() < span {
            let refusal = probe(trial).await?;
            let (said, retry) = (refusal.json(), refusal.headers.contains_key("retry-after"));
            if refusal.status != 503 || said["code"] != code || !retry {
                self.wrong.push(format!("{}: {}", refusal.status, refusal.text()));
            }
            self.refused += 1;
            let (asked, url) = (Instant::now(), &trial.targets[0].public_url);
            let read = trial.service.call("GET", url, token, "customers?pageSize=10", "").await?;
            if read.status != 200 {
                self.wrong.push(format!("read {}: {}", read.status, read.text()));
            }
            self.reads += 1;
            self.slowest_read = self.slowest_read.max(asked.elapsed());
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    /// Waits until a change is accepted again.
    async fn wait_recovered(&mut self, trial: &Trial) -> Fallible<()> {
        let from = Instant::now();
        loop {
            let answer = probe(trial).await?;
            if answer.status == 200 {
                break;
            }
            if from.elapsed() > UNTIL_REFUSED {
                return Err(format!("changes are still refused: {}", answer.text()).into());
            }
            tokio::time::sleep(PAUSE).await;
        }
        self.recovery = self.recovery.max(from.elapsed());
        Ok(())
    }

    fn tell(&self, part: &mut Part, code: &str) {
        if let Some(first) = self.wrong.first() {
            eprintln!("    {first}");
        }
        let seen = format!("{} changes refused, {} reads", self.refused, self.reads);
        part.tell("meanwhile, without repetitions", seen);
        let name = format!("of these: changes without 503 `{code}` and `Retry-After`, reads without 200");
        part.none(&name, self.wrong.len());
        part.within("slowest read meanwhile", self.slowest_read, READ_MAX);
        part.within("longest time until changes were accepted again", self.recovery, RECOVERY_MAX);
    }
}

/// One change of a record that no receiver is told about, without repetition.
async fn probe(trial: &Trial) -> Fallible<Answer> {
    let line = change_line("probe", 0).replace("\"customers\"", "\"suppliers\"");
    let line = line.replace("Ferretería", &"Ferretería ".repeat(300));
    let key = format!("probe-{}", crate::load::new_run());
    trial.service.send_lines(&trial.targets[0].operator_url, &line, &key).await
}

async fn full(one: &mut OneNode, disk: &SmallDisk, options: &Options) -> Fallible<Part> {
    let (rounds, span) = (options.count(4, 1), options.span(Duration::from_secs(5), Duration::from_secs(1)));
    let tried = format!(
        "The store is on a tmpfs of 48 MiB. A file fills it under load; when changes have been refused for {} s, the file is deleted; {rounds} times. Then it is filled once more, the node is killed and started on the full disk, and the file is deleted.",
        span.as_secs()
    );
    let mut part = Part::new("the disk is full", tried);
    let mut seen = Refusals::default();
    let OneNode { trial, node, settings } = one;
    let tokens = trial.service.application.sign_in(&trial.service.http, &node.public_url, EMAIL).await?;
    let call = call_max(rounds, span);
    let fault = async |_: &Load| {
        for _ in 0..rounds {
            let ballast = disk.fill()?;
            seen.watch(trial, &tokens.access, "store_full", span).await?;
            std::fs::remove_file(ballast)?;
            seen.wait_recovered(trial).await?;
        }
        Ok(())
    };
    trial.run_beside(&mut part, Bounds { silence: CRASH_MAX, call }, fault).await?;
    seen.tell(&mut part, "store_full");
    let ballast = disk.fill()?;
    node.kill();
    let mut second = spawn(trial, settings)?;
    let on_full = start_on_unusable(&mut second).await;
    std::fs::remove_file(ballast)?;
    second.kill();
    let from = Instant::now();
    *node = start(trial, settings).await?;
    part.tell("a start on the full disk", on_full);
    part.within("start after the room was freed", from.elapsed(), READY_MAX);
    Ok(part)
}

/// The longest call: one fault follows the other as soon as a change is accepted, and a client may miss all these moments.
fn call_max(faults: usize, span: Duration) -> Duration {
    (span + RECOVERY_MAX) * u32::try_from(faults).unwrap_or(1) + UNTIL_REFUSED
}

/// What a node that is started on a disk that takes no writes does, in words.
async fn start_on_unusable(node: &mut Node) -> String {
    match node.wait_ready().await {
        Ok(_) => "the node is ready".to_owned(),
        Err(error) => error.to_string().lines().last().unwrap_or_default().chars().take(240).collect(),
    }
}

async fn read_only(one: &mut OneNode, disk: &SmallDisk, options: &Options) -> Fallible<Part> {
    let (rounds, span) = (options.count(3, 1), options.span(Duration::from_secs(4), Duration::from_secs(1)));
    let tried = format!(
        "Every write, sync and new file of the store fails with EROFS for {} s under load, as after an error of the disk, and works again; then every sync fails with EIO for as long; {rounds} times (the library of the power cuts does it, because a disk with open files does not become read-only on request). Then the power is cut. Last, the node is started on a disk that is mounted read-only.",
        span.as_secs()
    );
    let mut part = Part::new("the disk is read-only or fails", tried);
    let mut seen = Refusals::default();
    // The record begins with the files as they are: nobody may write them until the node runs under it.
    one.node.terminate().await?;
    let mut power = PowerCut::of(disk.path())?;
    let (failing, switches) = power.failing(one.settings.clone())?;
    one.node = start(&one.trial, &failing).await?;
    let OneNode { trial, node, settings } = one;
    let tokens = trial.service.application.sign_in(&trial.service.http, &node.public_url, EMAIL).await?;
    let call = call_max(rounds * switches.len(), span);
    let fault = async |_: &Load| {
        for switch in (0..rounds).flat_map(|_| &switches) {
            std::fs::write(switch, "")?;
            seen.watch(trial, &tokens.access, "store_unavailable", span).await?;
            std::fs::remove_file(switch)?;
            seen.wait_recovered(trial).await?;
        }
        Ok(())
    };
    let outcome = trial.run_beside(&mut part, Bounds { silence: CRASH_MAX, call }, fault).await?;
    seen.tell(&mut part, "store_unavailable");
    node.kill();
    power.happen(Survival::Sectors(50), &mut Random::new(6))?;
    *node = start(trial, settings).await?;
    let too_old = stored_too_old(&outcome.load, &trial.targets[0]).await?;
    part.none("records that lacked an acknowledged change after the power cut", too_old);
    node.terminate().await?;
    disk.set_read_only(true)?;
    let mut second = spawn(trial, settings)?;
    let on_read_only = start_on_unusable(&mut second).await;
    second.kill();
    disk.set_read_only(false)?;
    let from = Instant::now();
    *node = start(trial, settings).await?;
    part.tell("a start on the read-only disk", on_read_only);
    part.within("start after it was writable again", from.elapsed(), READY_MAX);
    Ok(part)
}
