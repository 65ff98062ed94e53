//! Ports for programs that are given one: below those that the system hands out, so that nobody gets them meanwhile.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

const FIRST_PORT: u16 = 10_000;
const PORTS: u16 = 11_000;

/// The first of `count` free ports in a row. Each call of a process gets others.
pub(crate) fn free_ports(count: u16) -> u16 {
    static TAKEN: AtomicU16 = AtomicU16::new(0);
    // Test programs that run beside each other begin at different ports.
    let begin = u16::try_from(std::process::id().wrapping_mul(61) % u32::from(PORTS)).unwrap();
    let is_free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    (0..PORTS)
        .map(|_| {
            let offset = begin.wrapping_add(TAKEN.fetch_add(count, Ordering::Relaxed));
            FIRST_PORT + offset % (PORTS - count)
        })
        .find(|first| (*first..first + count).all(is_free))
        .unwrap()
}
