//! A second `serve` on the same file.

use std::time::Duration;

use super::{CRASH_MAX, OneNode, start};
use crate::load::Load;
use crate::process::{Node, free_port};
use crate::trial::Bounds;
use crate::{Fallible, Options, Part};

pub(super) async fn beside(one: &mut OneNode, options: &Options) -> Fallible<Part> {
    let rounds = options.count(6, 1);
    let tried = format!(
        "Two processes serve one SQLite file, and clients use both in turn. `kill -9` of one under load and a new start three seconds later, {rounds} times in turn. One process is what the documentation recommends; a second one must not harm."
    );
    let mut part = Part::new("two processes on one file", tried);
    let mut other = one.settings.clone();
    other.ports = (free_port()?, free_port()?);
    let second: Node = start(&one.trial, &other).await?;
    let away = options.span(Duration::from_secs(3), Duration::from_secs(1));
    one.trial.targets.push(second.target());
    let mut settings = [one.settings.clone(), other];
    let OneNode { trial, node, .. } = one;
    let mut second = second;
    let bounds = Bounds { silence: CRASH_MAX, call: CRASH_MAX };
    let fault = async |_: &Load| {
        tokio::time::sleep(away).await;
        for _ in 0..rounds {
            node.kill();
            tokio::time::sleep(away).await;
            *node = start(trial, &settings[0]).await?;
            tokio::time::sleep(away).await;
            // The next to be killed is the other one, which delivers now.
            std::mem::swap(node, &mut second);
            settings.swap(0, 1);
        }
        Ok(())
    };
    trial.run_beside(&mut part, bounds, fault).await?;
    if rounds % 2 == 1 {
        std::mem::swap(node, &mut second);
    }
    second.terminate().await?;
    trial.targets.truncate(1);
    Ok(part)
}
