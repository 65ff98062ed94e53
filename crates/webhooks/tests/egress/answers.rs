//! What comes back: statuses, bodies, headers, and everything that is not a proper answer.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Method};
use webhooks::egress::{ANSWER_BYTES_MAX, Call, Failure, Phase};

use super::desk::{PATIENCE, answered, call, egress, failed, short_call};
use super::server::{OK, Server};

#[tokio::test]
async fn a_delivery_is_what_the_caller_made_it() {
    let server = Server::answering(OK).await;
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let sent = egress().send(Call { headers, ..call(&server.url("/hooks?tenant=7")) }).await;
    let answer = sent.result.unwrap();
    assert_eq!((answer.status, &answer.body[..]), (200, &b"ok"[..]));
    assert!(!answer.sets_cookie && answer.retry_after.is_none() && !sent.timing.reused);
    assert!(sent.timing.first_byte > Duration::ZERO && sent.timing.total >= sent.timing.first_byte);
    let heard = server.heard().remove(0);
    let mut lines = heard.lines();
    assert_eq!(lines.next(), Some("POST /hooks?tenant=7 HTTP/1.1"));
    for line in [
        &format!("host: {}", server.address),
        "content-type: application/json",
        concat!("user-agent: Aldaba/", env!("CARGO_PKG_VERSION")),
        "content-length: 20",
        "{\"hello\":\"receiver\"}",
    ] {
        assert!(heard.lines().any(|said| said == line), "{line} in {heard}");
    }
}

#[tokio::test]
async fn an_echo_is_a_get_with_a_query() {
    let server = Server::answering(OK).await;
    let echo = |path| Call {
        method: Method::GET,
        query: Some("echo=42".into()),
        body: Bytes::new(),
        ..call(&server.url(path))
    };
    let egress = egress();
    answered(&egress, echo("/in")).await;
    answered(&egress, echo("/in?a=b")).await;
    let heard = server.heard();
    assert!(heard[0].starts_with("GET /in?echo=42 HTTP/1.1\r\n"), "{}", heard[0]);
    assert!(heard[1].starts_with("GET /in?a=b&echo=42 HTTP/1.1\r\n"), "{}", heard[1]);
    assert!(!heard[0].contains("content-length"), "{}", heard[0]);
}

#[tokio::test]
async fn every_path_that_is_taken_can_be_asked_for() {
    let server = Server::answering(OK).await;
    let odd: String = ('!'..='~').filter(|c| !"#\\\"<>^`{|}".contains(*c)).collect();
    let path = format!("//{odd}?{odd}");
    answered(&egress(), call(&server.url(&path))).await;
    assert!(server.heard()[0].starts_with(&format!("POST {path} HTTP/1.1\r\n")));
}

#[tokio::test]
async fn a_redirect_is_an_answer_like_any_other() {
    let text = "HTTP/1.1 307 Temporary Redirect\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n";
    let server = Server::answering(text).await;
    assert_eq!(answered(&egress(), call(&server.url("/"))).await.status, 307);
    assert_eq!(server.heard().len(), 1);
}

#[tokio::test]
async fn a_cookie_is_seen_and_never_kept() {
    let server = Server::answering("HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\ncontent-length: 0\r\n\r\n").await;
    let egress = egress();
    assert!(answered(&egress, call(&server.url("/"))).await.sets_cookie);
    answered(&egress, call(&server.url("/"))).await;
    assert!(!server.heard()[1].to_lowercase().contains("cookie"));
}

#[tokio::test]
async fn retry_after_is_read_in_both_forms() {
    for (said, meant) in [
        ("120", Some(120)),
        ("Sun, 15 Nov 2026 08:31:30 GMT", Some(90)),
        ("Sun, 15 Nov 2026 08:00:00 GMT", Some(0)),
        ("soon", None),
        ("-5", None),
    ] {
        let server = Server::start(move |mut visit| async move {
            visit.request().await;
            let head = "HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nretry-after:";
            visit.say(&format!("{head} {said}\r\n\r\n")).await;
        })
        .await;
        let answer = answered(&egress(), call(&server.url("/"))).await;
        assert_eq!((answer.status, answer.retry_after), (503, meant.map(Duration::from_secs)), "{said}");
    }
}

#[tokio::test]
async fn chunks_are_joined() {
    let text = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n";
    let server = Server::answering(text).await;
    let egress = egress();
    for _ in 0..2 {
        assert_eq!(&answered(&egress, call(&server.url("/"))).await.body[..], b"abcdefg");
    }
    assert_eq!(server.seen().accepted, 1);
}

#[tokio::test]
async fn informational_answers_are_passed_over() {
    let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n\
                HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n";
    let server = Server::answering(text).await;
    assert_eq!(answered(&egress(), call(&server.url("/"))).await.status, 202);
}

