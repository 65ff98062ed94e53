//! The connection pool: reuse, limits, queues, idle connections and lost ones.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use tokio::sync::{Barrier, Notify};
use webhooks::egress::{Egress, EgressError, EgressSettings, OutboundRequest, Phase};

use super::fixture::{egress, error_of, local, request, response_to, short_request};
use super::server::{OK, Server, respond_always};

/// So long that a tenth of it is long, too.
const LONG: Duration = Duration::from_mins(5);

fn with(change: impl FnOnce(&mut EgressSettings)) -> Egress {
    let mut settings = local();
    change(&mut settings);
    Egress::new(settings).unwrap()
}

#[tokio::test]
async fn connection_is_reused_by_the_next_request() {
    let server = Server::responding(OK).await;
    let egress = egress();
    for round in 0..20 {
        let exchange = egress.send(request(&server.url("/"))).await;
        assert_eq!(exchange.result.unwrap().status, 200);
        assert_eq!(exchange.reused, round > 0);
        assert_eq!(exchange.timing.connect.is_zero(), round > 0);
    }
    assert_eq!(server.counts().accepted, 1);
}

#[tokio::test]
async fn concurrent_requests_get_a_connection_each() {
    let server = responding_once_all_have_asked(8).await;
    let egress = egress();
    for _ in 0..3 {
        at_once(&egress, &server, 8).await;
    }
    assert_eq!(server.counts().accepted, 8);
}

/// Responds only when `count` requests have arrived.
async fn responding_once_all_have_asked(count: usize) -> Server {
    let all_there = Arc::new(Barrier::new(count));
    Server::start(move |mut connection| {
        let all_there = all_there.clone();
        async move {
            while connection.read_request().await.is_some() {
                all_there.wait().await;
                connection.send(OK).await;
            }
        }
    })
    .await
}

/// To a host that has ten connections, requests wait for a free one rather than open another.
fn patient() -> Egress {
    with(|settings| {
        settings.eager_per_host_max = 10;
        settings.grow_after = LONG;
    })
}

/// Sends `count` requests at once; each must get a response.
async fn at_once(egress: &Egress, server: &Server, count: usize) {
    let tasks: Vec<_> = (0..count)
        .map(|_| {
            let (egress, request) =
                (egress.clone(), OutboundRequest { timeout: LONG, ..request(&server.url("/")) });
            tokio::spawn(async move { response_to(&egress, request).await.status })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap(), 200);
    }
}

#[tokio::test]
async fn burst_shares_the_connections_of_a_host() {
    let server = Server::responding(OK).await;
    let egress = patient();
    for _ in 0..3 {
        at_once(&egress, &server, 500).await;
    }
    assert_eq!(server.counts().accepted, 10);
}

/// A closed connection makes room for one other: the requests do not all connect at once.
#[tokio::test]
async fn burst_to_a_receiver_that_closes_connections_is_spread() {
    let server =
        Server::responding("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok").await;
    let egress = patient();
    at_once(&egress, &server, 500).await;
    let counts = server.counts();
    assert_eq!(counts.accepted, 500);
    // The receiver notices a little later that a connection is closed.
    assert!(counts.open_max <= 50, "{} at once", counts.open_max);
}

/// No request waits for another's slow response: here no response comes before all have asked.
#[tokio::test]
async fn more_connections_open_where_none_becomes_free() {
    const CALLS: usize = 200;
    let server = responding_once_all_have_asked(CALLS).await;
    let egress = egress();
    at_once(&egress, &server, CALLS).await;
    assert_eq!(server.counts().accepted, CALLS);
}

#[tokio::test]
async fn connections_are_not_shared_between_origins() {
    let (one, other) = (Server::responding(OK).await, Server::responding(OK).await);
    let egress = egress();
    for server in [&one, &other, &one, &other] {
        response_to(&egress, request(&server.url("/"))).await;
        let by_name = format!("http://localhost:{}/", server.address.port());
        response_to(&egress, request(&by_name)).await;
    }
    assert_eq!((one.counts().accepted, other.counts().accepted), (2, 2), "one by address, one by name");
}

#[tokio::test]
async fn connection_close_header_closes_the_connection() {
    let server =
        Server::responding("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok").await;
    let egress = egress();
    for _ in 0..3 {
        response_to(&egress, request(&server.url("/"))).await;
    }
    assert_eq!(server.counts().accepted, 3);
    server.wait_for(|counts| counts.open == 0).await;
}

