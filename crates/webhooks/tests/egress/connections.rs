//! Connections that are kept, shared out, closed, and lost.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use tokio::sync::{Barrier, Notify};
use webhooks::egress::{Call, Egress, EgressSettings, Failure, Phase};

use super::desk::{answered, call, egress, failed, local, short_call};
use super::server::{OK, Server, always};

/// So that a tenth of it is long, too.
const LONG: Duration = Duration::from_mins(5);

fn with(change: impl FnOnce(&mut EgressSettings)) -> Egress {
    let mut settings = local();
    change(&mut settings);
    Egress::new(settings).unwrap()
}

#[tokio::test]
async fn one_connection_serves_one_call_after_another() {
    let server = Server::answering(OK).await;
    let egress = egress();
    for round in 0..20 {
        let sent = egress.send(call(&server.url("/"))).await;
        assert_eq!(sent.result.unwrap().status, 200);
        assert_eq!(sent.timing.reused, round > 0);
        assert_eq!(sent.timing.connect.is_zero(), round > 0);
    }
    assert_eq!(server.seen().accepted, 1);
}

#[tokio::test]
async fn eight_calls_at_once_have_eight_connections() {
    let server = answering_once_all_are_there(8).await;
    let egress = egress();
    for _ in 0..3 {
        at_once(&egress, &server, 8).await;
    }
    assert_eq!(server.seen().accepted, 8);
}

/// Answers none before so many have asked.
async fn answering_once_all_are_there(count: usize) -> Server {
    let all_there = Arc::new(Barrier::new(count));
    Server::start(move |mut visit| {
        let all_there = all_there.clone();
        async move {
            while visit.request().await.is_some() {
                all_there.wait().await;
                visit.say(OK).await;
            }
        }
    })
    .await
}

/// To a host that has ten connections, calls would rather wait than open another.
fn patient() -> Egress {
    with(|settings| {
        settings.eager_per_host_max = 10;
        settings.grow_after = LONG;
    })
}

/// Makes so many calls at once; each is answered.
async fn at_once(egress: &Egress, server: &Server, count: usize) {
    let calls: Vec<_> = (0..count)
        .map(|_| {
            let (egress, call) = (egress.clone(), Call { deadline: LONG, ..call(&server.url("/")) });
            tokio::spawn(async move { answered(&egress, call).await.status })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), 200);
    }
}

#[tokio::test]
async fn a_burst_shares_the_connections_that_a_host_has() {
    let server = Server::answering(OK).await;
    let egress = patient();
    for _ in 0..3 {
        at_once(&egress, &server, 500).await;
    }
    assert_eq!(server.seen().accepted, 10);
}

/// Each that is closed makes place for one; they do not all come at once.
#[tokio::test]
async fn a_burst_to_who_closes_after_each_answer_is_spread_too() {
    let server =
        Server::answering("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok").await;
    let egress = patient();
    at_once(&egress, &server, 500).await;
    let seen = server.seen();
    assert_eq!(seen.accepted, 500);
    // The receiver notices a while later that one of them is closed.
    assert!(seen.open_most <= 50, "{} at once", seen.open_most);
}

/// Nobody waits for another's slow answer: here none comes before all have asked.
#[tokio::test]
async fn where_none_becomes_free_more_are_opened() {
    const CALLS: usize = 200;
    let server = answering_once_all_are_there(CALLS).await;
    let egress = egress();
    at_once(&egress, &server, CALLS).await;
    assert_eq!(server.seen().accepted, CALLS);
}

#[tokio::test]
async fn nothing_is_shared_between_origins() {
    let (one, other) = (Server::answering(OK).await, Server::answering(OK).await);
    let egress = egress();
    for server in [&one, &other, &one, &other] {
        answered(&egress, call(&server.url("/"))).await;
        let by_name = format!("http://localhost:{}/", server.address.port());
        answered(&egress, call(&by_name)).await;
    }
    assert_eq!((one.seen().accepted, other.seen().accepted), (2, 2), "one by address, one by name");
}

#[tokio::test]
async fn who_says_close_is_closed() {
    let server =
        Server::answering("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok").await;
    let egress = egress();
    for _ in 0..3 {
        answered(&egress, call(&server.url("/"))).await;
    }
    assert_eq!(server.seen().accepted, 3);
    server.until(|seen| seen.open == 0).await;
}

