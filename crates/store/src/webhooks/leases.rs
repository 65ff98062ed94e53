//! Shares the shards among the nodes through their leases alone. A node takes what nobody holds, asks for its share of what
//! others hold, and gives a shard back only where a living node asks for it. So a node that starts and ends again and again
//! takes nothing from the others.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use domain::{Guid, Ticks};

use super::{SHARDS, ShardLease};

/// An ask that is not renewed for this long has ended: its node is gone.
const ASK_SPAN: Duration = Duration::from_secs(2);
/// For this long after a lease has ended, only established nodes take the shard, each up to its share.
const ESTABLISHED_FIRST: Duration = Duration::from_secs(1);

/// What a node tells the store when it renews its leases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseRenewal {
    pub node: Guid,
    /// How long the leases last from now, by the store's clock.
    pub lease: Duration,
    /// Shards that another node asked for and in which this node starts nothing any more.
    pub gives: Vec<u8>,
    /// The node has run for long enough to ask for shards that others hold.
    pub is_established: bool,
}

impl LeaseRenewal {
    /// An established node that gives nothing.
    pub fn new(node: Guid, lease: Duration) -> Self {
        Self { node, lease, gives: Vec::new(), is_established: true }
    }
}

/// A node's leases after a renewal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenewedLeases {
    /// In order of the shards.
    pub held: Vec<ShardLease>,
    /// The held shards that another living node asks for.
    pub asked: Vec<u8>,
    /// How many shards this renewal took from a node that no longer renews them.
    pub taken_over: usize,
    /// How many shards this renewal gave to nodes that asked.
    pub given: usize,
    /// When the first lease of another node ends, unless that node renews it.
    pub next_expiry: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    pub(crate) shard: u8,
    pub(crate) holder: Option<Guid>,
    pub(crate) fence: i64,
    /// A released lease ended when it was released.
    pub(crate) expires_at: Ticks,
    pub(crate) asked_by: Option<Guid>,
    pub(crate) asked_until: Ticks,
}

impl Lease {
    /// A lease without a holder.
    pub(crate) fn free(shard: u8) -> Self {
        let long_ago = Ticks(0);
        Self { shard, holder: None, fence: 0, expires_at: long_ago, asked_by: None, asked_until: long_ago }
    }

    pub(crate) fn as_shard_lease(&self) -> ShardLease {
        ShardLease { shard: self.shard, fence: self.fence }
    }

    /// Without a holder, since now. The fence stays until another node acquires the shard, so that the last holder can
    /// still write its checkpoints.
    pub(crate) fn released(&self, now: Ticks) -> Self {
        Self { holder: None, expires_at: now, ..*self }
    }

    fn living_holder(&self, now: Ticks) -> Option<Guid> {
        self.holder.filter(|_| self.expires_at > now)
    }

    fn living_asker(&self, now: Ticks) -> Option<Guid> {
        self.asked_by.filter(|_| self.asked_until > now)
    }
}

/// All leases after a node has renewed its own, given what it gives, taken what is free, and asked for its share.
pub(crate) fn rebalance(before: &[Lease], renewal: &LeaseRenewal, now: Ticks) -> (Vec<Lease>, RenewedLeases) {
    let (node, until) = (renewal.node, now + renewal.lease);
    let mut leases = before.to_vec();
    let mut renewed = RenewedLeases::default();
    for lease in leases.iter_mut().filter(|lease| lease.holder == Some(node)) {
        let asker = lease.living_asker(now).filter(|asker| *asker != node);
        if asker.is_some() && renewal.gives.contains(&lease.shard) {
            *lease = lease.released(now);
            renewed.given += 1;
        } else {
            lease.expires_at = until;
        }
    }
    renewed.taken_over = take_free(&mut leases, renewal, now);
    if renewal.is_established {
        ask_for_share(&mut leases, node, now);
    }
    for lease in leases.iter().filter(|lease| lease.holder == Some(node)) {
        renewed.held.push(lease.as_shard_lease());
        if lease.living_asker(now).is_some_and(|asker| asker != node) {
            renewed.asked.push(lease.shard);
        }
    }
    let others = leases.iter().filter(|lease| lease.living_holder(now).is_some_and(|holder| holder != node));
    renewed.next_expiry = others.map(|lease| lease.expires_at.since(now)).min();
    (leases, renewed)
}