#[tokio::test]
async fn body_may_end_with_the_connection() {
    let server = Server::start(|mut connection| async move {
        connection.read_request().await;
        connection.send("HTTP/1.0 200 OK\r\n\r\nuntil the end").await;
    })
    .await;
    let egress = egress();
    for _ in 0..2 {
        assert_eq!(&response_to(&egress, request(&server.url("/"))).await.body[..], b"until the end");
    }
}

/// The receiver reads the second request of its first connection and closes without a response.
#[tokio::test]
async fn request_over_a_closed_idle_connection_is_repeated() {
    let server = Server::start(|mut connection| async move {
        connection.read_request().await;
        connection.send(OK).await;
        if connection.read_request().await.is_some() && connection.number > 1 {
            connection.send(OK).await;
        }
    })
    .await;
    let egress = egress();
    response_to(&egress, request(&server.url("/"))).await;
    let exchange = egress.send(request(&server.url("/"))).await;
    assert_eq!(exchange.result.unwrap().status, 200);
    assert!(!exchange.reused, "the response came over a new connection");
    assert_eq!(server.counts().accepted, 2);
    assert_eq!(
        server.requests().len(),
        3,
        "the first request, the one without a response, and its repetition"
    );
}

#[tokio::test]
async fn request_is_repeated_only_once() {
    let server = Server::start(|mut connection| async move {
        connection.read_request().await;
        if connection.number == 1 {
            connection.send(OK).await;
            connection.read_request().await;
        }
    })
    .await;
    let egress = egress();
    response_to(&egress, request(&server.url("/"))).await;
    assert_eq!(error_of(&egress, request(&server.url("/"))).await.code(), "broken");
    assert_eq!(server.counts().accepted, 2);
}

#[tokio::test]
async fn receiver_that_closes_idle_connections_causes_no_failures() {
    let server = Server::start(|mut connection| async move {
        connection.read_request().await;
        connection.send(OK).await;
    })
    .await;
    let egress = egress();
    for round in 1..=20 {
        response_to(&egress, request(&server.url("/"))).await;
        assert_eq!(server.counts().accepted, round);
    }
    assert_eq!(server.requests().len(), 20);
}

#[tokio::test]
async fn idle_connections_are_closed_after_their_time() {
    let server = Server::responding(OK).await;
    let egress = with(|settings| settings.idle_max = Duration::from_millis(50));
    response_to(&egress, request(&server.url("/"))).await;
    server.wait_for(|counts| counts.open == 0).await;
    response_to(&egress, request(&server.url("/"))).await;
    assert_eq!(server.counts().accepted, 2);
    server.wait_for(|counts| counts.open == 0).await;
}

#[tokio::test]
async fn idle_connections_are_closed_with_the_egress() {
    let server = Server::responding(OK).await;
    let egress = egress();
    response_to(&egress, request(&server.url("/"))).await;
    drop(egress);
    server.wait_for(|counts| counts.open == 0).await;
}

