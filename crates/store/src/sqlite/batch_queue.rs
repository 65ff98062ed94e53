//! The change batches that wait for the writer. Tenants take turns, so that one with many batches does not delay the others.

use std::collections::{HashMap, VecDeque};

use domain::TenantId;

use crate::write_queue::{GroupSize, QueuedBatch};

/// All tenants wait for the group that is being written, so a group takes no further batch beyond this: so many changes take a few
/// milliseconds, and a batch has not many more.
const GROUP_CHANGES_MAX: usize = 256;

#[derive(Default)]
pub(super) struct BatchQueue {
    /// Of each tenant in the order in which they came; never empty.
    by_tenant: HashMap<TenantId, VecDeque<QueuedBatch>>,
    /// The tenants of `by_tenant` in the order of their turns.
    turns: VecDeque<TenantId>,
}

impl BatchQueue {
    pub(super) fn push(&mut self, queued: QueuedBatch) {
        let tenant = &queued.batch.tenant;
        if !self.by_tenant.contains_key(tenant) {
            self.turns.push_back(tenant.clone());
        }
        self.by_tenant.entry(tenant.clone()).or_default().push_back(queued);
    }

    pub(super) fn len(&self) -> usize {
        self.by_tenant.values().map(VecDeque::len).sum()
    }

    /// The batches to write next; none if nobody waits for one.
    pub(super) fn next_group(&mut self) -> Vec<QueuedBatch> {
        let (mut group, mut size) = (Vec::new(), GroupSize::default());
        while size.has_room(GROUP_CHANGES_MAX)
            && let Some(queued) = self.pop()
        {
            size.add(&queued.batch);
            group.push(queued);
        }
        group
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The next batch in turn whose caller still waits.
    fn pop(&mut self) -> Option<QueuedBatch> {
        while let Some(tenant) = self.turns.pop_front() {
            let batches = self.by_tenant.get_mut(&tenant)?;
            let next =
                std::iter::from_fn(|| batches.pop_front()).find(|queued| !queued.answer.is_abandoned());
            if batches.is_empty() {
                self.by_tenant.remove(&tenant);
            } else {
                self.turns.push_back(tenant);
            }
            if next.is_some() {
                return next;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use domain::Guid;

    use super::*;
    use crate::write_queue::{BatchResult, QueueLimits};
    use crate::{BatchCounts, ChangeBatch};

    /// A batch without changes whose number is in its process.
    async fn add(queue: &mut BatchQueue, tenant: &str, number: u8) -> BatchResult {
        let batch = ChangeBatch {
            tenant: TenantId::new(tenant),
            process: Guid::from_bytes([number; 16]),
            lines: Vec::new(),
            counts: BatchCounts::default(),
            checkpoint: None,
            expires_at: None,
            edit: None,
        };
        let (queued, receiver) = QueueLimits::default().admit(batch).await.unwrap();
        queue.push(queued);
        receiver
    }

    fn numbers(group: &[QueuedBatch]) -> Vec<u8> {
        group.iter().map(|queued| queued.batch.process.as_bytes()[0]).collect()
    }

    #[tokio::test]
    async fn tenants_take_turns_and_the_order_of_each_is_kept() {
        let mut queue = BatchQueue::default();
        let mut waiting = Vec::new();
        for (tenant, number) in
            [("flood", 1), ("flood", 2), ("flood", 3), ("other", 4), ("third", 5), ("other", 6)]
        {
            waiting.push(add(&mut queue, tenant, number).await);
        }
        assert_eq!(queue.len(), 6);
        assert_eq!(numbers(&queue.next_group()), [1, 4, 5, 2, 6, 3]);
        assert_eq!(queue.len(), 0);
        assert!(queue.next_group().is_empty());
    }

    #[tokio::test]
    async fn batches_whose_callers_are_gone_take_no_turn() {
        let mut queue = BatchQueue::default();
        let mut waiting = Vec::new();
        for (tenant, number) in [("one", 1), ("two", 2), ("one", 3), ("two", 4)] {
            waiting.push(add(&mut queue, tenant, number).await);
        }
        drop(waiting.remove(0));
        assert_eq!(numbers(&queue.next_group()), [3, 2, 4]);
        drop(add(&mut queue, "one", 5).await);
        assert!(queue.next_group().is_empty());
        assert_eq!(queue.len(), 0);
    }
}
