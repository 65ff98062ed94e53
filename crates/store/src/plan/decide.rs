//! Walks through the changes of a batch in order and decides what each one does.

use std::collections::HashMap;

use domain::change::{Action, Change};
use domain::envelope::ENVELOPE_VERSION;
use domain::event::EventKind;
use domain::record::{PayrollCompany, RecordTail, State, TypedFields, Upsert, same_members};
use domain::{Area, FieldError, Guid, ProcessId, Random, Resource, Ticks, invoicing_changes};

use super::finish::finish;
use super::ground::{Ground, Live};
use super::{Key, LogRow, Place, Plan, Stored, TENANT, record_key, signed};
use crate::records::block_of;
use crate::{BatchCounts, ChangeBatch, IngestCheckpoint, IngestProgress, LogEntry, Result, StoreError};

/// What to write for the batches, and what to tell each of them. A batch whose idempotency key is in
/// use by another request takes no part.
pub(crate) fn decide(
    ground: Ground,
    batches: Vec<ChangeBatch>,
    now: Ticks,
    random: &dyn Random,
) -> (Plan, Vec<Result<BatchCounts>>) {
    let head_before = ground.head;
    let mut planner = Planner { ground, now, random, plan: Plan::default(), gaps: HashMap::new() };
    let counts_by_batch = batches.into_iter().map(|batch| planner.batch(batch)).collect();
    (finish(planner.plan, planner.ground, planner.gaps, head_before), counts_by_batch)
}

struct Planner<'a> {
    ground: Ground,
    now: Ticks,
    random: &'a dyn Random,
    plan: Plan,
    gaps: HashMap<(Place, u64), u64>,
}

/// The number and version that a change got.
struct Given {
    sequence: u64,
    version: Ticks,
}

impl Given {
    /// The record as this change leaves it.
    fn stored(
        &self,
        key: &Key,
        ordinal: u64,
        state: State,
        body: impl FnOnce(RecordTail<'_>) -> String,
    ) -> Stored {
        let Self { sequence, version } = *self;
        let body = body(RecordTail {
            resource: key.place.resource,
            correlation_id: &key.id,
            state,
            version,
            sequence,
        });
        Stored { ordinal, state, version, sequence, body }
    }
}

/// One change on its way through the plan.
struct Step<'a> {
    change: &'a Change,
    process: ProcessId,
    place: Place,
}

