//! Checks the model as it is, and that each planted fault is found.

use super::*;
use crate::checker::{SETTLES, check};

const TWO_EVENTS: DeliveryModel = DeliveryModel { events_max: 2, owner_changes_max: 0, fault: None };
const THREE_EVENTS: DeliveryModel = DeliveryModel { events_max: 3, ..TWO_EVENTS };
const OWNER_CHANGES: DeliveryModel = DeliveryModel { owner_changes_max: 2, ..TWO_EVENTS };

/// All but `WriteLanes` and `WriteLate`, which need a fault; and all but those of the owner.
const ACTION_KINDS: usize = 19;
const ACTION_KINDS_WITHOUT_OWNER: usize = 16;

fn check_rules(model: &DeliveryModel, action_kinds: usize) {
    let outcome = check(model);
    println!("{model:?}: {outcome}");
    assert!(outcome.counterexample.is_none(), "{}", outcome.counterexample.unwrap());
    assert_eq!(outcome.action_kinds, action_kinds, "some actions are never possible");
}

#[test]
fn every_event_is_delivered_in_order_and_no_lane_is_left() {
    check_rules(&THREE_EVENTS, ACTION_KINDS_WITHOUT_OWNER);
}

#[test]
fn every_event_is_delivered_in_order_while_the_owner_disables_and_enables_the_webhook() {
    check_rules(&OWNER_CHANGES, ACTION_KINDS);
}

/// Where a fault is found, and the rule that it breaks.
fn expected(fault: Fault) -> (DeliveryModel, &'static str) {
    match fault {
        Fault::CursorBeforeLanes | Fault::CursorFollowsReads | Fault::NoAnswerIsSuccess => {
            (TWO_EVENTS, NOTHING_LOST)
        }
        Fault::LaneForgetsDeferred
        | Fault::LaneStaysCleared
        | Fault::FenceNotChecked
        | Fault::RepeatedWriteComesLate => (THREE_EVENTS, NOTHING_LOST),
        Fault::LaneHoldsNothingBack | Fault::RecordsOverlap => (TWO_EVENTS, IN_ORDER),
        Fault::LaneNeverEnds | Fault::BreakerStopsProbes => (THREE_EVENTS, SETTLES),
        Fault::EnableMovesActiveCursor | Fault::ServiceResumesAtHead => (OWNER_CHANGES, NOTHING_LOST),
        Fault::OwnerDisableKeepsLanes | Fault::RevisionNotChecked | Fault::EarlierOutcomesCount => {
            (OWNER_CHANGES, DROPPED_STAYS_DROPPED)
        }
        Fault::EarlierAttemptsForgotten => (OWNER_CHANGES, IN_ORDER),
    }
}

#[test]
fn planted_faults_are_found() {
    for fault in Fault::ALL {
        let (model, rule) = expected(fault);
        let outcome = check(&DeliveryModel { fault: Some(fault), ..model });
        println!("{fault:?}: {outcome}");
        let found = outcome.counterexample.unwrap_or_else(|| panic!("{fault:?} is not found"));
        assert_eq!(found.rule, rule, "{fault:?}: {found}");
    }
}
