//! Responses: statuses, bodies, headers, timeouts, and what is no valid HTTP.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Method};
use tokio::io::AsyncWriteExt as _;
use webhooks::egress::{EgressError, OutboundRequest, Phase, RESPONSE_BYTES_MAX};

use super::fixture::{LONG_TIMEOUT, egress, error_of, request, response_to, short_request};
use super::server::{OK, Server};

#[tokio::test]
async fn request_is_sent_as_given_with_host_and_user_agent() {
    let server = Server::responding(OK).await;
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let exchange =
        egress().send(OutboundRequest { headers, ..request(&server.url("/hooks?tenant=7")) }).await;
    let response = exchange.result.unwrap();
    assert_eq!((response.status, &response.body[..]), (200, &b"ok"[..]));
    assert!(!response.sets_cookie && response.retry_after.is_none() && !exchange.reused);
    assert!(exchange.timing.wait > Duration::ZERO && exchange.timing.total >= exchange.timing.wait);
    let received = server.requests().remove(0);
    let mut lines = received.lines();
    assert_eq!(lines.next(), Some("POST /hooks?tenant=7 HTTP/1.1"));
    for line in [
        &format!("host: {}", server.address),
        "content-type: application/json",
        concat!("user-agent: Aldaba/", env!("CARGO_PKG_VERSION")),
        "content-length: 20",
        "{\"hello\":\"receiver\"}",
    ] {
        assert!(received.lines().any(|text| text == line), "{line} in {received}");
    }
}

#[tokio::test]
async fn query_is_appended_to_the_address() {
    let server = Server::responding(OK).await;
    let echo = |path| OutboundRequest {
        method: Method::GET,
        query: Some("echo=42".into()),
        body: Bytes::new(),
        ..request(&server.url(path))
    };
    let egress = egress();
    response_to(&egress, echo("/in")).await;
    response_to(&egress, echo("/in?a=b")).await;
    let received = server.requests();
    assert!(received[0].starts_with("GET /in?echo=42 HTTP/1.1\r\n"), "{}", received[0]);
    assert!(received[1].starts_with("GET /in?a=b&echo=42 HTTP/1.1\r\n"), "{}", received[1]);
    assert!(!received[0].contains("content-length"), "{}", received[0]);
}

#[tokio::test]
async fn every_valid_path_is_sent_unchanged() {
    let server = Server::responding(OK).await;
    let odd: String = ('!'..='~').filter(|c| !"#\\\"<>^`{|}".contains(*c)).collect();
    let path = format!("//{odd}?{odd}");
    response_to(&egress(), request(&server.url(&path))).await;
    assert!(server.requests()[0].starts_with(&format!("POST {path} HTTP/1.1\r\n")));
}

