//! The webhooks that may have something to start, by owner (tenant and client), and how many slots each owner holds.
//! Owners take turns. An owner may hold as many slots as are free: alone it gets half of all slots, two busy owners get
//! a third each, and a new one always finds a slot.

use std::collections::VecDeque;

use domain::WebhookId;

/// One of this many slots is for slow webhooks.
const SLOW_SHARE: usize = 4;

/// Identifies an owner within this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OwnerNumber(pub(super) usize);

#[derive(Debug, Default)]
pub(crate) struct OwnerQueues {
    /// By number.
    owners: Vec<OwnerQueue>,
    /// The owners that wait, in the order of their turns.
    turns: VecDeque<OwnerNumber>,
    /// Owners that wait and had used up their share at their turn of this round.
    passed_over: Vec<OwnerNumber>,
    in_flight: usize,
    /// Those that started as slow ones.
    slow_in_flight: usize,
}

#[derive(Debug, Default)]
struct OwnerQueue {
    ready: VecDeque<WebhookId>,
    slow_ready: VecDeque<WebhookId>,
    /// Whose turn is next where both could start.
    is_slow_next: bool,
    in_flight: usize,
    /// Those that started as slow ones or have become slow.
    slow_in_flight: usize,
    /// In `turns` or in `passed_over`.
    is_waiting: bool,
}

/// A webhook whose turn has come; `is_slow`: it waited among the slow ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NextWebhook {
    pub(crate) webhook: WebhookId,
    pub(crate) is_slow: bool,
}

impl OwnerQueues {
    pub(crate) fn push(&mut self, owner: OwnerNumber, webhook: WebhookId, is_slow: bool) {
        let queue = self.queue(owner);
        if is_slow {
            queue.slow_ready.push_back(webhook);
        } else {
            queue.ready.push_back(webhook);
        }
        if !std::mem::replace(&mut queue.is_waiting, true) {
            self.turns.push_back(owner);
        }
    }

    /// The next webhook in turn, if its owner may hold one more of `slots_max` slots. Within a round, slots are only
    /// taken, so an owner that has been passed over is not asked again.
    pub(crate) fn next(&mut self, slots_max: usize) -> Option<NextWebhook> {
        let free = slots_max.saturating_sub(self.in_flight);
        let slow_free = (slots_max / SLOW_SHARE).max(1).saturating_sub(self.slow_in_flight);
        while free > 0
            && let Some(owner) = self.turns.pop_front()
        {
            let queue = self.queue(owner);
            let next = queue.take(free, slow_free);
            queue.is_waiting = !queue.ready.is_empty() || !queue.slow_ready.is_empty();
            match (next, queue.is_waiting) {
                (Some(_), true) => self.turns.push_back(owner),
                (None, true) => self.passed_over.push(owner),
                (_, false) => {}
            }
            if next.is_some() {
                return next;
            }
        }
        None
    }

    pub(crate) fn end_round(&mut self) {
        self.turns.extend(self.passed_over.drain(..));
    }

    pub(crate) fn attempt_started(&mut self, owner: OwnerNumber, is_slow: bool) {
        let queue = self.queue(owner);
        queue.in_flight += 1;
        queue.slow_in_flight += usize::from(is_slow);
        self.in_flight += 1;
        self.slow_in_flight += usize::from(is_slow);
    }

    /// An attempt that did not start as a slow one takes long. It counts against its owner alone, so that another owner's slow
    /// webhooks find a slot.
    pub(crate) fn attempt_became_slow(&mut self, owner: OwnerNumber) {
        self.queue(owner).slow_in_flight += 1;
    }

    pub(crate) fn attempt_finished(&mut self, owner: OwnerNumber, started_slow: bool, is_long: bool) {
        let queue = self.queue(owner);
        queue.in_flight -= 1;
        queue.slow_in_flight -= usize::from(started_slow || is_long);
        self.in_flight -= 1;
        self.slow_in_flight -= usize::from(started_slow);
    }

