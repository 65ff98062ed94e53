//! A closed-loop load over persistent connections: requests per second and latencies.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::{Fallible, wire};

/// The result of a load.
#[derive(Clone, Debug, Default)]
pub(crate) struct Load {
    pub(crate) rate: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
}

impl Load {
    /// The median of several, by rate.
    pub(crate) fn middle(mut loads: Vec<Self>) -> Self {
        loads.sort_by(|one, other| one.rate.total_cmp(&other.rate));
        loads.swap_remove(loads.len() / 2)
    }
}

/// Every connection sends the next request as soon as it has received 200 for the last one.
pub(crate) async fn load(
    address: SocketAddr,
    connections: usize,
    span: Duration,
    request: impl Fn(u64, &mut Vec<u8>),
) -> Fallible<Load> {
    let next = Cell::new(0_u64);
    let latencies = RefCell::new(Vec::new());
    let from = Instant::now();
    let work = (0..connections).map(|_| async {
        let mut stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (mut buffer, mut bytes) = (vec![0; 64 * 1024], Vec::new());
        while from.elapsed() < span {
            bytes.clear();
            request(next.replace(next.get() + 1), &mut bytes);
            let sent = Instant::now();
            stream.write_all(&bytes).await?;
            let response = wire::response(&mut stream, &mut buffer).await?;
            latencies.borrow_mut().push(u32::try_from(sent.elapsed().as_nanos() / 100).unwrap_or(u32::MAX));
            if !response.starts_with(b"HTTP/1.1 200") {
                return Err(String::from_utf8_lossy(response).into());
            }
        }
        Ok::<_, Box<dyn std::error::Error>>(())
    });
    for done in futures_util::future::join_all(work).await {
        done?;
    }
    let seconds = from.elapsed().as_secs_f64();
    let mut latencies = latencies.into_inner();
    latencies.sort_unstable();
    let at = |share: usize| {
        latencies.get(latencies.len() * share / 100).map_or(0.0, |tenths| f64::from(*tenths) / 10_000.0)
    };
    Ok(Load { rate: latencies.len() as f64 / seconds, p50_ms: at(50), p99_ms: at(99) })
}

/// Numbers that look random and depend only on the argument.
pub(crate) fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 27)
}
