//! Idle groups: webhooks that have read the log to its end and wait for an event that they want. The idle webhooks of a tail that
//! subscribe to the same kinds read on as one, so that a change costs the same however many of them there are.

use std::collections::BTreeSet;
use std::ops::Bound;

use domain::WebhookId;
use domain::webhook::EventKinds;

use super::core::Core;
use super::feed::Following;
use super::tail_cache::{CHUNK_ROWS, TailCache, TailChunk, TailLookup, Waiter};
use super::webhook_state::WebhookState;
use super::{Command, TailKey};

/// The idle webhooks of a tail that subscribe to the same kinds.
#[derive(Debug, Default)]
pub(crate) struct IdleGroup {
    /// How far all members have read.
    position: LogPosition,
    is_reading: bool,
    members: BTreeSet<WebhookId>,
    /// The pass that writes the position to the store for each member. Without one, the position has not changed since the last pass.
    write_pass: Option<WritePass>,
}

/// How far the log has been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogPosition {
    pub(crate) read_to: u64,
    /// The tail's serial at which nothing was left to read.
    pub(crate) caught_up_at: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct WritePass {
    /// The position was written for the members up to this one.
    upto: Option<WebhookId>,
    /// The position has changed since the pass began: another pass follows.
    has_moved: bool,
}

/// What became of a webhook that may join a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joining {
    /// Its group is at another position, or the webhook has not read to the end of the log.
    Refused,
    Joined,
    /// It is the first member. The log may have grown since it was read: the group has to read on.
    Founded,
}

/// Result of advancing a group.
enum Advance {
    /// The group has read everything, or waits for a read.
    Rest,
    /// The log has to be read after this sequence.
    Read { after: u64 },
    /// The group is gone: its members want an event that comes next, or the log's floor has passed them.
    Dissolved(IdleGroup),
}

impl IdleGroup {
    pub(crate) fn position(&self) -> LogPosition {
        self.position
    }

    pub(crate) fn read_ended(&mut self) {
        self.is_reading = false;
    }

    /// Passes a chunk without an event that the members want.
    fn pass(&mut self, chunk: &TailChunk) {
        self.position.caught_up_at = chunk.reached_head_at;
        if chunk.upto > self.position.read_to {
            self.position.read_to = chunk.upto;
            match &mut self.write_pass {
                Some(pass) => pass.has_moved = true,
                none => *none = Some(WritePass::default()),
            }
        }
    }

    /// Whether the position has to be written for some members.
    fn is_unsaved(&self) -> bool {
        self.write_pass.is_some()
    }

    /// The next members whose position has to be written, `most` at most, and whether there are more.
    pub(crate) fn take_unsaved(&mut self, most: usize) -> (Vec<WebhookId>, bool) {
        let Some(pass) = &mut self.write_pass else { return (Vec::new(), false) };
        let from = pass.upto.map_or(Bound::Unbounded, Bound::Excluded);
        let taken: Vec<WebhookId> =
            self.members.range((from, Bound::Unbounded)).take(most).copied().collect();
        pass.upto = taken.last().copied().or(pass.upto);
        if pass.upto >= self.members.last().copied() {
            self.write_pass = pass.has_moved.then(WritePass::default);
        }
        (taken, self.is_unsaved())
    }
}

impl TailCache {
    /// Adds an idle webhook that has read up to `position` to its group, or founds one if the webhook has read to the end of the log,
    /// even if that has grown since.
    pub(super) fn join_group(
        &mut self,
        webhook: WebhookId,
        kinds: EventKinds,
        position: LogPosition,
    ) -> Joining {
        let joining = match self.idle_groups.get(&kinds) {
            // What is left after a sequence is the same for all who have read up to it.
            Some(group) if group.position.read_to == position.read_to => Joining::Joined,
            None if self.is_end(position) => Joining::Founded,
            _ => return Joining::Refused,
        };
        let new = || IdleGroup { position, ..IdleGroup::default() };
        self.idle_groups.entry(kinds).or_insert_with(new).members.insert(webhook);
        self.readers.remove(&webhook);
        if self.readers.len() < self.readers.capacity() / 8 {
            self.readers.shrink_to(self.readers.len() * 2);
        }
        joining
    }