#[tokio::test]
async fn a_body_may_end_with_its_connection() {
    let server = Server::start(|mut visit| async move {
        visit.request().await;
        visit.say("HTTP/1.0 200 OK\r\n\r\nuntil the end").await;
    })
    .await;
    let egress = egress();
    for _ in 0..2 {
        assert_eq!(&answered(&egress, call(&server.url("/"))).await.body[..], b"until the end");
    }
}

/// The receiver takes the second request of its first connection and hangs up without a word.
#[tokio::test]
async fn a_kept_connection_that_is_gone_is_replaced() {
    let server = Server::start(|mut visit| async move {
        visit.request().await;
        visit.say(OK).await;
        if visit.request().await.is_some() && visit.number > 1 {
            visit.say(OK).await;
        }
    })
    .await;
    let egress = egress();
    answered(&egress, call(&server.url("/"))).await;
    let sent = egress.send(call(&server.url("/"))).await;
    assert_eq!(sent.result.unwrap().status, 200);
    assert!(!sent.timing.reused, "the answer came over a fresh one");
    assert_eq!(server.seen().accepted, 2);
    assert_eq!(server.heard().len(), 3, "the first, the one without an answer, and that one again");
}

#[tokio::test]
async fn it_is_replaced_once_and_not_for_ever() {
    let server = Server::start(|mut visit| async move {
        visit.request().await;
        if visit.number == 1 {
            visit.say(OK).await;
            visit.request().await;
        }
    })
    .await;
    let egress = egress();
    answered(&egress, call(&server.url("/"))).await;
    assert_eq!(failed(&egress, call(&server.url("/"))).await.code(), "broken");
    assert_eq!(server.seen().accepted, 2);
}

#[tokio::test]
async fn a_receiver_that_closes_while_idle_costs_nothing() {
    let server = Server::start(|mut visit| async move {
        visit.request().await;
        visit.say(OK).await;
    })
    .await;
    let egress = egress();
    for round in 1..=20 {
        answered(&egress, call(&server.url("/"))).await;
        assert_eq!(server.seen().accepted, round);
    }
    assert_eq!(server.heard().len(), 20);
}

#[tokio::test]
async fn idle_connections_are_closed_in_time() {
    let server = Server::answering(OK).await;
    let egress = with(|settings| settings.idle_max = Duration::from_millis(50));
    answered(&egress, call(&server.url("/"))).await;
    server.until(|seen| seen.open == 0).await;
    answered(&egress, call(&server.url("/"))).await;
    assert_eq!(server.seen().accepted, 2);
    server.until(|seen| seen.open == 0).await;
}

#[tokio::test]
async fn they_are_closed_with_the_egress_too() {
    let server = Server::answering(OK).await;
    let egress = egress();
    answered(&egress, call(&server.url("/"))).await;
    drop(egress);
    server.until(|seen| seen.open == 0).await;
}