#[tokio::test]
async fn idle_connections_per_host_are_limited() {
    let server = Server::responding(OK).await;
    let egress = with(|settings| settings.idle_per_host_max = 2);
    let tasks: Vec<_> = (0..6)
        .map(|_| {
            let (egress, request) = (egress.clone(), request(&server.url("/")));
            tokio::spawn(async move { response_to(&egress, request).await })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    server.wait_for(|counts| counts.open <= 2).await;
}

#[tokio::test]
async fn oldest_idle_connection_is_closed_for_a_new_one() {
    let (old, young, new) =
        (Server::responding(OK).await, Server::responding(OK).await, Server::responding(OK).await);
    let egress = with(|settings| settings.sockets_max = 2);
    for server in [&old, &young, &new] {
        response_to(&egress, request(&server.url("/"))).await;
    }
    old.wait_for(|counts| counts.open == 0).await;
    assert_eq!((young.counts().open, new.counts().open), (1, 1));
}

#[tokio::test]
async fn sockets_are_limited_and_every_request_gets_one() {
    let one = Server::responding(OK).await;
    let other = Server::responding(OK).await;
    let egress = with(|settings| settings.sockets_max = 3);
    let tasks: Vec<_> = (0..60)
        .map(|n| {
            let server = if n % 2 == 0 { &one } else { &other };
            let (egress, request) = (egress.clone(), request(&server.url("/")));
            tokio::spawn(async move { response_to(&egress, request).await.status })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap(), 200);
    }
    assert!(one.counts().open_max <= 3 && other.counts().open_max <= 3);
    let same: Vec<_> = (0..60)
        .map(|_| {
            let (egress, request) = (egress.clone(), request(&one.url("/")));
            tokio::spawn(async move { response_to(&egress, request).await.status })
        })
        .collect();
    let before = one.counts().accepted;
    for task in same {
        assert_eq!(task.await.unwrap(), 200);
    }
    assert!(one.counts().accepted - before <= 3, "in a queue for one origin, connections are handed over");
}

#[tokio::test]
async fn timeout_waiting_for_a_socket_is_internal() {
    let done = Arc::new(Notify::new());
    let held = done.clone();
    let server = Server::start(move |mut connection| {
        let held = held.clone();
        async move {
            connection.read_request().await;
            held.notified().await;
            connection.send(OK).await;
            respond_always(connection, OK).await;
        }
    })
    .await;
    let egress = with(|settings| settings.sockets_max = 1);
    let busy = tokio::spawn({
        let (egress, request) = (egress.clone(), request(&server.url("/")));
        async move { response_to(&egress, request).await }
    });
    server.wait_for(|counts| counts.open == 1).await;
    let error = error_of(&egress, short_request(&server.url("/"))).await;
    assert_eq!(error, EgressError::TimedOut(Phase::Socket));
    assert!(error.is_internal());
    let next = tokio::spawn({
        let (egress, request) =
            (egress.clone(), OutboundRequest { method: Method::GET, ..request(&server.url("/")) });
        async move { egress.send(request).await }
    });
    done.notify_one();
    busy.await.unwrap();
    assert_eq!(
        next.await.unwrap().result.unwrap().status,
        200,
        "a request that timed out does not block the queue"
    );
    assert_eq!(server.counts().accepted, 1);
}

#[tokio::test]
async fn cancelled_request_frees_its_socket() {
    let server = Server::start(|mut connection| async move { connection.wait_for_close().await }).await;
    let egress = with(|settings| settings.sockets_max = 1);
    for round in 1..=3 {
        let cancelled = tokio::spawn({
            let (egress, request) = (egress.clone(), request(&server.url("/")));
            async move { egress.send(request).await }
        });
        server.wait_for(|counts| counts.accepted == round && counts.open == 1).await;
        cancelled.abort();
        server.wait_for(|counts| counts.open == 0).await;
    }
}

/// Requests that time out at every possible moment, on many threads, with receivers that close or stop responding.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_socket_permit_is_lost() {
    let steady = Server::responding(OK).await;
    let fickle = Server::start(|mut connection| async move {
        while connection.read_request().await.is_some() && connection.number % 3 > 0 {
            connection
                .send(if connection.number % 3 == 1 {
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
    let tasks: Vec<_> = (0..600)
        .map(|n| {
            let server = if n % 3 == 0 { &steady } else { &fickle };
            let timeout = Duration::from_micros(n * 97 % 20_000);
            let (egress, request) =
                (egress.clone(), OutboundRequest { timeout, ..request(&server.url("/")) });
            tokio::spawn(async move { egress.send(request).await })
        })
        .collect();
    for task in tasks {
        let _ = task.await.unwrap();
    }
    let all_there = Arc::new(Barrier::new(4));
    let last = Server::start(move |mut connection| {
        let all_there = all_there.clone();
        async move {
            connection.read_request().await;
            all_there.wait().await;
            connection.send(OK).await;
            connection.wait_for_close().await;
        }
    })
    .await;
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let (egress, request) = (egress.clone(), request(&last.url("/")));
            tokio::spawn(async move { response_to(&egress, request).await })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(last.counts().accepted, 4, "all four sockets are available");
}

#[tokio::test]
async fn request_that_is_no_longer_allowed_is_not_sent_and_leaves_its_connection_to_the_next() {
    let server = Server::responding(OK).await;
    let egress = egress();
    let exchange = egress.send_if(request(&server.url("/")), &|| false).await;
    assert_eq!(exchange.result.unwrap_err(), EgressError::NotAllowed);
    let exchange = egress.send_if(request(&server.url("/")), &|| true).await;
    assert_eq!(exchange.result.unwrap().status, 200);
    assert!(exchange.reused, "it was asked when the connection was open");
    assert_eq!((server.requests().len(), server.counts().accepted), (1, 1));
}

/// A connection that the receiver has closed while it was idle: the second try is asked again.
#[tokio::test]
async fn request_that_is_sent_a_second_time_is_asked_again() {
    let server = Server::start(|mut connection| async move {
        if connection.read_request().await.is_some() {
            connection.send(OK).await;
        }
        // The next request gets no response.
        connection.read_request().await;
    })
    .await;
    let egress = egress();
    response_to(&egress, request(&server.url("/"))).await;
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let once = || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0;
    let exchange = egress.send_if(request(&server.url("/")), &once).await;
    assert_eq!(exchange.result.unwrap_err(), EgressError::NotAllowed);
    assert_eq!(server.requests().len(), 2);
}
