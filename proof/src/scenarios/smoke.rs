//! One node without any fault: shows that load, receivers and checker work together.

use std::time::Duration;

use crate::load::LoadSettings;
use crate::service::Service;
use crate::trial::{Bounds, Trial};
use crate::{Fallible, Options, Part};

const WEBHOOKS: usize = 10;

pub(crate) async fn run(options: &Options) -> Fallible<Vec<Part>> {
    let mut service = Service::new(options, "")?;
    let settings = service.settings();
    let node = service.start(&settings).await?;
    let span = options.span(Duration::from_secs(10), Duration::from_secs(3));
    let mut part =
        Part::new("no fault", format!("{WEBHOOKS} webhooks on one node, {} s of load.", span.as_secs()));
    let trial = Trial::new(service, vec![node.target()], WEBHOOKS, LoadSettings::default()).await?;
    let second = Duration::from_secs(1);
    trial
        .run(&mut part, Bounds { silence: second, call: second }, async || {
            tokio::time::sleep(span).await;
            Ok(())
        })
        .await?;
    Ok(vec![part])
}