#[tokio::test]
async fn so_many_stay_idle_and_no_more() {
    let server = Server::answering(OK).await;
    let egress = with(|settings| settings.idle_per_host_max = 2);
    let calls: Vec<_> = (0..6)
        .map(|_| {
            let (egress, call) = (egress.clone(), call(&server.url("/")));
            tokio::spawn(async move { answered(&egress, call).await })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    server.until(|seen| seen.open <= 2).await;
}

#[tokio::test]
async fn the_oldest_idle_one_makes_room() {
    let (old, young, new) =
        (Server::answering(OK).await, Server::answering(OK).await, Server::answering(OK).await);
    let egress = with(|settings| settings.sockets_max = 2);
    for server in [&old, &young, &new] {
        answered(&egress, call(&server.url("/"))).await;
    }
    old.until(|seen| seen.open == 0).await;
    assert_eq!((young.seen().open, new.seen().open), (1, 1));
}

#[tokio::test]
async fn no_more_sockets_than_allowed_and_everybody_gets_a_turn() {
    let one = Server::answering(OK).await;
    let other = Server::answering(OK).await;
    let egress = with(|settings| settings.sockets_max = 3);
    let calls: Vec<_> = (0..60)
        .map(|n| {
            let server = if n % 2 == 0 { &one } else { &other };
            let (egress, call) = (egress.clone(), call(&server.url("/")));
            tokio::spawn(async move { answered(&egress, call).await.status })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), 200);
    }
    assert!(one.seen().open_most <= 3 && other.seen().open_most <= 3);
    let same: Vec<_> = (0..60)
        .map(|_| {
            let (egress, call) = (egress.clone(), call(&one.url("/")));
            tokio::spawn(async move { answered(&egress, call).await.status })
        })
        .collect();
    let before = one.seen().accepted;
    for call in same {
        assert_eq!(call.await.unwrap(), 200);
    }
    assert!(one.seen().accepted - before <= 3, "in a queue for one origin connections are handed on");
}

#[tokio::test]
async fn who_finds_no_socket_in_time_is_told_that_it_was_us() {
    let done = Arc::new(Notify::new());
    let held = done.clone();
    let server = Server::start(move |mut visit| {
        let held = held.clone();
        async move {
            visit.request().await;
            held.notified().await;
            visit.say(OK).await;
            always(visit, OK).await;
        }
    })
    .await;
    let egress = with(|settings| settings.sockets_max = 1);
    let busy = tokio::spawn({
        let (egress, call) = (egress.clone(), call(&server.url("/")));
        async move { answered(&egress, call).await }
    });
    server.until(|seen| seen.open == 1).await;
    let failure = failed(&egress, short_call(&server.url("/"))).await;
    assert_eq!(failure, Failure::TimedOut(Phase::Socket));
    assert!(failure.is_ours());
    let next = tokio::spawn({
        let (egress, call) = (egress.clone(), Call { method: Method::GET, ..call(&server.url("/")) });
        async move { egress.send(call).await }
    });
    done.notify_one();
    busy.await.unwrap();
    assert_eq!(next.await.unwrap().result.unwrap().status, 200, "who gave up is not in the way");
    assert_eq!(server.seen().accepted, 1);
}

#[tokio::test]
async fn a_call_that_is_given_up_frees_its_socket() {
    let server = Server::start(|mut visit| async move { visit.stay().await }).await;
    let egress = with(|settings| settings.sockets_max = 1);
    for round in 1..=3 {
        let given_up = tokio::spawn({
            let (egress, call) = (egress.clone(), call(&server.url("/")));
            async move { egress.send(call).await }
        });
        server.until(|seen| seen.accepted == round && seen.open == 1).await;
        given_up.abort();
        server.until(|seen| seen.open == 0).await;
    }
}

/// Calls that give up at every possible moment, on many threads, with receivers that hang up, dawdle or stay silent.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_socket_is_ever_lost() {
    let steady = Server::answering(OK).await;
    let fickle = Server::start(|mut visit| async move {
        while visit.request().await.is_some() && visit.number % 3 > 0 {
            visit
                .say(if visit.number % 3 == 1 {
                    OK
                } else {
                    "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nha"
                })
                .await;
        }
    })
    .await;
    let egress = with(|settings| {
        settings.sockets_max = 4;
        settings.eager_per_host_max = 2;
        settings.grow_after = Duration::from_millis(1);
    });
    let calls: Vec<_> = (0..600)
        .map(|n| {
            let server = if n % 3 == 0 { &steady } else { &fickle };
            let deadline = Duration::from_micros(n * 97 % 20_000);
            let (egress, call) = (egress.clone(), Call { deadline, ..call(&server.url("/")) });
            tokio::spawn(async move { egress.send(call).await })
        })
        .collect();
    for call in calls {
        let _ = call.await.unwrap();
    }
    let all_there = Arc::new(Barrier::new(4));
    let last = Server::start(move |mut visit| {
        let all_there = all_there.clone();
        async move {
            visit.request().await;
            all_there.wait().await;
            visit.say(OK).await;
            visit.stay().await;
        }
    })
    .await;
    let calls: Vec<_> = (0..4)
        .map(|_| {
            let (egress, call) = (egress.clone(), call(&last.url("/")));
            tokio::spawn(async move { answered(&egress, call).await })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!(last.seen().accepted, 4, "all four sockets are to be had");
}