impl Planner<'_> {
    fn batch(&mut self, batch: ChangeBatch) -> Result<BatchCounts> {
        if let Some(mark) = &batch.checkpoint {
            let stands_at = self.ground.progress.get(&mark.key).map_or(0, |progress| progress.line);
            if stands_at != mark.from_line {
                return Err(StoreError::KeyInUse(mark.key.clone()));
            }
        }
        let mut counts = batch.counts;
        for line in &batch.lines {
            match self.change(&line.change, batch.process) {
                Ok(()) => counts.accepted += 1,
                Err(fault) => counts.reject(line.number, fault),
            }
        }
        counts.last_sequence = self.ground.head;
        if let Some(IngestCheckpoint { key, to_line, hash, .. }) = batch.checkpoint {
            let progress =
                IngestProgress { line: to_line, hash, process: batch.process, counts: counts.clone() };
            self.ground.progress.insert(key.clone(), progress.clone());
            self.plan.progress.push((key, progress));
        }
        Ok(counts)
    }

    fn change(&mut self, change: &Change, process: ProcessId) -> Result<(), FieldError> {
        let Some(place) = self.ground.place(change) else {
            let company = change.company.as_ref().map_or("", |company| company.as_str());
            return Err(FieldError::new("unknown_company", format!("there is no company \"{company}\""))
                .at("company"));
        };
        let step = Step { change, process, place };
        let key = Key { place, id: change.correlation_id.as_str().into() };
        match (&change.action, self.ground.records.contains_key(&key)) {
            (Action::Upsert(upsert), exists) => {
                self.check_code(&step, upsert)?;
                if exists {
                    self.update(&step, &key, upsert);
                } else {
                    self.create(&step, key, upsert);
                }
                Ok(())
            }
            (Action::Fail, _) => {
                self.append(&step, EventKind::ErrorOccurred, None);
                Ok(())
            }
            (_, false) => {
                let message = format!(
                    "there is no record \"{}\" of {}",
                    change.correlation_id,
                    change.resource.as_str()
                );
                Err(FieldError::new("unknown_record", message).at("correlationId"))
            }
            (Action::Disable, true) => {
                self.set_state(&step, &key, State::Disabled, change.resource.disabled_event());
                Ok(())
            }
            (Action::Enable, true) => {
                self.set_state(&step, &key, State::Enabled, EventKind::Updated);
                Ok(())
            }
            (Action::Delete, true) => {
                self.delete(&step, &key);
                Ok(())
            }
        }
    }

    /// An account code is as long as its company says.
    fn check_code(&mut self, step: &Step<'_>, upsert: &Upsert) -> Result<(), FieldError> {
        let TypedFields::AccountCode { field, digits } = upsert.typed_fields else {
            return Ok(());
        };
        let company = step.change.company.as_ref().map_or("", |company| company.as_str());
        match self.ground.account_length(step.place.company_no, company) {
            Some(length) if length != digits => Err(FieldError::new(
                "invalid_member",
                format!("data.{field} has {digits} digits, but the company's accountLength is {length}"),
            )
            .at(format!("data.{field}"))),
            _ => Ok(()),
        }
    }

    fn create(&mut self, step: &Step<'_>, key: Key, upsert: &Upsert) {
        let resource = step.place.resource;
        let told = told(resource, "", &upsert.members);
        let given = self.append(step, resource.first_event(), told);
        let collection = self.ground.collections.entry(step.place).or_default();
        let ordinal = collection.next_ordinal;
        collection.next_ordinal += 1;
        collection.live += 1;
        collection.version = given.sequence;
        let live = Live {
            stored: given.stored(&key, ordinal, State::Enabled, |tail| tail.body(upsert)),
            payroll: payroll(upsert),
            fresh: true,
            touched: true,
        };
        self.ground.records.insert(key, live);
    }

    fn update(&mut self, step: &Step<'_>, key: &Key, upsert: &Upsert) {
        let Some(live) = self.ground.records.get(key) else {
            return;
        };
        let resource = step.place.resource;
        let before = tail(resource, &key.id, &live.stored).members_of(&live.stored.body);
        let unchanged = match &upsert.typed_fields {
            TypedFields::Payroll(company) => PayrollCompany::from_body(&live.stored.body)
                .is_some_and(|stored| company.is_unchanged_from(&stored)),
            _ => same_members(before, &upsert.members),
        };
        if unchanged {
            return;
        }
        let told = told(resource, before, &upsert.members);
        let (ordinal, state) = (live.stored.ordinal, live.stored.state);
        let given = self.append(step, EventKind::Updated, told);
        let stored = given.stored(key, ordinal, state, |tail| tail.body(upsert));
        self.replace(step, key, stored, payroll(upsert));
        if resource == Resource::companies() {
            self.ground.forget_account_length(signed(ordinal));
        }
    }

    fn set_state(&mut self, step: &Step<'_>, key: &Key, state: State, kind: EventKind) {
        let Some(live) = self.ground.records.get(key) else {
            return;
        };
        if live.stored.state == state {
            return;
        }
        let resource = step.place.resource;
        let ordinal = live.stored.ordinal;
        let members = tail(resource, &key.id, &live.stored).members_of(&live.stored.body).to_owned();
        let given = self.append(step, kind, None);
        let stored = given.stored(key, ordinal, state, |tail| tail.body_of(&members));
        self.replace(step, key, stored, None);
    }

    fn replace(&mut self, step: &Step<'_>, key: &Key, stored: Stored, payroll: Option<PayrollCompany>) {
        self.ground.collections.entry(step.place).or_default().version = stored.sequence;
        if let Some(live) = self.ground.records.get_mut(key) {
            live.stored = stored;
            live.touched = true;
            live.payroll = payroll.or(live.payroll.take());
        }
    }

    fn delete(&mut self, step: &Step<'_>, key: &Key) {
        let told = (step.place.resource.area() == Area::Invoicing).then(|| "[]".into());
        // A company's last row is found under its own number, as its records' rows are.
        let Given { sequence, .. } = self.append(step, EventKind::Deleted, told);
        let Some(live) = self.ground.records.remove(key) else {
            return;
        };
        let ordinal = live.stored.ordinal;
        if !live.fresh {
            self.plan.deletes.push((step.place, ordinal));
        }
        let collection = self.ground.collections.entry(step.place).or_default();
        collection.live = collection.live.saturating_sub(1);
        collection.version = sequence;
        *self.gaps.entry((step.place, block_of(ordinal))).or_default() += 1;
        if step.place.resource == Resource::companies() {
            self.plan.departed.push(signed(ordinal));
        }
    }

    /// Gives the next number and version, and puts the row into the log.
    fn append(&mut self, step: &Step<'_>, kind: EventKind, changes: Option<Box<str>>) -> Given {
        let change = step.change;
        self.ground.head += 1;
        self.ground.version = self.now.max(self.ground.version.next());
        let (sequence, version) = (self.ground.head, self.ground.version);
        let id = change.correlation_id.as_str();
        let is_company = change.resource == Resource::companies();
        let company =
            if is_company { id } else { change.company.as_ref().map_or("", |company| company.as_str()) };
        let company_no = if is_company { self.number_of_company(id, kind) } else { step.place.company_no };
        let conversation: Guid = self.random.guid();
        let entry = LogEntry {
            sequence,
            resource: change.resource,
            kind,
            company: company.into(),
            correlation_id: id.into(),
            version,
            conversation,
            process: step.process,
            user: change.user.clone(),
            source_interface: change.source_interface.clone(),
            source_action: change.source_action.clone(),
            changes,
            envelope: ENVELOPE_VERSION,
        };
        self.plan.log.push(LogRow { entry, company_no, record_key: record_key(company, id) });
        Given { sequence, version }
    }

    /// The number of a company that is there, or the one that it is about to get. A failure of one that is
    /// not there is no company's.
    fn number_of_company(&self, id: &str, kind: EventKind) -> i64 {
        let key = Key { place: Place::companies(), id: id.into() };
        match (self.ground.records.get(&key), kind) {
            (Some(company), _) => signed(company.stored.ordinal),
            (None, EventKind::Created) => {
                let all = self.ground.collections.get(&Place::companies());
                signed(all.copied().unwrap_or_default().next_ordinal)
            }
            (None, _) => TENANT,
        }
    }
}

fn tail<'a>(resource: Resource, correlation_id: &'a str, stored: &Stored) -> RecordTail<'a> {
    RecordTail {
        resource,
        correlation_id,
        state: stored.state,
        version: stored.version,
        sequence: stored.sequence,
    }
}

/// What an invoicing notification will tell of the change.
fn told(resource: Resource, before: &str, after: &str) -> Option<Box<str>> {
    (resource.area() == Area::Invoicing).then(|| invoicing_changes::render(before, after).into())
}

fn payroll(upsert: &Upsert) -> Option<PayrollCompany> {
    match &upsert.typed_fields {
        TypedFields::Payroll(company) => Some(company.clone()),
        _ => None,
    }
}