    /// Whether the log ended there when it was last read, and nothing in memory continues from there.
    fn is_end(&self, position: LogPosition) -> bool {
        let is_caught_up = position.caught_up_at == Some(self.serial);
        is_caught_up || (position.caught_up_at.is_some() && self.continuation(position.read_to).is_none())
    }

    /// The webhook reads by itself again, from the position of its group.
    fn leave_group(&mut self, webhook: WebhookId, kinds: EventKinds) -> Option<LogPosition> {
        let group = self.idle_groups.get_mut(&kinds)?;
        if !group.members.remove(&webhook) {
            return None;
        }
        let position = group.position;
        if group.members.is_empty() {
            self.idle_groups.remove(&kinds);
        }
        self.readers.insert(webhook);
        Some(position)
    }

    /// Advances a group as far as chunks are in memory.
    fn advance_group(&mut self, kinds: EventKinds) -> Advance {
        loop {
            let Some(group) = self.idle_groups.get(&kinds) else { return Advance::Rest };
            let LogPosition { read_to, caught_up_at } = group.position;
            if group.is_reading || caught_up_at == Some(self.serial) {
                return Advance::Rest;
            }
            let chunk = match self.look_up(Waiter::IdleGroup(kinds), read_to) {
                TailLookup::Cached(chunk) => chunk,
                TailLookup::Pending { is_new } => {
                    self.idle_groups.entry(kinds).or_default().is_reading = true;
                    return if is_new { Advance::Read { after: read_to } } else { Advance::Rest };
                }
            };
            let is_wanted = read_to < chunk.floor
                || chunk.events_after(read_to).any(|event| kinds.contains(event.entry.kind));
            if is_wanted {
                let group = self.idle_groups.remove(&kinds).unwrap_or_default();
                self.readers.extend(group.members.iter().copied());
                return Advance::Dissolved(group);
            }
            if let Some(group) = self.idle_groups.get_mut(&kinds) {
                group.pass(&chunk);
            }
        }
    }

    /// Whether the position of the group has to be written for some members.
    fn is_group_unsaved(&self, kinds: EventKinds) -> bool {
        self.idle_groups.get(&kinds).is_some_and(IdleGroup::is_unsaved)
    }
}

impl WebhookState {
    /// Whether there is nothing to do for it before the log grows.
    pub(super) fn can_join_group(&self) -> bool {
        self.is_active()
            && self.following != Following::InGroup
            && !self.is_reading
            && !self.is_breaker_open
            && self.in_flight == 0
            && self.lanes.len() == 0
            && self.holds_nothing()
    }

    pub(super) fn position(&self) -> LogPosition {
        LogPosition { read_to: self.read_to, caught_up_at: self.caught_up_at }
    }

    /// Takes over the position of the group. Returns whether the webhook has moved.
    fn set_position(&mut self, position: LogPosition) -> bool {
        self.caught_up_at = position.caught_up_at;
        let has_moved = position.read_to > self.read_to;
        self.read_to = self.read_to.max(position.read_to);
        self.has_moved |= has_moved;
        has_moved
    }
}

impl Core {
    /// The webhook reads by itself from now on.
    pub(super) fn leave_group(&mut self, webhook: WebhookId) {
        let Some(state) = self.webhooks.get_mut(&webhook) else { return };
        if state.following != Following::InGroup {
            return;
        }
        state.following = Following::ByItself;
        let tail = self.feed.tails.get_mut(&state.tail_key);
        let position = tail.and_then(|tail| tail.leave_group(webhook, state.kinds));
        if position.is_some_and(|position| state.set_position(position)) {
            self.checkpoints.add_moved(webhook);
        }
    }

