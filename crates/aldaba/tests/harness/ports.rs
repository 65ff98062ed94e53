//! Ports for programs that are given one: below those that the system hands out, so that nobody gets them meanwhile.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

const FIRST_PORT: u16 = 10_000;
const PORTS: u16 = 11_000;
/// The most ports of one call.
const COUNT_MAX: u16 = 16;
/// Where a row may begin. The same for every count: if it depended on the count, calls in a row that ask for different
/// counts could get the same port when the numbers wrap.
const STARTS: u16 = PORTS - COUNT_MAX;

/// The first of `count` free ports in a row. Each call of a process gets others.
pub(crate) fn free_ports(count: u16) -> u16 {
    static TAKEN: AtomicU16 = AtomicU16::new(0);
    assert!((1..=COUNT_MAX).contains(&count), "{count} ports");
    // Test programs that run beside each other begin at different ports.
    let begin = u16::try_from(std::process::id().wrapping_mul(61) % u32::from(STARTS)).unwrap();
    let is_free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    (0..STARTS)
        .map(|_| {
            let offset = begin.wrapping_add(TAKEN.fetch_add(count, Ordering::Relaxed));
            FIRST_PORT + offset % STARTS
        })
        .find(|first| (*first..first + count).all(is_free))
        .unwrap()
}
