//! When a connection is due, and which one makes room.

use super::*;

const DEADLINES: Deadlines = Deadlines {
    handshake: Duration::from_secs(1),
    header: Duration::from_secs(2),
    body: Duration::from_secs(3),
    write: Duration::from_secs(4),
    idle: Duration::from_secs(5),
};

/// Seconds until the connection closes, and why.
fn due(change: impl FnOnce(&mut State, Instant)) -> Option<(u64, CloseReason)> {
    let opened = Instant::now();
    let mut state = State::new(opened, false);
    change(&mut state, opened);
    state.due(&DEADLINES).map(|(due, reason)| (due.duration_since(opened).as_secs(), reason))
}

#[test]
fn every_state_in_which_the_peer_must_act_has_a_deadline() {
    let second = Duration::from_secs(1);
    assert_eq!(due(|state, _| state.is_handshaking = true), Some((1, CloseReason::Handshake)));
    assert_eq!(due(|_, _| {}), Some((2, CloseReason::Header)));
    assert_eq!(due(|state, _| state.completed = 1), Some((5, CloseReason::Idle)));
    let header = |state: &mut State, now| (state.completed, state.header_since) = (1, Some(now + second));
    assert_eq!(due(header), Some((3, CloseReason::Header)));
    let blocked = |state: &mut State, now| state.blocked_since = Some(now + second);
    assert_eq!(due(blocked), Some((5, CloseReason::Write)));
    let window = |state: &mut State, _| (state.requests, state.responses_waiting) = (2, 1);
    assert_eq!(due(window), Some((4, CloseReason::Write)));
    let closing = |state: &mut State, now| state.closing = Some((now, CloseReason::Idle));
    assert_eq!(due(closing), Some((1, CloseReason::Idle)));
}

#[test]
fn bytes_of_http2_do_not_extend_an_idle_connection() {
    let pinged = |state: &mut State, now| {
        (state.is_http2, state.completed, state.header_since) = (true, 1, Some(now + DEADLINES.write));
    };
    assert_eq!(due(pinged), Some((5, CloseReason::Idle)));
}

#[test]
fn handler_at_work_has_no_deadline() {
    assert_eq!(due(|state, _| state.requests = 1), None);
}

#[test]
fn only_connections_whose_peer_is_silent_are_expendable() {
    const STALL_MIN: Duration = Duration::from_secs(2);
    let now = Instant::now();
    let mut state = State::new(now, false);
    let expendable = |state: &State, after| state.expendable(now + after, STALL_MIN);
    assert_eq!(expendable(&state, Duration::ZERO), Some(Expendable::Silent));
    state.completed = 1;
    assert_eq!(expendable(&state, Duration::ZERO), Some(Expendable::Idle));
    state.blocked_since = Some(now);
    assert_eq!(expendable(&state, Duration::ZERO), None, "it is still taking its response");
    assert_eq!(expendable(&state, STALL_MIN), Some(Expendable::Stalled));
    state.blocked_since = None;
    state.requests = 2;
    assert_eq!(expendable(&state, STALL_MIN), None, "its handlers are at work");
    (state.bodies_waiting, state.responses_waiting) = (1, 1);
    assert_eq!(expendable(&state, Duration::ZERO), None, "it made progress just now");
    assert_eq!(expendable(&state, STALL_MIN), Some(Expendable::Stalled));
    state.replaced = Some(Expendable::Stalled);
    assert_eq!(expendable(&state, STALL_MIN), None, "it is given up already");
}
