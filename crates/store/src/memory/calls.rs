//! The log of calls in memory.

use async_trait::async_trait;
use domain::CallRecord;
use domain::ids::SubscriptionId;

use super::MemoryStore;
use crate::calls::CALLS_KEPT;
use crate::{CallPage, CallQuery, Calls, NumberedCall, Result};

#[async_trait]
impl Calls for MemoryStore {
    async fn append_calls(&self, calls: &[CallRecord], trimmed: &[SubscriptionId]) -> Result<()> {
        let mut state = self.state_mut()?;
        for call in calls {
            state.last_call += 1;
            let number = state.last_call;
            state.call_log.insert((call.subscription.clone(), number), call.clone());
        }
        for id in trimmed {
            let all: Vec<u64> =
                state.call_log.keys().filter(|(of, _)| of == id).map(|(_, number)| *number).collect();
            for number in all.iter().rev().skip(CALLS_KEPT) {
                state.call_log.remove(&(id.clone(), *number));
            }
        }
        Ok(())
    }

    async fn list_calls(&self, query: &CallQuery) -> Result<CallPage> {
        let state = self.state();
        let found = state.call_log.iter().filter(|((subscription, number), call)| {
            query.subscriptions().contains(subscription) && query.includes(*number, call)
        });
        let rows = found.map(|((_, number), call)| NumberedCall { number: *number, call: call.clone() });
        Ok(query.page(rows.collect()))
    }
}
