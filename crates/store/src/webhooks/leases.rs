//! Shares the shards among the nodes: each node acquires free shards up to its share and releases any surplus.

use domain::{Guid, Ticks};

use super::{SHARDS, ShardLease};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    pub(crate) shard: u8,
    pub(crate) holder: Option<Guid>,
    pub(crate) fence: i64,
    pub(crate) expires_at: Ticks,
}

impl Lease {
    /// A lease without a holder.
    pub(crate) fn free(shard: u8) -> Self {
        Self { shard, holder: None, fence: 0, expires_at: Ticks(0) }
    }

    pub(crate) fn as_shard_lease(&self) -> ShardLease {
        ShardLease { shard: self.shard, fence: self.fence }
    }
}

/// The share of one of so many nodes.
fn fair_share(nodes: u32) -> usize {
    usize::from(SHARDS).div_ceil(usize::try_from(nodes.max(1)).unwrap_or(usize::MAX))
}

/// The leases that change when a node renews its own and takes its share, including all that it then holds. A
/// released shard keeps its fence until another node acquires it, so the last holder can still write its
/// checkpoints.
pub(crate) fn rebalance(leases: &[Lease], node: Guid, nodes: u32, now: Ticks, until: Ticks) -> Vec<Lease> {
    let fair_share = fair_share(nodes);
    let (own, others): (Vec<Lease>, Vec<Lease>) = leases.iter().partition(|one| one.holder == Some(node));
    let (retained, surplus) = own.split_at(own.len().min(fair_share));
    let renewed = retained.iter().map(|one| Lease { expires_at: until, ..*one });
    let returned = surplus.iter().map(|one| Lease { holder: None, ..*one });
    let free = others.iter().filter(|one| one.holder.is_none() || one.expires_at <= now);
    let acquired = free.take(fair_share - retained.len()).map(|one| Lease {
        holder: Some(node),
        fence: one.fence + 1,
        expires_at: until,
        ..*one
    });
    renewed.chain(acquired).chain(returned).collect()
}

/// The shards that the node holds, in order.
pub(crate) fn leases_held_by(leases: &[Lease], node: Guid) -> Vec<ShardLease> {
    let mut held: Vec<ShardLease> =
        leases.iter().filter(|one| one.holder == Some(node)).map(Lease::as_shard_lease).collect();
    held.sort_unstable_by_key(|one| one.shard);
    held
}
