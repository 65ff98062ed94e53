//! Connections beyond the limits: silent ones make room, working ones stay, the rest is refused at once.

use std::time::Duration;

use tokio::net::TcpStream;
use web::{Deadlines, ListenerLimits, Stopwatch};

use crate::harness::{
    TestListener, WAIT_MAX, held, limits, long_deadlines, millis, read_to_end, read_until, wait_for,
};
use crate::http2_frames as h2;

const WAIT: &str = "GET /wait HTTP/1.1\r\nhost: x\r\n\r\n";
const HALF_BODY: &str = "POST /length HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nx";

async fn hold(listener: &TestListener, count: usize, opening: impl AsRef<[u8]>) -> Vec<TcpStream> {
    let mut streams = Vec::new();
    for _ in 0..count {
        streams.push(listener.send(opening.as_ref()).await);
    }
    streams
}

/// The figure of the silent connections: a thousand at once, of all kinds, each held no longer than its deadline,
/// and requests answered meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousand_silent_connections_are_closed_and_requests_answered_meanwhile() {
    const EACH: usize = 200;
    let short = millis(1500);
    let all = Deadlines { handshake: short, header: short, body: short, write: short, idle: short };
    let listener = TestListener::start(limits(all)).await;
    let after_settings = [h2::PREFACE, &h2::frame(h2::SETTINGS, 0, 0, b"")].concat();
    let openings: [&[u8]; 5] =
        [b"", &h2::PREFACE[..9], &after_settings, b"GET / HTTP/1.1\r\nx: ", HALF_BODY.as_bytes()];
    let mut holding = Vec::new();
    for opening in openings {
        for stream in hold(&listener, EACH, opening).await {
            holding.push(tokio::spawn(held(stream)));
        }
    }
    let watch = Stopwatch::start();
    let mut answered = 0;
    while holding.iter().any(|holding| !holding.is_finished()) {
        listener.expect_service().await;
        answered += 1;
    }
    let mut longest = Duration::ZERO;
    for held in holding {
        longest = longest.max(held.await.unwrap());
    }
    eprintln!(
        "{} silent connections, deadline {short:?}: the longest was held {longest:?}; {answered} requests answered \
         meanwhile, all closed after {:?}",
        EACH * openings.len(),
        watch.elapsed()
    );
    assert!(answered > 10 && longest < short * 4, "{answered} answered, {longest:?}");
    wait_for("all to be closed", || listener.open() == 0).await;
}

#[tokio::test]
async fn silent_connections_at_the_limit_make_room() {
    let limits = ListenerLimits { connections_max: 20, ..limits(long_deadlines()) };
    let listener = TestListener::start(limits).await;
    let silent = hold(&listener, 200, "").await;
    let half = hold(&listener, 200, "GET / HTTP/1.1\r\nx: ").await;
    listener.expect_service().await;
    wait_for("the limit to hold", || listener.open() <= 20).await;
    assert_eq!(listener.refused("total"), 0);
    drop((silent, half));
}

#[tokio::test]
async fn stalled_bodies_and_unread_responses_at_the_limit_make_room() {
    let limits = ListenerLimits {
        connections_max: 20,
        ..limits(Deadlines { body: millis(1000), ..long_deadlines() })
    };
    let listener = TestListener::start(limits).await;
    let unread = hold(&listener, 10, "GET /endless HTTP/1.1\r\nhost: x\r\n\r\n").await;
    let mut stalled =
        hold(&listener, 10, "POST /wait HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nx").await;
    wait_for("the handlers", || listener.begun() == 10).await;
    let watch = Stopwatch::start();
    let request = "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    while !read_to_end(&mut listener.send(request).await).await.ends_with("hello") {
        assert!(watch.elapsed() < WAIT_MAX, "nothing makes room");
    }
    assert_eq!(listener.closed("replaced"), 1);
    // The handlers of the others are at work: those stay.
    listener.release.add_permits(10);
    for stream in &mut stalled {
        read_until(stream, "released").await;
    }
    drop(unread);
}

/// The last part of a response waits in buffers although its request has ended.
#[tokio::test]
async fn connection_that_reads_its_response_slowly_is_not_replaced() {
    let limits = ListenerLimits { connections_max: 1, ..limits(long_deadlines()) };
    let listener = TestListener::start(limits).await;
    let mut slow = listener.send("GET /large HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    let (mut total, mut piece) = (0, vec![0; 1024 * 1024]);
    while total < 1024 * 1024 {
        total += tokio::io::AsyncReadExt::read(&mut slow, &mut piece).await.unwrap();
    }
    loop {
        // Another one comes, and is refused while the response has not left.
        let other = "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        drop(read_to_end(&mut listener.send(other).await).await);
        match tokio::io::AsyncReadExt::read(&mut slow, &mut piece).await.unwrap() {
            0 => break,
            count => total += count,
        }
    }
    assert!(total > 32 * 1024 * 1024, "{total}");
    assert!(listener.refused("total") > 0);
    assert_eq!(listener.closed("replaced"), 0);
}

#[tokio::test]
async fn connections_at_work_stay_and_new_ones_are_refused() {
    let limits = ListenerLimits { connections_max: 3, ..limits(long_deadlines()) };
    let listener = TestListener::start(limits).await;
    let mut working = hold(&listener, 3, WAIT).await;
    wait_for("the handlers", || listener.begun() == 3).await;
    assert_eq!(read_to_end(&mut listener.connect().await).await, "");
    wait_for("the refusal to be counted", || listener.refused("total") == 1).await;
    listener.release.add_permits(3);
    for stream in &mut working {
        read_until(stream, "released").await;
    }
    listener.expect_service().await;
}

#[tokio::test]
async fn address_has_a_limit_of_its_own_and_a_trusted_proxy_none() {
    let per_address = ListenerLimits { connections_per_address_max: 2, ..limits(long_deadlines()) };
    let listener = TestListener::start(per_address.clone()).await;
    let working = hold(&listener, 2, WAIT).await;
    wait_for("the handlers", || listener.begun() == 2).await;
    assert_eq!(read_to_end(&mut listener.connect().await).await, "");
    wait_for("the refusal to be counted", || listener.refused("address") == 1).await;
    drop(working);

    let proxied = ListenerLimits { exempt_addresses: vec!["127.0.0.0/8".parse().unwrap()], ..per_address };
    let listener = TestListener::start(proxied).await;
    let working = hold(&listener, 5, WAIT).await;
    wait_for("the handlers", || listener.begun() == 5).await;
    listener.expect_service().await;
    drop(working);
}

#[tokio::test]
async fn descriptors_in_reserve_are_left_to_others() {
    use std::os::fd::AsRawFd as _;
    let listening = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let next = u64::try_from(listening.as_raw_fd()).unwrap();
    let public = ListenerLimits { descriptors_max: Some(next + 40), ..limits(long_deadlines()) };
    let public = TestListener::start(public).await;
    let operator = TestListener::start(limits(long_deadlines())).await;
    let mut working = Vec::new();
    while public.refused("descriptors") == 0 {
        working.push(public.send(WAIT).await);
        assert!(working.len() < 500, "none was refused");
    }
    operator.expect_service().await;
    let silent = hold(&operator, 5, "").await;
    operator.expect_service().await;
    drop((working, silent));
}
