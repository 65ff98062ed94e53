//! Decides what each change of a batch does, in order.

use std::borrow::Cow;
use std::collections::HashMap;

use domain::change::{Action, Change};
use domain::envelope::ENVELOPE_VERSION;
use domain::event::EventKind;
use domain::record::{PayrollCompany, RecordTail, State, TypedFields, UnlinkedAccount, Upsert, same_members};
use domain::{Area, ErrorCode, FieldError, Guid, ProcessId, Random, Resource, Ticks, invoicing_changes};

use super::finish::finish;
use super::inputs::{PlanInputs, PlannedRecord};
use super::{CollectionKey, LogRow, NO_COMPANY, Plan, RecordKey, StoredRecord, record_key, signed};
use crate::audit::new_value;
use crate::records::block_of;
use crate::{
    BatchCounts, ChangeBatch, IngestCheckpoint, IngestProgress, LogEntry, RECORD_CHANGED, RecordEdit, Result,
    StoreError,
};

/// Returns what to write for the batches, and the result of each batch. A batch that has expired, or whose
/// idempotency key is used by another request, is left out.
pub(crate) fn decide(
    inputs: PlanInputs,
    batches: Vec<ChangeBatch>,
    now: Ticks,
    random: &dyn Random,
) -> (Plan, Vec<Result<BatchCounts>>) {
    let head_before = inputs.head;
    let mut planner = Planner { inputs, now, random, plan: Plan::default(), gaps: HashMap::new() };
    let counts_by_batch = batches.into_iter().map(|batch| planner.batch(batch)).collect();
    (finish(planner.plan, planner.inputs, planner.gaps, head_before), counts_by_batch)
}

struct Planner<'a> {
    inputs: PlanInputs,
    now: Ticks,
    random: &'a dyn Random,
    plan: Plan,
    gaps: HashMap<(CollectionKey, u64), u64>,
}

/// The sequence and version assigned to a change.
struct LogPosition {
    sequence: u64,
    version: Ticks,
}

impl LogPosition {
    /// The record after this change.
    fn stored(
        &self,
        key: &RecordKey,
        ordinal: u64,
        state: State,
        body: impl FnOnce(RecordTail<'_>) -> String,
    ) -> StoredRecord {
        let Self { sequence, version } = *self;
        let body = body(RecordTail {
            resource: key.collection.resource,
            correlation_id: &key.id,
            state,
            version,
            sequence,
        });
        StoredRecord { ordinal, state, version, sequence, body }
    }
}

/// A change with its process and its collection.
struct ChangeStep<'a> {
    change: &'a Change,
    process: ProcessId,
    collection: CollectionKey,
}

