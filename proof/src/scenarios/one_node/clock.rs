//! The machine's clock jumps by hours under load.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use super::{CRASH_MAX, OneNode, inactive_webhooks, start};
use crate::load::Load;
use crate::trial::Bounds;
use crate::{Fallible, Options, Part};

/// Hours by which the clock is wrong, one after the other. 26 hours are longer than the window of retries (24 h) and than the
/// time for which idempotency keys are stored (24 h).
const JUMPS: [i64; 8] = [3, 0, -3, 0, 26, -26, 26, 0];
const BOUNDED_JUMPS: [i64; 2] = [3, 0];
/// The first retry comes after 5 s and a tenth of that; the rest is for a busy machine.
const RETRY_MAX: Duration = Duration::from_secs(12);
/// One in so many events is refused once.
const REFUSED: u64 = 20;

/// libfaketime, which the package `faketime` has.
fn library() -> Fallible<PathBuf> {
    for folder in std::fs::read_dir("/usr/lib")? {
        let library = folder?.path().join("faketime/libfaketimeMT.so.1");
        if library.exists() {
            return Ok(library);
        }
    }
    Err("libfaketime is missing: install the Debian package faketime".into())
}

pub(super) async fn jumps(one: &mut OneNode, options: &Options) -> Fallible<Part> {
    let jumps: &[i64] = if options.is_bounded { &BOUNDED_JUMPS } else { &JUMPS };
    let span = options.span(Duration::from_secs(6), Duration::from_millis(1500));
    let hours: Vec<String> = jumps.iter().map(|hours| format!("{hours:+}")).collect();
    let tried = format!(
        "Under load the node is killed and started with a clock (libfaketime) that is three hours behind; then the clock is wrong by {} hours, one after the other, each for {} s. Receivers answer one in {REFUSED} events with 500 once, so that retries are pending at every jump.",
        hours.join(", "),
        span.as_secs()
    );
    let mut part = Part::new("the clock jumps", tried);
    let work = tempfile::tempdir()?;
    let file = work.path().join("clock");
    let set = |hours: i64| std::fs::write(&file, format!("{hours:+}h\n"));
    set(0)?;
    let settings = one
        .settings
        .clone()
        .environment("LD_PRELOAD", &library()?.display().to_string())
        .environment("FAKETIME_TIMESTAMP_FILE", &file.display().to_string())
        .environment("FAKETIME_CACHE_DURATION", "1")
        .environment("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    one.restart(&settings).await?;
    refuse_some(one);
    let OneNode { trial, node, .. } = one;
    let bounds = Bounds { silence: CRASH_MAX, call: CRASH_MAX };
    let fault = async |_: &Load| {
        tokio::time::sleep(span).await;
        set(-3)?;
        node.kill();
        *node = start(trial, &settings).await?;
        tokio::time::sleep(span).await;
        for hours in jumps {
            set(*hours)?;
            tokio::time::sleep(span).await;
        }
        Ok(())
    };
    let outcome = trial.run_beside(&mut part, bounds, fault).await?;
    part.within(
        "longest time from a change to its delivery, one refusal included",
        outcome.findings.slowest,
        RETRY_MAX,
    );
    part.none("webhooks that are not active", inactive_webhooks(trial).await?);
    trial.receivers.answer_with(|_| 200);
    let settings = one.settings.clone();
    one.restart(&settings).await?;
    Ok(part)
}

/// Receivers refuse some events once.
fn refuse_some(one: &OneNode) {
    let refused = Mutex::new(HashSet::new());
    one.trial.receivers.answer_with(move |arrival| {
        let is_first = (arrival.change + arrival.webhook as u64).is_multiple_of(REFUSED)
            && refused.lock().is_ok_and(|mut refused| refused.insert((arrival.webhook, arrival.change)));
        if is_first { 500 } else { 200 }
    });
}