#[tokio::test]
async fn redirect_is_not_followed() {
    let text = "HTTP/1.1 307 Temporary Redirect\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n";
    let server = Server::responding(text).await;
    assert_eq!(response_to(&egress(), request(&server.url("/"))).await.status, 307);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn cookie_is_reported_and_never_sent_back() {
    let server = Server::responding("HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\ncontent-length: 0\r\n\r\n").await;
    let egress = egress();
    assert!(response_to(&egress, request(&server.url("/"))).await.sets_cookie);
    response_to(&egress, request(&server.url("/"))).await;
    assert!(!server.requests()[1].to_lowercase().contains("cookie"));
}

#[tokio::test]
async fn retry_after_is_read_as_seconds_and_as_date() {
    for (value, seconds) in [
        ("120", Some(120)),
        ("Sun, 15 Nov 2026 08:31:30 GMT", Some(90)),
        ("Sun, 15 Nov 2026 08:00:00 GMT", Some(0)),
        ("soon", None),
        ("-5", None),
    ] {
        let server = Server::start(move |mut connection| async move {
            connection.read_request().await;
            let head = "HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nretry-after:";
            connection.send(&format!("{head} {value}\r\n\r\n")).await;
        })
        .await;
        let response = response_to(&egress(), request(&server.url("/"))).await;
        assert_eq!(
            (response.status, response.retry_after),
            (503, seconds.map(Duration::from_secs)),
            "{value}"
        );
    }
}

#[tokio::test]
async fn chunked_body_is_joined() {
    let text = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n";
    let server = Server::responding(text).await;
    let egress = egress();
    for _ in 0..2 {
        assert_eq!(&response_to(&egress, request(&server.url("/"))).await.body[..], b"abcdefg");
    }
    assert_eq!(server.counts().accepted, 1);
}

#[tokio::test]
async fn informational_responses_are_skipped() {
    let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n\
                HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n";
    let server = Server::responding(text).await;
    assert_eq!(response_to(&egress(), request(&server.url("/"))).await.status, 202);
}

#[tokio::test]
async fn response_may_come_before_the_request_body_is_read() {
    let server = Server::start(|mut connection| async move {
        connection.read_more().await;
        connection.send("HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await;
        connection.wait_for_close().await;
    })
    .await;
    let large = Bytes::from(vec![b'x'; 8 << 20]);
    let response = response_to(&egress(), OutboundRequest { body: large, ..request(&server.url("/")) }).await;
    assert_eq!(response.status, 413);
    server.wait_for(|counts| counts.open == 0).await;
}

#[tokio::test]
async fn long_response_is_cut_and_its_connection_closed() {
    let server = Server::start(|mut connection| async move {
        connection.read_request().await;
        connection.send("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n").await;
        connection.send(&"x".repeat(RESPONSE_BYTES_MAX + 1)).await;
        connection.wait_for_close().await;
    })
    .await;
    let egress = egress();
    let response = response_to(&egress, request(&server.url("/"))).await;
    assert_eq!((response.status, response.body.len()), (200, RESPONSE_BYTES_MAX));
    server.wait_for(|counts| counts.open == 0).await;
}

#[tokio::test]
async fn response_of_exactly_the_limit_keeps_the_connection() {
    let server = Server::start(|mut connection| async move {
        while connection.read_request().await.is_some() {
            connection
                .send(&format!("HTTP/1.1 200 OK\r\ncontent-length: {RESPONSE_BYTES_MAX}\r\n\r\n"))
                .await;
            connection.send(&"x".repeat(RESPONSE_BYTES_MAX)).await;
        }
    })
    .await;
    let egress = egress();
    for _ in 0..2 {
        assert_eq!(response_to(&egress, request(&server.url("/"))).await.body.len(), RESPONSE_BYTES_MAX);
    }
    assert_eq!(server.counts().accepted, 1);
}

#[tokio::test]
async fn missing_response_times_out() {
    let server = Server::start(|mut connection| async move { connection.wait_for_close().await }).await;
    let error = error_of(&egress(), short_request(&server.url("/"))).await;
    assert_eq!(error, EgressError::TimedOut(Phase::Response));
    assert_eq!(error.to_string(), "timed out waiting for the response");
    server.wait_for(|counts| counts.open == 0).await;
}

#[tokio::test]
async fn incomplete_headers_time_out() {
    let server = Server::start(|mut connection| async move {
        connection.read_request().await;
        connection.send("HTTP/1.1 200 OK\r\nx-a: ").await;
        connection.wait_for_close().await;
    })
    .await;
    assert_eq!(
        error_of(&egress(), short_request(&server.url("/"))).await,
        EgressError::TimedOut(Phase::Response)
    );
}

#[tokio::test]
async fn slow_body_times_out() {
    let server = Server::start(|mut connection| async move {
        connection.read_request().await;
        connection.send("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n").await;
        let mut drops = tokio::time::interval(Duration::from_millis(5));
        loop {
            drops.tick().await;
            connection.send("x").await;
        }
    })
    .await;
    let egress = egress();
    let exchange = egress.send(short_request(&server.url("/"))).await;
    assert_eq!(exchange.result.unwrap_err(), EgressError::TimedOut(Phase::Body));
    assert!(exchange.timing.total >= Duration::from_millis(200) && exchange.timing.total < LONG_TIMEOUT);
}

#[tokio::test]
async fn receiver_that_does_not_read_times_out() {
    let server = Server::start(|connection| async move {
        let _unread = connection.stream;
        std::future::pending::<()>().await;
    })
    .await;
    let large = Bytes::from(vec![b'x'; 32 << 20]);
    let error = error_of(&egress(), OutboundRequest { body: large, ..short_request(&server.url("/")) }).await;
    assert_eq!(error, EgressError::TimedOut(Phase::Response));
}

#[tokio::test]
async fn response_that_is_not_http_is_an_error() {
    for text in ["SSH-2.0-OpenSSH_9.7\r\n\r\n", "{\"ok\":true}\r\n\r\n", "\0\0\0\0\0\0\0\0\r\n\r\n"] {
        let server = Server::responding(text).await;
        let error = error_of(&egress(), request(&server.url("/"))).await;
        assert_eq!(error.code(), "not_http", "{error}");
    }
    let server = Server::start(|mut connection| async move {
        connection.read_request().await;
        connection.send("HTTP/1.1 200 OK\r\nx-long: ").await;
        connection.send(&"x".repeat(1 << 20)).await;
        connection.wait_for_close().await;
    })
    .await;
    let error = error_of(&egress(), request(&server.url("/"))).await;
    assert_eq!(error, EgressError::NotHttp("its headers are too long".into()));
}

/// A head, and then the same bytes again and again, as fast as they are taken.
async fn flooding(head: &'static str, again: &'static str) -> Server {
    Server::start(move |mut connection| async move {
        connection.read_request().await;
        connection.send(head).await;
        let again = again.repeat(1000);
        while connection.stream.write_all(again.as_bytes()).await.is_ok() {}
    })
    .await
}

#[tokio::test]
async fn response_that_does_not_end_is_an_error_long_before_the_timeout() {
    const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    for (head, again) in [
        ("", "HTTP/1.1 100 Continue\r\n\r\n"),
        ("", "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"),
        (CHUNKED, "0000000000000000"),
    ] {
        let server = flooding(head, again).await;
        let exchange = egress().send(request(&server.url("/"))).await;
        let error = exchange.result.unwrap_err();
        assert_eq!(error, EgressError::NotHttp("it does not end within 256 KiB".into()), "{again}");
        assert!(exchange.timing.total < LONG_TIMEOUT / 2, "{again}: {:?}", exchange.timing);
        server.wait_for(|counts| counts.open == 0).await;
    }
}

#[tokio::test]
async fn long_responses_follow_each_other_on_a_connection() {
    let server = Server::start(|mut connection| async move {
        let interim = "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n".repeat(5000);
        while connection.read_request().await.is_some() {
            connection.send(&interim).await;
            connection.send(OK).await;
        }
    })
    .await;
    let egress = egress();
    // Together they are longer than one may be.
    for _ in 0..10 {
        assert_eq!(response_to(&egress, request(&server.url("/"))).await.status, 200);
    }
    assert_eq!(server.counts().accepted, 1);
}

#[tokio::test]
async fn broken_connection_is_an_error_and_not_retried() {
    for text in ["", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc"] {
        let server = Server::start(move |mut connection| async move {
            connection.read_request().await;
            connection.send(text).await;
        })
        .await;
        let error = error_of(&egress(), request(&server.url("/"))).await;
        assert_eq!(error.code(), "broken", "{text:?}: {error}");
        assert_eq!(server.counts().accepted, 1, "a request over a new connection is not repeated");
    }
}