impl Planner<'_> {
    fn batch(&mut self, batch: ChangeBatch) -> Result<BatchCounts> {
        if batch.expires_at.is_some_and(|expiry| self.now > expiry) {
            return Err(StoreError::Expired);
        }
        if let Some(checkpoint) = &batch.checkpoint {
            let stored_line = self.inputs.progress.get(&checkpoint.key).map_or(0, |progress| progress.line);
            if stored_line != checkpoint.from_line {
                return Err(StoreError::KeyInUse(checkpoint.key.clone()));
            }
        }
        let mut counts = batch.counts;
        let head_before = self.inputs.head;
        for line in &batch.lines {
            let checked = self.check_unchanged(&line.change, batch.edit.as_ref());
            match checked.and_then(|()| self.change(&line.change, batch.process)) {
                Ok(()) => counts.accepted += 1,
                Err(fault) => counts.reject(line.number, fault),
            }
        }
        counts.last_sequence = self.inputs.head;
        if let Some(edit) = batch.edit.filter(|_| self.inputs.head > head_before) {
            let sequence = new_value("sequenceVersion", self.inputs.head.to_string());
            self.plan.audit.push(edit.audit.with_change(sequence));
        }
        if let Some(IngestCheckpoint { key, to_line, hash, .. }) = batch.checkpoint {
            let progress =
                IngestProgress { line: to_line, hash, process: batch.process, counts: counts.clone() };
            self.inputs.progress.insert(key.clone(), progress.clone());
            self.plan.progress.push((key, progress));
        }
        Ok(counts)
    }

    /// Rejects an edit of a record that changed since its editor read it.
    fn check_unchanged(&self, change: &Change, edit: Option<&RecordEdit>) -> Result<(), FieldError> {
        let expected = edit.and_then(|edit| edit.expected_sequence);
        let (Some(expected), Some(collection)) = (expected, self.inputs.collection(change)) else {
            return Ok(());
        };
        let key = RecordKey { collection, id: change.correlation_id.as_str().into() };
        let stored = self.inputs.records.get(&key).map_or(0, |record| record.stored.sequence);
        if stored == expected {
            return Ok(());
        }
        let message = "the record was changed since you read it; read it again and repeat";
        Err(FieldError::new(RECORD_CHANGED, message).at("sequenceVersion"))
    }

    fn change(&mut self, change: &Change, process: ProcessId) -> Result<(), FieldError> {
        let Some(collection) = self.inputs.collection(change) else {
            let company = change.company.as_ref().map_or("", |company| company.as_str());
            return Err(FieldError::new(
                ErrorCode::UnknownCompany,
                format!("there is no company \"{company}\""),
            )
            .at("company"));
        };
        let step = ChangeStep { change, process, collection };
        let key = RecordKey { collection, id: change.correlation_id.as_str().into() };
        match (&change.action, self.inputs.records.contains_key(&key)) {
            (Action::Upsert(upsert), exists) => {
                self.check_code(&step, upsert)?;
                let upsert = &*self.link_account(&step, upsert)?;
                let account = self.inputs.looks_up(collection).then(|| key.clone());
                if exists {
                    self.update(&step, &key, upsert);
                } else {
                    self.create(&step, key, upsert);
                }
                if let Some(account) = account {
                    self.inputs.note_account(&account);
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
                Err(FieldError::new(ErrorCode::UnknownRecord, message).at("correlationId"))
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

    /// An account code must have as many digits as its company's `accountLength`.
    fn check_code(&mut self, step: &ChangeStep<'_>, upsert: &Upsert) -> Result<(), FieldError> {
        let TypedFields::AccountCode { field, digits } = upsert.typed_fields else {
            return Ok(());
        };
        let company = step.change.company.as_ref().map_or("", |company| company.as_str());
        match self.inputs.account_length(step.collection.company_no, company) {
            Some(length) if length != digits => Err(FieldError::new(
                ErrorCode::InvalidMember,
                format!("data.{field} has {digits} digits, but the company's accountLength is {length}"),
            )
            .at(format!("data.{field}"))),
            _ => Ok(()),
        }
    }

    /// Fills in the id of an account that the change names by its code alone.
    fn link_account<'u>(
        &self,
        step: &ChangeStep<'_>,
        upsert: &'u Upsert,
    ) -> Result<Cow<'u, Upsert>, FieldError> {
        let Some(UnlinkedAccount { code, .. }) = &upsert.unlinked_account else {
            return Ok(Cow::Borrowed(upsert));
        };
        if let Some(account) = self.inputs.find_account(step.collection.company_no, code) {
            return Ok(Cow::Owned(upsert.linked(account)));
        }
        let message = if code.is_empty() {
            "data.accountCodeCorrelationId is empty, and data.accountCode names no account".to_owned()
        } else {
            format!("the company has no account with the code {code}; send the account first")
        };
        Err(FieldError::new(ErrorCode::AccountNotFound, message).at("data.accountCode"))
    }

    fn create(&mut self, step: &ChangeStep<'_>, key: RecordKey, upsert: &Upsert) {
        let resource = step.collection.resource;
        let invoicing_changes = invoicing_changes(resource, "", &upsert.members);
        let position = self.append(step, resource.first_event(), invoicing_changes);
        let collection = self.inputs.collections.entry(step.collection).or_default();
        let ordinal = collection.next_ordinal;
        collection.next_ordinal += 1;
        collection.live += 1;
        collection.version = position.sequence;
        let live = PlannedRecord {
            stored: position.stored(&key, ordinal, State::Enabled, |tail| tail.body(upsert)),
            payroll: payroll(upsert),
            is_new: true,
            is_changed: true,
        };
        self.inputs.records.insert(key, live);
    }

    fn update(&mut self, step: &ChangeStep<'_>, key: &RecordKey, upsert: &Upsert) {
        let Some(live) = self.inputs.records.get(key) else {
            return;
        };
        let resource = step.collection.resource;
        let before = tail(resource, &key.id, &live.stored).members_of(&live.stored.body);
        let unchanged = match &upsert.typed_fields {
            TypedFields::Payroll(company) => PayrollCompany::from_body(&live.stored.body)
                .is_some_and(|stored| company.is_unchanged_from(&stored)),
            _ => same_members(&before, &upsert.members),
        };
        if unchanged {
            return;
        }
        let invoicing_changes = invoicing_changes(resource, &before, &upsert.members);
        let (ordinal, state) = (live.stored.ordinal, live.stored.state);
        let position = self.append(step, EventKind::Updated, invoicing_changes);
        let stored = position.stored(key, ordinal, state, |tail| tail.body(upsert));
        self.replace(step, key, stored, payroll(upsert));
        if resource == Resource::companies() {
            self.inputs.forget_account_length(signed(ordinal));
        }
    }

    fn set_state(&mut self, step: &ChangeStep<'_>, key: &RecordKey, state: State, kind: EventKind) {
        let Some(live) = self.inputs.records.get(key) else {
            return;
        };
        if live.stored.state == state {
            return;
        }
        let resource = step.collection.resource;
        let ordinal = live.stored.ordinal;
        let members = tail(resource, &key.id, &live.stored).members_of(&live.stored.body).into_owned();
        let position = self.append(step, kind, None);
        let stored = position.stored(key, ordinal, state, |tail| tail.body_of(&members));
        self.replace(step, key, stored, None);
    }

    fn replace(
        &mut self,
        step: &ChangeStep<'_>,
        key: &RecordKey,
        stored: StoredRecord,
        payroll: Option<PayrollCompany>,
    ) {
        self.inputs.collections.entry(step.collection).or_default().version = stored.sequence;
        if let Some(live) = self.inputs.records.get_mut(key) {
            live.stored = stored;
            live.is_changed = true;
            live.payroll = payroll.or(live.payroll.take());
        }
    }

    fn delete(&mut self, step: &ChangeStep<'_>, key: &RecordKey) {
        let invoicing_changes = (step.collection.resource.area() == Area::Invoicing).then(|| "[]".into());
        // The log row of a deleted company carries the company's own number, like the rows of its records.
        let LogPosition { sequence, .. } = self.append(step, EventKind::Deleted, invoicing_changes);
        let Some(live) = self.inputs.records.remove(key) else {
            return;
        };
        let ordinal = live.stored.ordinal;
        if !live.is_new {
            self.plan.deletes.push((step.collection, ordinal));
        }
        let collection = self.inputs.collections.entry(step.collection).or_default();
        collection.live = collection.live.saturating_sub(1);
        collection.version = sequence;
        *self.gaps.entry((step.collection, block_of(ordinal))).or_default() += 1;
        if step.collection.resource == Resource::companies() {
            self.plan.deleted_companies.push(signed(ordinal));
        }
    }

    /// Assigns the next sequence and version, and appends the log row.
    fn append(&mut self, step: &ChangeStep<'_>, kind: EventKind, changes: Option<Box<str>>) -> LogPosition {
        let change = step.change;
        self.inputs.head += 1;
        self.inputs.version = self.now.max(self.inputs.version.next());
        let (sequence, version) = (self.inputs.head, self.inputs.version);
        let id = change.correlation_id.as_str();
        let is_company = change.resource == Resource::companies();
        let company =
            if is_company { id } else { change.company.as_ref().map_or("", |company| company.as_str()) };
        let company_no = if is_company { self.company_no_for(id, kind) } else { step.collection.company_no };
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
        LogPosition { sequence, version }
    }

    /// The number of an existing company, or the one that a new company gets. A failure event of an unknown
    /// company belongs to no company.
    fn company_no_for(&self, id: &str, kind: EventKind) -> i64 {
        let key = RecordKey { collection: CollectionKey::companies(), id: id.into() };
        match (self.inputs.records.get(&key), kind) {
            (Some(company), _) => signed(company.stored.ordinal),
            (None, EventKind::Created) => {
                let all = self.inputs.collections.get(&CollectionKey::companies());
                signed(all.copied().unwrap_or_default().next_ordinal)
            }
            (None, _) => NO_COMPANY,
        }
    }
}

fn tail<'a>(resource: Resource, correlation_id: &'a str, stored: &StoredRecord) -> RecordTail<'a> {
    RecordTail {
        resource,
        correlation_id,
        state: stored.state,
        version: stored.version,
        sequence: stored.sequence,
    }
}

/// The `changes` text of an invoicing notification.
fn invoicing_changes(resource: Resource, before: &str, after: &str) -> Option<Box<str>> {
    (resource.area() == Area::Invoicing).then(|| invoicing_changes::render(before, after).into())
}

fn payroll(upsert: &Upsert) -> Option<PayrollCompany> {
    match &upsert.typed_fields {
        TypedFields::Payroll(company) => Some(company.clone()),
        _ => None,
    }
}
