//! Live pages end with the service.

use std::sync::mpsc;

use web::Stopwatch;

use super::fixture::Developer;
use crate::harness::{Installation, RawConnection, ServeProcess};

#[test]
fn open_streams_do_not_delay_shutdown() {
    let mut server = ServeProcess::start(Installation::new(), &["server.drain=20s"]);
    let developer = Developer::sign_in_to(&server, "live");
    let cookies = developer.browser.cookie_header();
    let streams = ["", "calls"].map(|page| {
        let path = developer.path(page);
        let head = format!("GET {path}?format=events HTTP/1.1\r\ncookie: {cookies}\r\n");
        let mut stream = RawConnection::open(&server.public_url, &head);
        assert!(stream.read_until("retry: 2000"));
        stream
    });
    let (ended, ends) = mpsc::channel();
    for mut stream in streams {
        let ended = ended.clone();
        // A stream that ends says so with its last chunk.
        std::thread::spawn(move || ended.send(stream.read_until("\r\n0\r\n\r\n")));
    }
    let watch = Stopwatch::start();
    server.process.terminate();
    let finished = server.process.wait_for_exit();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(watch.elapsed().as_secs() < 10, "{:?}", watch.elapsed());
    assert!(!finished.stderr.contains("cut off"), "{}", finished.stderr);
    assert_eq!([ends.recv(), ends.recv()], [Ok(true), Ok(true)]);
}
