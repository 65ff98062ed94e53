//! `kill -9` at random moments, and a new start at once.

use std::time::{Duration, Instant};

use super::{CRASH_MAX, OneNode, READY_MAX, spawn, start, stored_too_old};
use crate::load::Load;
use crate::random::Random;
use crate::trial::Bounds;
use crate::{Fallible, Options, Part};

pub(super) async fn kill(one: &mut OneNode, options: &Options) -> Fallible<Part> {
    let rounds = options.count(100, 3);
    let tried = format!(
        "`kill -9` of the node under load to {} webhooks and a new start at once, {rounds} times at random moments; in every fourth round the new process is killed too while it starts. After each start every record is read.",
        one.trial.webhooks
    );
    let mut part = Part::new("the node is killed", tried);
    let OneNode { trial, node, settings } = one;
    let (mut random, mut too_old, mut longest) = (Random::new(1), 0, Duration::ZERO);
    let bounds = Bounds { silence: CRASH_MAX, call: CRASH_MAX };
    let fault = async |load: &Load| {
        for round in 0..rounds {
            tokio::time::sleep(random.millis(50..1000)).await;
            let from = Instant::now();
            node.kill();
            load.pause(true);
            if round % 4 == 3 {
                *node = spawn(trial, settings)?;
                tokio::time::sleep(random.millis(0..150)).await;
                node.kill();
            }
            *node = start(trial, settings).await?;
            longest = longest.max(from.elapsed());
            too_old += stored_too_old(load, &trial.targets[0]).await?;
            load.pause(false);
        }
        Ok(())
    };
    trial.run_beside(&mut part, bounds, fault).await?;
    part.none("records that lacked an acknowledged change after a start", too_old);
    part.within("longest time from the kill until the node was ready again", longest, READY_MAX);
    Ok(part)
}
