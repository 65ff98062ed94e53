//! One node whose receivers misbehave on the wire, or whose receivers' names do, or of whose thousand receivers some always
//! fail.

mod attempts;
mod behaviour;
mod bench;
mod certificates;
mod crowd;
mod dns;
mod latency;
mod misbehaviour;
mod name_cases;
mod name_server;
mod own_network;
mod raw;

use crate::{Fallible, Options, Part};

/// The name under which this program is started again for the part that needs a network of its own.
pub(super) const OWN_NETWORK: &str = "receivers-dns";

pub(super) async fn run(options: &Options) -> Fallible<Vec<Part>> {
    let mut parts = Vec::new();
    if options.has_part("behaviours") {
        parts.push(misbehaviour::each(options).await?);
    }
    if options.has_part("floods") {
        parts.push(misbehaviour::many_floods(options).await?);
    }
    if options.has_part("dns") {
        match own_network::run(options, OWN_NETWORK)? {
            Some(seen) => parts.extend(seen),
            None => {
                return Err("the part dns needs a network of its own: `unshare --net` must be allowed".into());
            }
        }
    }
    if options.has_part("crowd") {
        parts.push(crowd::run(options).await?);
    }
    Ok(parts)
}

/// The part `dns`, inside the network that `run` has made for it.
pub(super) async fn run_in_own_network(options: &Options) -> Fallible<Vec<Part>> {
    dns::run(options).await
}
