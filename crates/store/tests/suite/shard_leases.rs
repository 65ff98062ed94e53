//! Shard leases: nodes share the shards, and the fence refuses writes of an earlier holder.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::Guid;
use store::{CheckpointResult, SHARDS, ShardLease, WebhookCheckpoint};

use super::fixture::{Fixture, StoreKind};
use super::webhook_fixtures::{LEASE, create_webhook, guid, new_webhook, node};

fn other_node() -> Guid {
    guid(8)
}

fn shards(leases: &[ShardLease]) -> BTreeSet<u8> {
    leases.iter().map(|lease| lease.shard).collect()
}

pub(crate) async fn single_node_holds_every_shard_and_keeps_its_fences(fixture: Fixture) {
    let store = &fixture.store;
    let leases = store.renew_shard_leases(node(), 1, LEASE).await.unwrap();
    assert_eq!(shards(&leases).len(), usize::from(SHARDS));
    assert!(leases.is_sorted_by_key(|lease| lease.shard));
    assert_eq!(store.renew_shard_leases(node(), 1, LEASE).await, Ok(leases.clone()));
    store.release_shards(node()).await.unwrap();
    let renewed = store.renew_shard_leases(node(), 1, LEASE).await.unwrap();
    assert!(leases.iter().zip(&renewed).all(|(before, after)| after.fence > before.fence));
}

/// When a node releases its shards, another takes them at once, and the first node's writes are refused.
pub(crate) async fn transferred_shard_has_a_new_fence(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let webhook = create_webhook(store, new_webhook(&fixture, &tenant, "a")).await;
    let second_store = fixture.reopen().await.store;
    let leases = store.renew_shard_leases(node(), 1, LEASE).await.unwrap();
    assert_eq!(
        second_store.renew_shard_leases(other_node(), 1, LEASE).await,
        Ok(Vec::new()),
        "every shard is leased"
    );
    let fence = leases[usize::from(store::shard_of(webhook.id))].fence;
    let new_checkpoint = || WebhookCheckpoint::new(webhook.id, fence, webhook.revision);
    assert_eq!(store.checkpoint(vec![new_checkpoint()]).await, Ok(vec![CheckpointResult::Written]));
    store.release_shards(node()).await.unwrap();
    assert_eq!(
        store.checkpoint(vec![new_checkpoint()]).await,
        Ok(vec![CheckpointResult::Written]),
        "no other node has taken it yet"
    );
    let other_leases = second_store.renew_shard_leases(other_node(), 1, LEASE).await.unwrap();
    assert_eq!(shards(&other_leases).len(), usize::from(SHARDS));
    assert!(leases.iter().zip(&other_leases).all(|(before, after)| after.fence > before.fence));
    assert_eq!(store.checkpoint(vec![new_checkpoint()]).await, Ok(vec![CheckpointResult::Fenced]));
    assert_eq!(store.renew_shard_leases(node(), 1, LEASE).await, Ok(Vec::new()));
}

/// Two nodes hold half of the shards each. With SQLite one process holds all of them, and the other none.
pub(crate) async fn nodes_share_the_shards(fixture: Fixture) {
    let (store, second_store) = (&fixture.store, fixture.reopen().await.store);
    let first = store.renew_shard_leases(node(), 1, LEASE).await.unwrap();
    let half = store.renew_shard_leases(node(), 2, LEASE).await.unwrap();
    let other_leases = second_store.renew_shard_leases(other_node(), 2, LEASE).await.unwrap();
    if fixture.kind == StoreKind::Sqlite {
        assert_eq!((half, other_leases), (first, Vec::new()));
        return;
    }
    assert_eq!((half.len(), other_leases.len()), (128, 128));
    assert!(shards(&half).is_disjoint(&shards(&other_leases)));
    assert!(half.iter().all(|lease| first.contains(lease)), "a kept lease keeps its fence");
    assert!(other_leases.iter().all(|lease| first[usize::from(lease.shard)].fence < lease.fence));
    // A third node joins: each releases the leases above its share, rounded up.
    let parts = [
        store.renew_shard_leases(node(), 3, LEASE).await,
        second_store.renew_shard_leases(other_node(), 3, LEASE).await,
    ];
    assert!(parts.iter().all(|part| part.as_ref().unwrap().len() == 86));
    assert_eq!(store.renew_shard_leases(guid(7), 3, LEASE).await.unwrap().len(), 84);
    // It leaves, and the two take its shards.
    store.release_shards(guid(7)).await.unwrap();
    store.renew_shard_leases(node(), 2, LEASE).await.unwrap();
    assert_eq!(second_store.renew_shard_leases(other_node(), 2, LEASE).await.unwrap().len(), 128);
}

pub(crate) async fn shards_of_an_expired_lease_are_taken(fixture: Fixture) {
    let (store, second_store) = (&fixture.store, fixture.reopen().await.store);
    let leases = store.renew_shard_leases(node(), 2, Duration::ZERO).await.unwrap();
    if fixture.kind == StoreKind::Sqlite {
        // The process that is alive holds the lock and with it every shard; closing releases it.
        assert_eq!(second_store.renew_shard_leases(other_node(), 2, LEASE).await, Ok(Vec::new()));
        store.close().await;
        let taken = second_store.renew_shard_leases(other_node(), 2, LEASE).await.unwrap();
        assert!(leases.iter().zip(&taken).all(|(before, after)| after.fence > before.fence));
        return;
    }
    assert_eq!(leases.len(), 128);
    let taken = second_store.renew_shard_leases(other_node(), 1, LEASE).await.unwrap();
    assert_eq!(taken.len(), 256);
    let fence = |leases: &[ShardLease], shard| {
        leases.iter().find(|lease| lease.shard == shard).map(|lease| lease.fence)
    };
    assert!(leases.iter().all(|lease| fence(&taken, lease.shard) > Some(lease.fence)));
    assert_eq!(
        store.renew_shard_leases(node(), 2, LEASE).await,
        Ok(Vec::new()),
        "the leases were taken over"
    );
}
