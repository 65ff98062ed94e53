//! `aldaba check`: validates the configuration and shows the state of the store.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::config::{self, Config, Sources};
use crate::exit::{CommandResult, Failure};
use crate::output::Output;
use crate::wiring::{ClockDifference, NodeClock, SystemClock};
use crate::{serve, wiring};

pub(crate) async fn run(sources: &Sources, output: Output) -> CommandResult {
    let config = config::load(sources).map_err(Failure::Config)?;
    let faults = serve::unfit(&config);
    if !faults.is_empty() {
        return Err(Failure::Config(faults));
    }
    let schema = wiring::schema_of(&config.store.url).await?;
    let store = match schema {
        None => "does not exist yet; the first start creates it".to_owned(),
        Some(number) => format!("schema version {number}"),
    };
    let clock = clock_difference(&config).await?;
    let difference = clock.map(|difference| difference.seconds);
    let clock = clock.map_or_else(String::new, |difference| format!("\nclock     {}", describe(difference)));
    let json = json!({
        "ok": true, "store": {"schema": schema, "clockDifferenceSeconds": difference}, "config": &config,
        "keys": &config.keys
    });
    output.result(&json, || {
        format!(
            "the configuration is valid\npublic    {}\noperator  {}\nstore     {store}{clock}",
            config.server.listen, config.operator.listen
        )
    });
    Ok(())
}

/// By how much this machine's clock differs from the database's; `None` where there is no database of its own.
async fn clock_difference(config: &Config) -> Result<Option<ClockDifference>, Failure> {
    let shown = wiring::clock_of(&config.store.url).await?;
    Ok(shown.map(|shown| NodeClock::new(Arc::new(SystemClock)).compare(shown, Duration::ZERO)))
}

fn describe(ClockDifference { seconds, is_corrected }: ClockDifference) -> String {
    let (by, side) = (seconds.abs(), if seconds > 0.0 { "ahead of" } else { "behind" });
    if is_corrected {
        format!(
            "{by:.1} s {side} the database's: set this machine's clock; nodes use the database's time meanwhile"
        )
    } else {
        format!("agrees with the database's (difference {by:.1} s)")
    }
}
