//! Too little memory, and too few file descriptors.

use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use super::{CRASH_MAX, OneNode, inactive_webhooks, start, stored_too_old};
use crate::http::Answer;
use crate::load::{Load, change_line, new_run};
use crate::process::Node;
use crate::random::Random;
use crate::service::EMAIL;
use crate::trial::{Bounds, Trial};
use crate::{Fallible, Options, Part};

/// The limits of a small installation: they leave 350 − 200 files for connections.
const SMALL: [(&str, &str); 5] = [
    ("server.connections_max", "100"),
    ("server.connections_per_address_max", "0"),
    ("operator.connections_max", "30"),
    ("egress.sockets_max", "16"),
    ("store.connections_max", "4"),
];
const OPEN_FILES: usize = 350;
const FLOOD: usize = 1000;

/// Changes a limit of a running process.
fn limit(node: &Node, limit: &str) -> Fallible<()> {
    let set = Command::new("prlimit").args(["--pid", &node.id().to_string(), limit]).output()?;
    if set.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&set.stderr).into()) }
}

fn address_space_bytes(node: &Node) -> Fallible<usize> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", node.id()))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:")).ok_or("no VmSize")?;
    Ok(line.trim().trim_end_matches(" kB").trim().parse::<usize>()? * 1024)
}

pub(super) async fn memory(one: &mut OneNode, options: &Options) -> Fallible<Part> {
    let rounds = options.count(10, 2);
    let tried = format!(
        "The process may take 0 to 64 MiB more address space than it has (RLIMIT_AS), while eight clients each stream 4 MiB of changes, read large pages and sign in beside the load; then the limit is lifted. A process that ended is started again. {rounds} times."
    );
    let mut part = Part::new("memory runs out", tried);
    let OneNode { trial, node, settings } = one;
    let tokens = trial.service.application.sign_in(&trial.service.http, &node.public_url, EMAIL).await?;
    let (mut random, mut too_old, mut failed) = (Random::new(5), 0, 0);
    let (mut ended, mut unnamed) = (0, Vec::new());
    let bounds = Bounds { silence: CRASH_MAX + CRASH_MAX, call: CRASH_MAX + CRASH_MAX };
    let fault = async |load: &Load| {
        for round in 0..rounds {
            let room = if round == 0 { 0 } else { random.among(0..64 << 20) };
            let log_before = node.log().len();
            limit(node, &format!("--as={}:", address_space_bytes(node)? + room))?;
            failed += press(trial, &tokens.access, round).await;
            if node.has_ended() {
                ended += 1;
                let said = node.log().split_off(log_before);
                if !said.contains("memory") && !said.contains("allocat") && !said.contains("thread") {
                    unnamed.push(said);
                }
                *node = start(trial, settings).await?;
            } else {
                limit(node, "--as=unlimited:")?;
                node.wait_ready().await?;
            }
            load.pause(true);
            too_old += stored_too_old(load, &trial.targets[0]).await?;
            load.pause(false);
        }
        Ok(())
    };
    trial.run_beside(&mut part, bounds, fault).await?;
    part.none("records that lacked an acknowledged change afterwards", too_old);
    part.tell("processes that ended", format!("{ended} of {rounds}; the others went on"));
    part.tell("calls of the eight clients that failed", format!("{failed} of {}", rounds * 8 * 3));
    if let Some(said) = unnamed.first() {
        eprintln!("    {said}");
    }
    part.none("ends without the reason in the log", unnamed.len());
    part.none("webhooks that are not active", inactive_webhooks(trial).await?);
    Ok(part)
}

/// Eight clients at once that need memory: each streams large changes that no receiver is told about, reads large pages and
/// signs in. Returns how many of these calls failed.
async fn press(trial: &Trial, token: &str, round: usize) -> usize {
    let text = "x".repeat(4000);
    let (service, target) = (&trial.service, &trial.targets[0]);
    let clients = (0..8).map(|client| {
        let line = |number: usize| {
            let line = change_line(&format!("large-{client}-{number}"), round as u64);
            line.replace("\"customers\"", "\"suppliers\"").replace("Ferretería", &text)
        };
        let lines: Vec<String> = (0..500).map(line).collect();
        async move {
            let (lines, key) = (lines.join("\n"), format!("large-{round}-{client}-{}", new_run()));
            let sent = service.send_lines(&target.operator_url, &lines, &key);
            let pages = "suppliers?pageSize=500";
            let read = service.call("GET", &target.public_url, token, pages, "");
            let sign_in = service.application.sign_in(&service.http, &target.public_url, EMAIL);
            let (sent, read, sign_in) = futures_util::future::join3(sent, read, sign_in).await;
            let is_good = |answer: Fallible<Answer>| answer.is_ok_and(|answer| answer.status == 200);
            [is_good(sent), is_good(read), sign_in.is_ok()].into_iter().filter(|is_good| !is_good).count()
        }
    });
    futures_util::future::join_all(clients).await.into_iter().sum()
}

pub(super) async fn descriptors(one: &mut OneNode, options: &Options) -> Fallible<Part> {
    let span = options.span(Duration::from_secs(8), Duration::from_secs(1));
    let rounds = options.count(3, 1);
    let tried = format!(
        "The node may open {OPEN_FILES} files and is configured for that. {FLOOD} connections that say nothing are held for {} s under load. Then the running process may open no more files than it has (RLIMIT_NOFILE) for {} s, in which its clients' connections are closed and opened anew; then the limit is lifted. {rounds} times.",
        span.as_secs(),
        span.as_secs()
    );
    let mut part = Part::new("file descriptors run out", tried);
    let mut small = one.settings.clone();
    small.wrapper = vec!["prlimit".to_owned(), format!("--nofile={OPEN_FILES}")];
    for (key, value) in SMALL {
        small = small.set(key, value);
    }
    one.restart(&small).await?;
    let OneNode { trial, node, .. } = one;
    let mut most = 0;
    let call = span + CRASH_MAX;
    let fault = async |_: &Load| {
        for _ in 0..rounds {
            let address = node.public_url.trim_start_matches("http://").to_owned();
            let flood: Vec<TcpStream> =
                (0..FLOOD).filter_map(|_| TcpStream::connect(&address).ok()).collect();
            tokio::time::sleep(span / 2).await;
            most = most.max(open_files(node)?);
            tokio::time::sleep(span / 2).await;
            drop(flood);
            limit(node, &format!("--nofile={}:", open_files(node)?))?;
            tokio::time::sleep(span).await;
            limit(node, &format!("--nofile={OPEN_FILES}:"))?;
            tokio::time::sleep(span / 2).await;
        }
        Ok(())
    };
    trial.run_beside(&mut part, Bounds { silence: call, call }, fault).await?;
    part.at_most("most open files during the flood", most as f64, OPEN_FILES as f64, "files");
    part.none("ends of the process", usize::from(node.has_ended()));
    part.none("webhooks that are not active", inactive_webhooks(trial).await?);
    let settings = one.settings.clone();
    one.restart(&settings).await?;
    Ok(part)
}

fn open_files(node: &Node) -> Fallible<usize> {
    Ok(std::fs::read_dir(format!("/proc/{}/fd", node.id()))?.count())
}