    /// Gives the webhook the position of its group, for the checkpoint.
    pub(super) fn update_from_group(&mut self, webhook: WebhookId) {
        let Some(state) = self.webhooks.get_mut(&webhook) else { return };
        if let Some(position) = self.feed.group_position(state) {
            state.set_position(position);
        }
    }

    /// Advances the idle groups of a tail.
    pub(super) fn advance_groups(&mut self, key: &TailKey) {
        let Some(tail) = self.feed.tails.get_mut(key) else { return };
        let groups: Vec<EventKinds> = tail.idle_groups.keys().copied().collect();
        for kinds in groups {
            let Some(tail) = self.feed.tails.get_mut(key) else { return };
            let (serial, advance) = (tail.serial, tail.advance_group(kinds));
            if tail.is_group_unsaved(kinds) {
                self.feed.queue_unsaved(key, kinds);
            }
            match advance {
                Advance::Rest => {}
                Advance::Read { after } => {
                    let key = key.clone();
                    self.commands.push(Command::ReadTail { key, after, serial, rows_max: CHUNK_ROWS });
                }
                Advance::Dissolved(group) => self.members_read_on(group),
            }
        }
    }

    fn members_read_on(&mut self, group: IdleGroup) {
        for webhook in group.members {
            let Some(state) = self.webhooks.get_mut(&webhook) else { continue };
            state.following = Following::ByItself;
            if state.set_position(group.position) {
                self.checkpoints.add_moved(webhook);
            }
            self.queue_read(webhook);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u8) -> WebhookId {
        WebhookId::from_bytes([number; 16])
    }

    fn chunk(upto: u64) -> TailChunk {
        TailChunk::empty(upto)
    }

    fn group(members: u8) -> IdleGroup {
        IdleGroup { members: (1..=members).map(id).collect(), ..IdleGroup::default() }
    }

    #[test]
    fn each_member_is_written_once_a_pass() {
        let mut group = group(5);
        assert_eq!(group.take_unsaved(9), (Vec::new(), false), "nothing has moved");
        group.pass(&chunk(10));
        assert_eq!(group.take_unsaved(2), (vec![id(1), id(2)], true));
        group.members.remove(&id(3));
        assert_eq!(group.take_unsaved(2), (vec![id(4), id(5)], false));
        group.pass(&chunk(10));
        assert!(!group.is_unsaved(), "the position is the same");
    }

    #[test]
    fn position_that_changes_during_a_pass_is_written_by_another() {
        let mut group = group(3);
        group.pass(&chunk(10));
        assert_eq!(group.take_unsaved(2), (vec![id(1), id(2)], true));
        group.pass(&chunk(11));
        assert_eq!(group.take_unsaved(2), (vec![id(3)], true));
        assert_eq!(group.take_unsaved(9), ((1..=3).map(id).collect(), false));
    }

    #[test]
    fn only_webhooks_at_the_same_place_are_in_a_group() {
        let (mut tail, kinds) = (TailCache::default(), EventKinds::default());
        let position = LogPosition { read_to: 7, caught_up_at: Some(tail.serial) };
        tail.readers.extend([id(1), id(2), id(3)]);
        let mut join = |number, position| tail.join_group(id(number), kinds, position);
        assert_eq!(join(1, LogPosition { caught_up_at: None, ..position }), Joining::Refused);
        assert_eq!(join(1, position), Joining::Founded);
        assert_eq!(join(2, LogPosition { read_to: 8, ..position }), Joining::Refused);
        assert_eq!(join(3, LogPosition { caught_up_at: None, ..position }), Joining::Joined);
        assert_eq!(tail.leave_group(id(2), kinds), None);
        assert_eq!([1, 3].map(|number| tail.leave_group(id(number), kinds)), [Some(position); 2]);
        assert!(tail.readers.len() == 3 && tail.idle_groups.is_empty());
    }
}
