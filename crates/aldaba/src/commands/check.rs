//! `aldaba check`: says what is wrong with a configuration before anybody depends on it.

use serde_json::json;

use crate::config::{self, Sources};
use crate::exit::{Failure, Outcome};
use crate::output::Output;
use crate::{serve, wiring};

pub(crate) async fn run(sources: &Sources, output: Output) -> Outcome {
    let config = config::load(sources).map_err(Failure::Config)?;
    let faults = serve::unfit(&config);
    if !faults.is_empty() {
        return Err(Failure::Config(faults));
    }
    let schema = wiring::schema_of(&config.store.url).await?;
    let store = match schema {
        None => "new, will be made at the first start".to_owned(),
        Some(number) => format!("schema {number}"),
    };
    output.result(&json!({"ok": true, "store": {"schema": schema}, "config": &config}), || {
        format!(
            "the configuration is fine\npublic    {}\noperator  {}\nstore     {store}",
            config.server.listen, config.operator.listen
        )
    });
    Ok(())
}
