//! Checks the model as it is, and that each planted fault is found.

use super::*;
use crate::checker::{SETTLES, check};

const TIMING: LeaseModel<2> = LeaseModel {
    lag_max: Some(MARGIN),
    is_sharing: false,
    is_restarting: false,
    has_checkpoints: false,
    has_late_renewals: true,
    fault: None,
};
const FENCES: LeaseModel<2> =
    LeaseModel { lag_max: Some(0), has_checkpoints: true, has_late_renewals: false, ..TIMING };
const RESTARTS: LeaseModel<2> = LeaseModel { has_checkpoints: false, is_restarting: true, ..FENCES };
const SHARING: LeaseModel<2> = LeaseModel { lag_max: Some(0), is_sharing: true, ..TIMING };
const THREE_NODES: LeaseModel<3> = LeaseModel {
    lag_max: Some(0),
    is_sharing: false,
    is_restarting: false,
    has_checkpoints: false,
    has_late_renewals: false,
    fault: None,
};

fn check_rules<const NODES: usize>(model: &LeaseModel<NODES>) {
    let outcome = check(model);
    println!("{model:?}: {outcome}");
    assert!(outcome.counterexample.is_none(), "{}", outcome.counterexample.unwrap());
}

#[test]
fn one_node_sends_although_clocks_are_slow_and_nodes_are_late() {
    check_rules(&TIMING);
}

#[test]
fn checkpoint_of_a_former_holder_is_refused() {
    check_rules(&FENCES);
}

#[test]
fn one_node_sends_while_nodes_stop_and_start() {
    check_rules(&RESTARTS);
}

#[test]
fn one_node_sends_while_the_shard_is_asked_for_and_given() {
    check_rules(&SHARING);
}

#[test]
fn one_of_three_nodes_sends() {
    check_rules(&THREE_NODES);
}

#[test]
fn nodes_that_are_later_than_the_margin_may_both_send() {
    let found = check(&LeaseModel { lag_max: Some(MARGIN + 1), ..TIMING }).counterexample.unwrap();
    assert_eq!(found.rule, ONE_SENDER);
}

/// Where a fault is found, and the rule that it breaks.
fn expected(fault: Fault) -> (LeaseModel<2>, &'static str) {
    match fault {
        Fault::NoMargin => (TIMING, ONE_SENDER),
        Fault::CountsFromAnswer | Fault::StartsUntilExpiry | Fault::ExpiryByNodesClock => {
            (FENCES, ONE_SENDER)
        }
        Fault::LeasesNeverEnd => (FENCES, SETTLES),
        Fault::FenceNotChecked | Fault::FenceNotRaised => (FENCES, FORMER_HOLDER_REFUSED),
        Fault::AsksNeverEnd => (SHARING, SETTLES),
        Fault::GivesWhileBusy | Fault::EarlierRenewalReturnsShard | Fault::GiveComesLate => {
            (SHARING, ONE_SENDER)
        }
        Fault::ReleasesBeforeAttemptsEnd => (RESTARTS, ONE_SENDER),
    }
}

#[test]
fn planted_faults_are_found() {
    for fault in Fault::ALL {
        let (model, rule) = expected(fault);
        let outcome = check(&LeaseModel { fault: Some(fault), ..model });
        println!("{fault:?}: {outcome}");
        let found = outcome.counterexample.unwrap_or_else(|| panic!("{fault:?} is not found"));
        assert_eq!(found.rule, rule, "{fault:?}: {found}");
    }
}
