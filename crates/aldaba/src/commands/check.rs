//! `aldaba check`: validates the configuration and shows the state of the store.

use serde_json::json;

use crate::config::{self, Sources};
use crate::exit::{CommandResult, Failure};
use crate::output::Output;
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
    output.result(&json!({"ok": true, "store": {"schema": schema}, "config": &config}), || {
        format!(
            "the configuration is valid\npublic    {}\noperator  {}\nstore     {store}",
            config.server.listen, config.operator.listen
        )
    });
    Ok(())
}
