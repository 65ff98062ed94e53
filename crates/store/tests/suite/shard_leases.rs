//! Shard leases: each shard is leased to one node at a time, and each new lease has a higher fence. Which node takes and gives
//! what is tested beside the rules; here, that each store keeps to them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use domain::Guid;
use store::{CheckpointResult, LeaseRenewal, RenewedLeases, SHARDS, ShardLease, Store, WebhookCheckpoint};

use super::fixture::{Fixture, StoreKind};
use super::webhook_fixtures::{LEASE, create_webhook, guid, new_webhook, node};

fn other_node() -> Guid {
    guid(8)
}

fn shards(leases: &[ShardLease]) -> BTreeSet<u8> {
    leases.iter().map(|lease| lease.shard).collect()
}

async fn renew(store: &Arc<dyn Store>, node: Guid) -> RenewedLeases {
    store.renew_shard_leases(&LeaseRenewal::new(node, LEASE)).await.unwrap()
}

pub(crate) async fn single_node_holds_every_shard_and_keeps_its_fences(fixture: Fixture) {
    let store = &fixture.store;
    let leases = renew(store, node()).await.held;
    assert_eq!(shards(&leases).len(), usize::from(SHARDS));
    assert!(leases.is_sorted_by_key(|lease| lease.shard));
    assert_eq!(renew(store, node()).await.held, leases);
    store.release_shards(node()).await.unwrap();
    let renewed = renew(store, node()).await.held;
    assert!(leases.iter().zip(&renewed).all(|(before, after)| after.fence > before.fence));
}

/// When a node releases its shards, another takes them at once, and the first node's writes are refused.
pub(crate) async fn transferred_shard_has_a_new_fence(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let webhook = create_webhook(store, new_webhook(&fixture, &tenant, "a")).await;
    let second_store = fixture.reopen().await.store;
    let leases = renew(store, node()).await.held;
    assert_eq!(renew(&second_store, other_node()).await.held, [], "every shard is leased");
    let fence = leases[usize::from(store::shard_of(webhook.id))].fence;
    let new_checkpoint = || WebhookCheckpoint::new(webhook.id, fence, webhook.revision);
    assert_eq!(store.checkpoint(vec![new_checkpoint()]).await, Ok(vec![CheckpointResult::Written]));
    store.release_shards(node()).await.unwrap();
    assert_eq!(
        store.checkpoint(vec![new_checkpoint()]).await,
        Ok(vec![CheckpointResult::Written]),
        "no other node has taken it yet"
    );
    let other_leases = renew(&second_store, other_node()).await;
    assert_eq!(other_leases.taken_over, 0, "they were released");
    assert_eq!(shards(&other_leases.held).len(), usize::from(SHARDS));
    assert!(leases.iter().zip(&other_leases.held).all(|(before, after)| after.fence > before.fence));
    assert_eq!(store.checkpoint(vec![new_checkpoint()]).await, Ok(vec![CheckpointResult::Fenced]));
    assert_eq!(renew(store, node()).await.held, []);
}

/// A node asks for its share, and the holder gives it. With SQLite one process holds all shards, and the other none.
pub(crate) async fn nodes_share_the_shards(fixture: Fixture) {
    let (store, second_store) = (&fixture.store, fixture.reopen().await.store);
    let first = renew(store, node()).await.held;
    assert_eq!(renew(&second_store, other_node()).await.held, []);
    let renewed = renew(store, node()).await;
    assert_eq!(renewed.held, first, "nothing is given back before this node gives it");
    if fixture.kind == StoreKind::Sqlite {
        assert!(renewed.asked.is_empty());
        return;
    }
    assert_eq!(renewed.asked.len(), 128);
    let gives = LeaseRenewal { gives: renewed.asked.clone(), ..LeaseRenewal::new(node(), LEASE) };
    let half = store.renew_shard_leases(&gives).await.unwrap();
    assert_eq!((half.held.len(), half.given, half.asked.len()), (128, 128, 0));
    assert!(half.held.iter().all(|lease| first.contains(lease)), "a kept lease keeps its fence");
    let other_leases = renew(&second_store, other_node()).await.held;
    assert!(shards(&other_leases).into_iter().eq(renewed.asked));
    assert!(other_leases.iter().all(|lease| first[usize::from(lease.shard)].fence < lease.fence));
    // It leaves, and the first takes its shards.
    second_store.release_shards(other_node()).await.unwrap();
    assert_eq!(renew(store, node()).await.held.len(), 256);
    let young = LeaseRenewal { is_established: false, ..LeaseRenewal::new(other_node(), LEASE) };
    second_store.renew_shard_leases(&young).await.unwrap();
    assert!(renew(store, node()).await.asked.is_empty(), "a node that has just started does not ask");
}

pub(crate) async fn shards_of_an_expired_lease_are_taken(fixture: Fixture) {
    let (store, second_store) = (&fixture.store, fixture.reopen().await.store);
    let at_once = LeaseRenewal::new(node(), Duration::ZERO);
    let leases = store.renew_shard_leases(&at_once).await.unwrap().held;
    if fixture.kind == StoreKind::Sqlite {
        // The process that is alive holds the lock and with it every shard; closing releases it.
        assert_eq!(renew(&second_store, other_node()).await.held, []);
        store.close().await;
        let taken = renew(&second_store, other_node()).await.held;
        assert!(leases.iter().zip(&taken).all(|(before, after)| after.fence > before.fence));
        return;
    }
    let taken = renew(&second_store, other_node()).await;
    assert_eq!((taken.held.len(), taken.taken_over), (256, 256));
    assert!(leases.iter().zip(&taken.held).all(|(before, after)| after.fence > before.fence));
    let late = renew(store, node()).await;
    assert_eq!(late.held, [], "the leases were taken over");
    assert!(late.next_expiry.is_some_and(|expiry| expiry <= LEASE));
}
