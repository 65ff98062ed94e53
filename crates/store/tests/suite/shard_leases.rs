//! Who delivers: nodes share the shards out, and what an earlier holder still writes is refused.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::Guid;
use store::{CheckpointResult, SHARDS, ShardLease, WebhookCheckpoint};

use super::stage::{Kind, Stage};
use super::webhook_fixtures::{LEASE, body, guid, made, node};

fn other() -> Guid {
    guid(8)
}

fn shards(held: &[ShardLease]) -> BTreeSet<u8> {
    held.iter().map(|one| one.shard).collect()
}

pub(crate) async fn a_node_alone_holds_every_shard_and_keeps_its_fences(stage: Stage) {
    let store = &stage.store;
    let held = store.renew_shard_leases(node(), 1, LEASE).await.unwrap();
    assert_eq!(shards(&held).len(), usize::from(SHARDS));
    assert!(held.is_sorted_by_key(|one| one.shard));
    assert_eq!(store.renew_shard_leases(node(), 1, LEASE).await, Ok(held.clone()));
    store.release_shards(node()).await.unwrap();
    let anew = store.renew_shard_leases(node(), 1, LEASE).await.unwrap();
    assert!(held.iter().zip(&anew).all(|(before, after)| after.fence > before.fence));
}

/// Where one is gone, the next has its shards at once, and writes of the one before are refused.
pub(crate) async fn a_shard_changes_hands_with_a_new_fence(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    let webhook = made(store, body(&stage, &desk, "a")).await;
    let there = stage.reopen().await.store;
    let held = store.renew_shard_leases(node(), 1, LEASE).await.unwrap();
    assert_eq!(there.renew_shard_leases(other(), 1, LEASE).await, Ok(Vec::new()), "nothing is free");
    let fence = held[usize::from(store::shard_of(webhook.id))].fence;
    let point = || WebhookCheckpoint::new(webhook.id, fence, webhook.revision);
    assert_eq!(store.checkpoint(vec![point()]).await, Ok(vec![CheckpointResult::Written]));
    store.release_shards(node()).await.unwrap();
    assert_eq!(
        store.checkpoint(vec![point()]).await,
        Ok(vec![CheckpointResult::Written]),
        "nobody has taken it yet"
    );
    let theirs = there.renew_shard_leases(other(), 1, LEASE).await.unwrap();
    assert_eq!(shards(&theirs).len(), usize::from(SHARDS));
    assert!(held.iter().zip(&theirs).all(|(before, after)| after.fence > before.fence));
    assert_eq!(store.checkpoint(vec![point()]).await, Ok(vec![CheckpointResult::Fenced]));
    assert_eq!(store.renew_shard_leases(node(), 1, LEASE).await, Ok(Vec::new()));
}

/// Two nodes have half of them each. A SQLite file is one process's: the other has none.
pub(crate) async fn nodes_share_the_shards_out(stage: Stage) {
    let (store, there) = (&stage.store, stage.reopen().await.store);
    let first = store.renew_shard_leases(node(), 1, LEASE).await.unwrap();
    let halved = store.renew_shard_leases(node(), 2, LEASE).await.unwrap();
    let theirs = there.renew_shard_leases(other(), 2, LEASE).await.unwrap();
    if stage.kind == Kind::Sqlite {
        assert_eq!((halved, theirs), (first, Vec::new()));
        return;
    }
    assert_eq!((halved.len(), theirs.len()), (128, 128));
    assert!(shards(&halved).is_disjoint(&shards(&theirs)));
    assert!(halved.iter().all(|one| first.contains(one)), "what is kept keeps its fence");
    assert!(theirs.iter().all(|one| first[usize::from(one.shard)].fence < one.fence));
    // A third comes: each gives back what is above its part, rounded up.
    let parts =
        [store.renew_shard_leases(node(), 3, LEASE).await, there.renew_shard_leases(other(), 3, LEASE).await];
    assert!(parts.iter().all(|part| part.as_ref().unwrap().len() == 86));
    assert_eq!(store.renew_shard_leases(guid(7), 3, LEASE).await.unwrap().len(), 84);
    // It leaves, and the two have them again.
    store.release_shards(guid(7)).await.unwrap();
    store.renew_shard_leases(node(), 2, LEASE).await.unwrap();
    assert_eq!(there.renew_shard_leases(other(), 2, LEASE).await.unwrap().len(), 128);
}

pub(crate) async fn a_silent_nodes_shards_are_taken_when_its_lease_ends(stage: Stage) {
    let (store, there) = (&stage.store, stage.reopen().await.store);
    let held = store.renew_shard_leases(node(), 2, Duration::ZERO).await.unwrap();
    if stage.kind == Kind::Sqlite {
        // Whoever is alive has the lock, and with it everything; whoever is not has lost it.
        assert_eq!(there.renew_shard_leases(other(), 2, LEASE).await, Ok(Vec::new()));
        store.close().await;
        let taken = there.renew_shard_leases(other(), 2, LEASE).await.unwrap();
        assert!(held.iter().zip(&taken).all(|(before, after)| after.fence > before.fence));
        return;
    }
    assert_eq!(held.len(), 128);
    let taken = there.renew_shard_leases(other(), 1, LEASE).await.unwrap();
    assert_eq!(taken.len(), 256);
    let fence = |held: &[ShardLease], shard| held.iter().find(|one| one.shard == shard).map(|one| one.fence);
    assert!(held.iter().all(|one| fence(&taken, one.shard) > Some(one.fence)));
    assert_eq!(store.renew_shard_leases(node(), 2, LEASE).await, Ok(Vec::new()), "it comes too late");
}
