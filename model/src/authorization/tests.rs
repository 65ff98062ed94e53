//! Checks the model as it is, and that each planted fault is found.

use super::*;
use crate::checker::{SETTLES, check};

/// Every ground of access ends and stands again.
const GROUNDS: AuthorizationModel = AuthorizationModel {
    grounds: &[Ground::Authorization, Ground::Tenant, Ground::Application],
    access_changes_max: 3,
    events_max: 1,
    owner_changes_max: 0,
    is_moving: false,
    is_disabling: false,
    fault: None,
};
/// Several events of a record, and of two.
const EVENTS: AuthorizationModel =
    AuthorizationModel { grounds: &[Ground::Authorization], access_changes_max: 2, events_max: 2, ..GROUNDS };
const OWNER: AuthorizationModel =
    AuthorizationModel { events_max: 1, owner_changes_max: 2, is_disabling: true, ..EVENTS };
const MOVING: AuthorizationModel = AuthorizationModel { is_moving: true, ..EVENTS };
const MOVING_OWNERS: AuthorizationModel =
    AuthorizationModel { grounds: &[Ground::Tenant], events_max: 1, ..MOVING };

fn check_rules(model: &AuthorizationModel) {
    let outcome = check(model);
    println!("{model:?}: {outcome}");
    assert!(outcome.counterexample.is_none(), "{}", outcome.counterexample.unwrap());
}

#[test]
fn nothing_is_sent_without_access_whatever_ends_it() {
    check_rules(&GROUNDS);
}

#[test]
fn events_wait_for_access_and_are_delivered_in_order() {
    check_rules(&EVENTS);
}

#[test]
fn webhook_that_its_owner_or_the_service_disabled_or_that_was_ended_gets_nothing() {
    check_rules(&OWNER);
}

#[test]
fn access_holds_while_the_webhook_moves_from_node_to_node() {
    check_rules(&MOVING);
}

#[test]
fn suspended_owners_are_known_while_the_webhook_moves_from_node_to_node() {
    check_rules(&MOVING_OWNERS);
}

/// Where a fault is found, and the rule that it breaks.
fn expected(fault: Fault) -> (AuthorizationModel, &'static str) {
    match fault {
        Fault::NotCheckedAgain
        | Fault::OldKnowledgeIsUsed
        | Fault::AgeCountsFromAnswer
        | Fault::AnsweredFirst
        | Fault::EarlierReadCounts => (EVENTS, NOTHING_WITHOUT_ACCESS),
        Fault::OneReadIsEnough | Fault::TenantOverlooked => (GROUNDS, NOTHING_WITHOUT_ACCESS),
        Fault::StartsBeforeOwnersAreRead => (MOVING_OWNERS, NOTHING_WITHOUT_ACCESS),
        Fault::StoredSuspensionIsEnough => (MOVING, NOTHING_WITHOUT_ACCESS),
        Fault::RefusedCountsAsDelivered | Fault::FailureForgottenInSuspension | Fault::ResumesAtHead => {
            (EVENTS, NOTHING_LOST)
        }
        Fault::DecidedCountsWhenGiven => (MOVING, NOTHING_LOST),
        Fault::ServiceResumesAtHead => (OWNER, NOTHING_LOST),
        Fault::EventsPassedInSuspension => (EVENTS, KEPT_FOR_LATER),
        Fault::BacklogIsSentTogether | Fault::DecidedHoldsNothingBack => (EVENTS, IN_ORDER),
        Fault::EndIsNotTakenOver | Fault::GrantRevivesEnded | Fault::EnableRevivesEnded => {
            (OWNER, ENDED_FOR_GOOD)
        }
        Fault::EnableKeepsCursor | Fault::EnableKeepsCursorInSuspension => (OWNER, DISABLED_BY_OWNER),
        Fault::SuspensionTimeGoesOn => (OWNER, DISABLED_WITHOUT_ACCESS_ONLY),
        Fault::SuspensionStays | Fault::LateReadIsNotRepeated => (EVENTS, SETTLES),
    }
}

#[test]
fn planted_faults_are_found() {
    for fault in Fault::ALL {
        let (model, rule) = expected(fault);
        let outcome = check(&AuthorizationModel { fault: Some(fault), ..model });
        println!("{fault:?}: {outcome}");
        let found = outcome.counterexample.unwrap_or_else(|| panic!("{fault:?} is not found"));
        assert_eq!(found.rule, rule, "{fault:?}: {found}");
    }
}