    fn queue(&mut self, owner: OwnerNumber) -> &mut OwnerQueue {
        if owner.0 >= self.owners.len() {
            self.owners.resize_with(owner.0 + 1, OwnerQueue::default);
        }
        &mut self.owners[owner.0]
    }
}

impl OwnerQueue {
    fn take(&mut self, free: usize, slow_free: usize) -> Option<NextWebhook> {
        if self.in_flight >= free {
            return None;
        }
        let can_start_slow = self.slow_in_flight < slow_free && !self.slow_ready.is_empty();
        let is_slow = can_start_slow && (self.is_slow_next || self.ready.is_empty());
        self.is_slow_next = !is_slow;
        let webhook = if is_slow { self.slow_ready.pop_front() } else { self.ready.pop_front() };
        webhook.map(|webhook| NextWebhook { webhook, is_slow })
    }
}

#[cfg(test)]
mod tests {
    use domain::Guid;

    use super::*;

    const SLOTS: usize = 12;

    fn webhook(number: u8) -> WebhookId {
        Guid::from_bytes([number; 16])
    }

    /// Owners with this many webhooks each, which never run out of work and whose attempts never end. Returns how many
    /// slots each owner gets.
    fn fill(queues: &mut OwnerQueues, webhooks: &[u8], is_slow: bool) -> Vec<usize> {
        let owner_of = |id: WebhookId| OwnerNumber(usize::from(id.as_bytes()[0]) / 100);
        for (owner, count) in webhooks.iter().enumerate() {
            for number in 0..*count {
                let id = webhook(u8::try_from(owner * 100).unwrap() + number);
                queues.push(OwnerNumber(owner), id, is_slow);
            }
        }
        while let Some(next) = queues.next(SLOTS) {
            assert_eq!(next.is_slow, is_slow);
            queues.attempt_started(owner_of(next.webhook), is_slow);
            queues.push(owner_of(next.webhook), next.webhook, is_slow);
        }
        queues.end_round();
        (0..webhooks.len()).map(|owner| queues.owners[owner].in_flight).collect()
    }

    #[test]
    fn owner_gets_half_and_two_owners_a_third_each() {
        assert_eq!(fill(&mut OwnerQueues::default(), &[50], false), [6]);
        assert_eq!(fill(&mut OwnerQueues::default(), &[50, 1], false), [4, 4]);
        assert_eq!(fill(&mut OwnerQueues::default(), &[50, 50, 50], false), [3, 3, 3]);
    }

    #[test]
    fn late_owner_finds_free_slots_and_the_first_one_shrinks() {
        let mut queues = OwnerQueues::default();
        assert_eq!(fill(&mut queues, &[50], false), [6]);
        assert_eq!(fill(&mut queues, &[0, 1], false), [6, 3]);
        // Every slot that becomes free goes to the owner with fewer, until both have the same.
        for expected in [[5, 4], [4, 4]] {
            queues.attempt_finished(OwnerNumber(0), false, false);
            assert_eq!(fill(&mut queues, &[0, 0], false), expected);
        }
    }

    #[test]
    fn slow_webhooks_share_a_quarter_in_the_same_way() {
        assert_eq!(fill(&mut OwnerQueues::default(), &[50], true), [2]);
        let mut queues = OwnerQueues::default();
        assert_eq!(fill(&mut queues, &[50, 1], true), [1, 1]);
        assert_eq!(fill(&mut queues, &[1], false), [6], "others are not held up");
    }

    #[test]
    fn slow_and_fast_webhooks_of_an_owner_alternate() {
        let (mut queues, owner) = (OwnerQueues::default(), OwnerNumber(0));
        for (number, is_slow) in [(1, false), (2, false), (3, true), (4, true)] {
            queues.push(owner, webhook(number), is_slow);
        }
        let order: Vec<u8> =
            std::iter::from_fn(|| queues.next(SLOTS)).map(|next| next.webhook.as_bytes()[0]).collect();
        assert_eq!(order, [1, 3, 2, 4]);
    }
}
