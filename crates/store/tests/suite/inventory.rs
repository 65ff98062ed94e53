//! What the operator's overview asks: the nodes, the state of the store, the credentials that end soon.

use std::time::Duration;

use domain::ids::OperatorTokenId;
use domain::{Guid, OperatorRole, Secret, Ticks};
use store::{CredentialKind, KeySlot, LeaseRenewal, NamedToken, NodeDetails};

use super::clients::subscription;
use super::fixture::{Fixture, StoreKind, by};

pub(crate) async fn nodes_describe_themselves(fixture: Fixture) {
    let (store, timeout) = (&fixture.store, Duration::from_hours(1));
    let [first, other, gone] = [1, 2, 3].map(|byte| Guid::from_bytes([byte; 16]));
    let details = |host: &str, started_at: Ticks| NodeDetails {
        version: "1.2.3".into(),
        host: host.into(),
        started_at,
        webhooks: 7,
        events_behind: 11,
        oldest_undelivered_at: Some(started_at),
        failing: 1,
        disabled: 2,
        suspended: 3,
        certificate_ends_at: Some(started_at + timeout),
        operator_certificate_ends_at: None,
    };
    let now = fixture.now();
    store.describe_node(other, &details("b", now)).await.unwrap();
    // A heartbeat alone leaves what a node has said.
    store.register_node(other, timeout).await.unwrap();
    store.describe_node(first, &details("a", now.minus(timeout))).await.unwrap();
    store.describe_node(gone, &details("c", now)).await.unwrap();
    store.deregister_node(gone).await.unwrap();
    let renewal = LeaseRenewal::new(other, timeout);
    store.renew_shard_leases(&renewal).await.unwrap();
    let nodes = store.live_nodes(timeout).await.unwrap();
    let found: Vec<_> = nodes.iter().map(|node| (node.id, node.shards, &node.details)).collect();
    let (older, newer) = (details("a", now.minus(timeout)), details("b", now));
    assert_eq!(found, [(first, 0, &older), (other, 256, &newer)]);
    store.describe_node(first, &NodeDetails { events_behind: 0, ..older.clone() }).await.unwrap();
    let nodes = store.live_nodes(timeout).await.unwrap();
    assert_eq!(nodes[0].details, NodeDetails { events_behind: 0, ..older });
}

pub(crate) async fn credentials_that_end_soon_are_listed(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let hour = Duration::from_hours(1);
    let token = |id: &str, expires_at| NamedToken {
        id: OperatorTokenId::new(id),
        name: id.to_owned(),
        role: OperatorRole::Viewer,
        created_at: now,
        created_by: "cli:maria".to_owned(),
        expires_at,
        last_used_at: None,
        revoked_at: None,
    };
    for (id, expires_at) in [
        ("later", Some(now + 3 * hour)),
        ("soon", Some(now + 2 * hour)),
        ("revoked", Some(now + hour)),
        ("ended", Some(now)),
        ("endless", None),
    ] {
        store.add_operator_token(&token(id, expires_at), &Secret::new(id), &by()).await.unwrap();
    }
    store.revoke_operator_token(&OperatorTokenId::new("revoked"), now, &by()).await.unwrap();
    let subscription = subscription(&fixture, "a");
    let [one, two] = ["a1", "a2"].map(Secret::new);
    store.add_subscription(&subscription, &one, &two, &by()).await.unwrap();
    let key = Secret::new("a3");
    store.rotate_key(&subscription.id, KeySlot::Primary, &key, now + hour, &by()).await.unwrap();
    let names = async |until, rows_max| -> Vec<(CredentialKind, String)> {
        let found = store.ending_credentials(now, until, rows_max).await.unwrap();
        found.into_iter().map(|one| (one.kind, one.id)).collect()
    };
    let (token, key) = (CredentialKind::OperatorToken, CredentialKind::SubscriptionKey);
    assert_eq!(names(now + 2 * hour, 9).await, [(key, "a".to_owned()), (token, "soon".to_owned())]);
    assert_eq!(names(now + 9 * hour, 9).await.len(), 3);
    assert_eq!(names(now + 9 * hour, 1).await, [(key, "a".to_owned())]);
}

pub(crate) async fn store_tells_its_state(fixture: Fixture) {
    let state = fixture.store.store_state().await.unwrap();
    let kind = match fixture.kind {
        StoreKind::Memory => "memory",
        StoreKind::Sqlite => "sqlite",
        StoreKind::Postgres => "postgresql",
    };
    assert_eq!(state.kind, kind);
    if fixture.kind != StoreKind::Memory {
        assert!(
            state.size_bytes.unwrap() > 0 && state.commits.is_some() && state.version.is_some(),
            "{state:?}"
        );
        assert_eq!(state.replicas, Some(Vec::new()));
    }
}