/// How many shards each living node holds: those that hold leases, those that ask, and this one.
fn shards_by_node(leases: &[Lease], node: Guid, now: Ticks) -> BTreeMap<Guid, usize> {
    let mut counts = BTreeMap::from([(node, 0)]);
    for lease in leases {
        if let Some(holder) = lease.living_holder(now) {
            *counts.entry(holder).or_default() += 1;
        }
        if let Some(asker) = lease.living_asker(now) {
            counts.entry(asker).or_default();
        }
    }
    counts
}

/// Takes free shards; returns how many of them a node held that no longer renews.
fn take_free(leases: &mut [Lease], renewal: &LeaseRenewal, now: Ticks) -> usize {
    let node = renewal.node;
    let counts = shards_by_node(leases, node, now);
    let share = usize::from(SHARDS).div_ceil(counts.len());
    let mut held = counts[&node];
    let is_alone = counts.iter().all(|(other, held)| *other == node || *held == 0);
    let mut taken_over = 0;
    for lease in leases.iter_mut().filter(|lease| lease.living_holder(now).is_none()) {
        let takes = if let Some(asker) = lease.living_asker(now) {
            asker == node
        } else {
            let is_left_over = lease.expires_at + ESTABLISHED_FIRST <= now;
            is_alone || is_left_over || (renewal.is_established && held < share)
        };
        if takes {
            held += 1;
            taken_over += usize::from(lease.holder.is_some());
            let taken = Lease { holder: Some(node), expires_at: now + renewal.lease, ..*lease };
            *lease = Lease { fence: lease.fence + 1, asked_by: None, asked_until: Ticks(0), ..taken };
        }
    }
    taken_over
}

/// Asks for shards of the nodes that hold most, until this node would have its share. Asks of earlier renewals stay with
/// their shards, because their holders may have stopped starting attempts in them.
fn ask_for_share(leases: &mut [Lease], node: Guid, now: Ticks) {
    let mut counts = shards_by_node(leases, node, now);
    let share = usize::from(SHARDS) / counts.len();
    let mut asked = BTreeSet::new();
    for lease in leases.iter_mut().filter(|lease| lease.holder != Some(node)) {
        let Some(asker) = lease.living_asker(now) else { continue };
        // This shard moves: it counts for the node that asks.
        if asker == node && counts[&node] >= share {
            (lease.asked_by, lease.asked_until) = (None, Ticks(0));
            continue;
        }
        if asker == node {
            asked.insert(lease.shard);
        }
        *counts.entry(asker).or_default() += 1;
        if let Some(holder) = lease.living_holder(now) {
            counts.entry(holder).and_modify(|held| *held -= 1);
        }
    }
    while counts[&node] < share {
        let richest = counts.iter().max_by_key(|(other, held)| (**held, **other)).map(|(other, _)| *other);
        let Some(richest) = richest.filter(|richest| counts[richest] > counts[&node] + 1) else { break };
        let is_free_to_ask =
            |lease: &&Lease| lease.living_holder(now) == Some(richest) && lease.living_asker(now).is_none();
        let candidates = leases.iter().filter(is_free_to_ask);
        let Some(shard) = candidates.map(|lease| lease.shard).find(|shard| !asked.contains(shard)) else {
            break;
        };
        asked.insert(shard);
        counts.entry(richest).and_modify(|held| *held -= 1);
        counts.entry(node).and_modify(|held| *held += 1);
    }
    for lease in leases.iter_mut().filter(|lease| asked.contains(&lease.shard)) {
        (lease.asked_by, lease.asked_until) = (Some(node), now + ASK_SPAN);
    }
}

#[cfg(test)]
mod tests;
