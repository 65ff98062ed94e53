//! Outgoing mails: queued, leased by one node at a time, retried, and never sent after they expire.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::{Guid, Secret, Ticks};
use store::{LeasedMail, Mail, MailContent, MailFailure, RetentionCutoffs, StoreError};

use super::fixture::{Fixture, concurrently};

const LEASE: Duration = Duration::from_secs(60);
const LIFE: Duration = Duration::from_hours(72);

pub(crate) fn mail(number: u8, now: Ticks) -> Mail {
    Mail {
        id: Guid::from_bytes([number; 16]),
        kind: "invitation".into(),
        recipient: format!("maría{number}@example.com"),
        lang: "es".into(),
        content: MailContent {
            subject: Secret::new(format!("Invitación «{number}»")),
            text: Secret::new(format!("https://aldaba.example/invitation/one-time-link-{number}\r\n")),
            html: Secret::new(r#"<p>"ñ" \ 🗝️</p>"#),
        },
        created_at: now,
        expires_at: now + LIFE,
    }
}

fn numbers(leased: &[LeasedMail]) -> Vec<u8> {
    leased.iter().map(|one| one.mail.id.as_bytes()[0]).collect()
}

fn failure(next_at: Ticks) -> MailFailure {
    MailFailure { error: "451 try\0 again".into(), next_at }
}

pub(crate) async fn mail_is_stored_unchanged_and_leased_once(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    assert_eq!(store.due_mails(now, LEASE, 10).await, Ok(Vec::new()));
    store.queue_mail(&mail(1, now)).await.unwrap();
    assert_eq!(store.due_mails(now, LEASE, 0).await, Ok(Vec::new()));
    let reopened = fixture.reopen().await.store;
    assert_eq!(reopened.waiting_mails(now).await, Ok(1));
    let leased = LeasedMail { mail: mail(1, now), attempts: 1, leased_until: now + LEASE };
    assert_eq!(reopened.due_mails(now, LEASE, 10).await, Ok(vec![leased]));
    assert_eq!(store.due_mails(now, LEASE, 10).await, Ok(Vec::new()), "another node has it");
    assert_eq!(store.waiting_mails(now).await, Ok(1), "it is not sent yet");
}

pub(crate) async fn mails_are_leased_in_the_order_in_which_they_are_due(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    for (number, seconds) in [(1, 3), (2, 1), (3, 2), (4, 9)] {
        store.queue_mail(&mail(number, now + Duration::from_secs(seconds))).await.unwrap();
    }
    let later = now + Duration::from_secs(5);
    assert_eq!(numbers(&store.due_mails(later, LEASE, 2).await.unwrap()), [2, 3]);
    assert_eq!(numbers(&store.due_mails(later, LEASE, 2).await.unwrap()), [1]);
    assert_eq!(store.waiting_mails(later).await, Ok(4));
}

pub(crate) async fn failed_mail_is_due_again_at_its_time(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    store.queue_mail(&mail(1, now)).await.unwrap();
    let first = store.due_mails(now, LEASE, 1).await.unwrap().remove(0);
    let next_at = now + Duration::from_secs(10);
    assert_eq!(store.mail_failed(&first, &failure(next_at)).await, Ok(true));
    assert_eq!(store.mail_failed(&first, &failure(now)).await, Ok(false), "the lease has ended");
    assert_eq!(store.due_mails(Ticks(next_at.0 - 1), LEASE, 1).await, Ok(Vec::new()));
    let second = store.due_mails(next_at, LEASE, 1).await.unwrap().remove(0);
    assert_eq!((second.attempts, second.leased_until), (2, next_at + LEASE));
    assert_eq!(second.mail, first.mail);
}

/// The node that leased the mail has failed, or is slow and comes back.
pub(crate) async fn ended_lease_can_be_taken_by_another_node(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    store.queue_mail(&mail(1, now)).await.unwrap();
    let slow = store.due_mails(now, LEASE, 1).await.unwrap().remove(0);
    let end = now + LEASE;
    assert_eq!(store.due_mails(Ticks(end.0 - 1), LEASE, 1).await, Ok(Vec::new()));
    let other = store.due_mails(end, LEASE, 1).await.unwrap().remove(0);
    assert_eq!(other.attempts, 2);
    assert_eq!(store.mail_failed(&slow, &failure(now)).await, Ok(false), "the lease is another one");
    assert_eq!(store.due_mails(end, LEASE, 1).await, Ok(Vec::new()));
    // The slow node has sent it after all.
    assert_eq!(store.mail_sent(slow.mail.id, end).await, Ok(true));
    assert_eq!(store.mail_failed(&other, &failure(now)).await, Ok(false), "it is sent");
    assert_eq!(store.due_mails(end + LEASE, LEASE, 1).await, Ok(Vec::new()));
}

pub(crate) async fn sent_mail_is_never_due_again(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    store.queue_mail(&mail(1, now)).await.unwrap();
    let leased = store.due_mails(now, LEASE, 1).await.unwrap().remove(0);
    assert_eq!(store.mail_sent(leased.mail.id, now).await, Ok(true));
    assert_eq!(store.mail_sent(leased.mail.id, now).await, Ok(false));
    assert_eq!(store.mail_sent(Guid::from_bytes([9; 16]), now).await, Ok(false));
    assert_eq!(store.waiting_mails(now).await, Ok(0));
    assert_eq!(store.due_mails(now + Duration::from_hours(71), LEASE, 1).await, Ok(Vec::new()));
}

pub(crate) async fn expired_mail_is_not_sent_and_deleted_later(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    for number in 1..=5 {
        store.queue_mail(&mail(number, now)).await.unwrap();
    }
    store.mail_sent(mail(5, now).id, now).await.unwrap();
    let expired = now + LIFE;
    assert_eq!(store.waiting_mails(expired).await, Ok(0));
    assert_eq!(store.due_mails(expired, LEASE, 10).await, Ok(Vec::new()));
    assert_eq!(store.due_mails(Ticks(expired.0 - 1), LEASE, 1).await.unwrap().len(), 1);

    let delete = async |mails, rows_max| {
        let none = Ticks(0);
        let cutoffs = RetentionCutoffs {
            now: none,
            processes: none,
            audit: none,
            calls: none,
            reads: none,
            deliveries: none,
            mails,
        };
        store.expire(cutoffs, rows_max).await.unwrap()
    };
    assert_eq!(delete(expired, 10).await.total(), 0, "a mail at the cutoff is not expired yet");
    let rows = [delete(expired.next(), 3).await, delete(expired.next(), 3).await];
    assert_eq!(rows.map(|deleted| (deleted.mails, deleted.total())), [(3, 3), (2, 2)]);
    assert_eq!(store.mail_sent(mail(1, now).id, now).await, Ok(false), "it is gone");
}

pub(crate) async fn concurrent_nodes_lease_each_mail_once(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    for number in 0..30 {
        store.queue_mail(&mail(number, now)).await.unwrap();
    }
    let second_store = fixture.reopen().await.store;
    let leased = concurrently(20, &[store, &second_store], |_, store| async move {
        let mut leased = Vec::new();
        loop {
            match store.due_mails(now, LEASE, 2).await.unwrap() {
                none if none.is_empty() => break leased,
                some => leased.extend(numbers(&some)),
            }
        }
    })
    .await
    .concat();
    assert_eq!(leased.len(), 30, "{leased:?}");
    assert_eq!(leased.into_iter().collect::<BTreeSet<_>>().len(), 30);
}

pub(crate) async fn mail_is_queued_once(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    store.queue_mail(&mail(1, now)).await.unwrap();
    let again = Mail { recipient: "other@example.com".into(), ..mail(1, now) };
    assert!(matches!(store.queue_mail(&again).await, Err(StoreError::Exists(_))));
    let invalid = Mail { recipient: "a\0b@example.com".into(), ..mail(2, now) };
    assert!(matches!(store.queue_mail(&invalid).await, Err(StoreError::Internal(_))));
    assert_eq!(store.due_mails(now, LEASE, 9).await.unwrap()[0].mail, mail(1, now));
}
