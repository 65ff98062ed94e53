//! The change batches that wait for the writer. Tenants take turns with one batch each, and after a large group small
//! batches go first. So a tenant with many large batches delays a small batch of another tenant by one large group at
//! most, and a large batch of another tenant by one large batch per turn.

use std::collections::{HashMap, VecDeque};

use domain::TenantId;

use crate::write_queue::{GroupSize, QueuedBatch};

/// A group takes no further batch beyond this.
const GROUP_KIB_MAX: usize = 1024;
/// Below this a batch is small, and so is a group.
const SMALL: GroupSize = GroupSize { changes: 17, kib: 64 };

/// Whether a batch goes before large ones after a large group.
pub(super) fn is_small(queued: &QueuedBatch) -> bool {
    GroupSize::of(queued).is_below(SMALL)
}

#[derive(Default)]
pub(super) struct BatchQueue {
    /// Of each tenant in the order in which they came.
    by_tenant: HashMap<TenantId, VecDeque<QueuedBatch>>,
    /// The tenants of `by_tenant` in the order of their turns.
    turns: VecDeque<TenantId>,
    last_was_large: bool,
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

    /// The batches to write next, together with short work where there is some; none if nobody waits for one.
    pub(super) fn next_group(&mut self, has_short_work: bool, changes_max: usize) -> Vec<QueuedBatch> {
        for batches in self.by_tenant.values_mut() {
            batches.retain(|queued| !queued.answer.is_abandoned());
        }
        let limit = GroupSize { changes: changes_max, kib: GROUP_KIB_MAX };
        if std::mem::take(&mut self.last_was_large) {
            let (small, _) = self.fill(limit, is_small);
            if has_short_work || !small.is_empty() {
                return small;
            }
        }
        let (group, size) = self.fill(limit, |_| true);
        self.last_was_large = !size.is_below(SMALL);
        group
    }

    /// Takes a batch of each tenant in turn, until the group is full or none has one that fits.
    fn fill(
        &mut self,
        limit: GroupSize,
        fits: impl Fn(&QueuedBatch) -> bool,
    ) -> (Vec<QueuedBatch>, GroupSize) {
        let (mut group, mut size, mut passed_over) = (Vec::new(), GroupSize::default(), VecDeque::new());
        while size.is_below(limit)
            && let Some(tenant) = self.turns.pop_front()
        {
            let Some(batches) = self.by_tenant.get_mut(&tenant) else { continue };
            match batches.pop_front_if(|front| fits(front)) {
                Some(queued) => {
                    size.add(&queued);
                    group.push(queued);
                    self.turns.push_back(tenant);
                }
                None if batches.is_empty() => {
                    self.by_tenant.remove(&tenant);
                }
                None => passed_over.push_back(tenant),
            }
        }
        // Their turns come first.
        passed_over.append(&mut self.turns);
        self.turns = passed_over;
        (group, size)
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use domain::Guid;
    use domain::change::Change;

    use super::*;
    use crate::write_queue::{BatchResult, QueueLimits};
    use crate::{BatchCounts, ChangeBatch, ChangeLine};

    /// A batch whose number is in its process.
    async fn add(queue: &mut BatchQueue, tenant: &str, number: u8, changes: u64) -> BatchResult {
        let line = br#"{"area":"accounting","resource":"companies","action":"disable","correlationId":"c"}"#;
        let change = Change::parse(line, || Guid::from_bytes([0; 16])).unwrap().change;
        let batch = ChangeBatch {
            tenant: TenantId::new(tenant),
            process: Guid::from_bytes([number; 16]),
            lines: (1..=changes).map(|number| ChangeLine { number, change: change.clone() }).collect(),
            counts: BatchCounts::default(),
            checkpoint: None,
            expires_at: None,
            edit: None,
        };
        let (queued, receiver) = QueueLimits::default().admit(batch).await.unwrap();
        queue.push(queued);
        receiver
    }

    fn next(queue: &mut BatchQueue, has_short_work: bool) -> Vec<u8> {
        let group = queue.next_group(has_short_work, 64);
        group.iter().map(|queued| queued.batch.process.as_bytes()[0]).collect()
    }

    #[tokio::test]
    async fn tenants_take_turns_and_the_order_of_each_is_kept() {
        let (mut queue, mut waiting) = (BatchQueue::default(), Vec::new());
        let all = [("flood", 1), ("flood", 2), ("flood", 3), ("other", 4), ("third", 5), ("other", 6)];
        for (tenant, number) in all {
            waiting.push(add(&mut queue, tenant, number, 1).await);
        }
        assert_eq!(queue.len(), 6);
        assert_eq!(next(&mut queue, false), [1, 4, 5, 2, 6, 3]);
        assert_eq!((queue.len(), next(&mut queue, false)), (0, Vec::new()));
    }

    #[tokio::test]
    async fn little_to_write_waits_for_one_large_group_at_most() {
        let (mut queue, mut waiting) = (BatchQueue::default(), Vec::new());
        for number in 1..=4 {
            waiting.push(add(&mut queue, "flood", number, 100).await);
        }
        assert_eq!(next(&mut queue, false), [1], "a group is bounded");
        waiting.push(add(&mut queue, "other", 7, 1).await);
        assert_eq!(next(&mut queue, false), [7], "it does not wait for a second large group");
        waiting.push(add(&mut queue, "other", 8, 1).await);
        assert_eq!(next(&mut queue, false), [2], "large ones get their turn too");
        assert_eq!(next(&mut queue, false), [8]);
        assert_eq!(next(&mut queue, false), [3]);
        assert_eq!(next(&mut queue, true), [0; 0], "short work goes first as well");
        assert_eq!(next(&mut queue, true), [4]);
    }

    #[tokio::test]
    async fn batches_whose_callers_are_gone_take_no_turn() {
        let (mut queue, mut waiting) = (BatchQueue::default(), Vec::new());
        for (tenant, number) in [("one", 1), ("two", 2), ("one", 3), ("two", 4)] {
            waiting.push(add(&mut queue, tenant, number, 1).await);
        }
        drop(waiting.remove(0));
        assert_eq!(next(&mut queue, false), [3, 2, 4]);
        drop(add(&mut queue, "one", 5, 1).await);
        assert_eq!((next(&mut queue, false), queue.len()), (Vec::new(), 0));
    }
}