#[tokio::test]
async fn an_answer_may_come_before_the_body_was_read() {
    let server = Server::start(|mut visit| async move {
        visit.more().await;
        visit.say("HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await;
        visit.stay().await;
    })
    .await;
    let large = Bytes::from(vec![b'x'; 8 << 20]);
    let answer = answered(&egress(), Call { body: large, ..call(&server.url("/")) }).await;
    assert_eq!(answer.status, 413);
    server.until(|seen| seen.open == 0).await;
}

#[tokio::test]
async fn a_long_answer_is_cut_and_its_connection_dropped() {
    let server = Server::start(|mut visit| async move {
        visit.request().await;
        visit.say("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n").await;
        visit.say(&"x".repeat(ANSWER_BYTES_MAX + 1)).await;
        visit.stay().await;
    })
    .await;
    let egress = egress();
    let answer = answered(&egress, call(&server.url("/"))).await;
    assert_eq!((answer.status, answer.body.len()), (200, ANSWER_BYTES_MAX));
    server.until(|seen| seen.open == 0).await;
}

#[tokio::test]
async fn an_answer_of_just_the_bound_is_whole() {
    let server = Server::start(|mut visit| async move {
        while visit.request().await.is_some() {
            visit.say(&format!("HTTP/1.1 200 OK\r\ncontent-length: {ANSWER_BYTES_MAX}\r\n\r\n")).await;
            visit.say(&"x".repeat(ANSWER_BYTES_MAX)).await;
        }
    })
    .await;
    let egress = egress();
    for _ in 0..2 {
        assert_eq!(answered(&egress, call(&server.url("/"))).await.body.len(), ANSWER_BYTES_MAX);
    }
    assert_eq!(server.seen().accepted, 1);
}

#[tokio::test]
async fn who_never_answers_times_out_waiting() {
    let server = Server::start(|mut visit| async move { visit.stay().await }).await;
    let failure = failed(&egress(), short_call(&server.url("/"))).await;
    assert_eq!(failure, Failure::TimedOut(Phase::Answer));
    assert_eq!(failure.to_string(), "timed out waiting for the answer");
    server.until(|seen| seen.open == 0).await;
}

#[tokio::test]
async fn who_drips_headers_times_out_too() {
    let server = Server::start(|mut visit| async move {
        visit.request().await;
        visit.say("HTTP/1.1 200 OK\r\nx-a: ").await;
        visit.stay().await;
    })
    .await;
    assert_eq!(failed(&egress(), short_call(&server.url("/"))).await, Failure::TimedOut(Phase::Answer));
}

#[tokio::test]
async fn who_drips_the_body_times_out_reading() {
    let server = Server::start(|mut visit| async move {
        visit.request().await;
        visit.say("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n").await;
        let mut drops = tokio::time::interval(Duration::from_millis(5));
        loop {
            drops.tick().await;
            visit.say("x").await;
        }
    })
    .await;
    let egress = egress();
    let sent = egress.send(short_call(&server.url("/"))).await;
    assert_eq!(sent.result.unwrap_err(), Failure::TimedOut(Phase::Body));
    assert!(sent.timing.total >= Duration::from_millis(200) && sent.timing.total < PATIENCE);
}

#[tokio::test]
async fn who_does_not_read_times_out_as_well() {
    let server = Server::start(|visit| async move {
        let _unread = visit.stream;
        std::future::pending::<()>().await;
    })
    .await;
    let large = Bytes::from(vec![b'x'; 32 << 20]);
    let failure = failed(&egress(), Call { body: large, ..short_call(&server.url("/")) }).await;
    assert_eq!(failure, Failure::TimedOut(Phase::Answer));
}

#[tokio::test]
async fn what_is_not_http_is_named() {
    for text in ["SSH-2.0-OpenSSH_9.7\r\n\r\n", "{\"ok\":true}\r\n\r\n", "\0\0\0\0\0\0\0\0\r\n\r\n"] {
        let server = Server::answering(text).await;
        let failure = failed(&egress(), call(&server.url("/"))).await;
        assert_eq!(failure.code(), "not_http", "{failure}");
    }
    let server = Server::start(|mut visit| async move {
        visit.request().await;
        visit.say("HTTP/1.1 200 OK\r\nx-long: ").await;
        visit.say(&"x".repeat(1 << 20)).await;
        visit.stay().await;
    })
    .await;
    let failure = failed(&egress(), call(&server.url("/"))).await;
    assert_eq!(failure, Failure::NotHttp("its headers are too long".into()));
}

#[tokio::test]
async fn a_connection_that_breaks_is_named() {
    for text in ["", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc"] {
        let server = Server::start(move |mut visit| async move {
            visit.request().await;
            visit.say(text).await;
        })
        .await;
        let failure = failed(&egress(), call(&server.url("/"))).await;
        assert_eq!(failure.code(), "broken", "{text:?}: {failure}");
        assert_eq!(server.seen().accepted, 1, "a fresh connection that breaks is not tried again");
    }
}
