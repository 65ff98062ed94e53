//! Ticket keys: stored encrypted, added one at a time, and deleted.

use std::time::Duration;

use domain::{Guid, Secret, Ticks};
use store::TicketKey;

use super::fixture::{Fixture, concurrently};

fn ticket_key(number: u8, created_at: Ticks) -> TicketKey {
    TicketKey {
        id: Guid::from_bytes([number; 16]),
        key: Secret::new(format!("{number:02x}").repeat(32)),
        created_at,
        encrypts_from: created_at + Duration::from_secs(60),
    }
}

pub(crate) async fn ticket_keys_are_stored_unchanged(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    assert_eq!(store.ticket_keys().await, Ok(Vec::new()));
    let (old, new) = (ticket_key(9, now), ticket_key(1, now));
    assert_eq!(store.add_ticket_key(&old, None).await, Ok(true));
    assert_eq!(store.add_ticket_key(&new, None).await, Ok(false), "another key came first");
    assert_eq!(store.add_ticket_key(&new, Some(old.id)).await, Ok(true));
    // The clock stands still, and the order is still that of insertion.
    let new = TicketKey { created_at: now.next(), ..new };
    let reopened = fixture.reopen().await.store;
    assert_eq!(reopened.ticket_keys().await, Ok(vec![old.clone(), new.clone()]));
    assert_eq!(store.delete_ticket_key(old.id).await, Ok(true));
    assert_eq!(store.delete_ticket_key(old.id).await, Ok(false));
    assert_eq!(reopened.ticket_keys().await, Ok(vec![new]));
}

pub(crate) async fn concurrent_additions_add_one_ticket_key(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let second_store = fixture.reopen().await.store;
    let added = concurrently(20, &[store, &second_store], |number, store| async move {
        let key = ticket_key(u8::try_from(number).unwrap(), now);
        store.add_ticket_key(&key, None).await.unwrap()
    })
    .await;
    assert_eq!(added.into_iter().filter(|added| *added).count(), 1);
    assert_eq!(store.ticket_keys().await.unwrap().len(), 1);
}
