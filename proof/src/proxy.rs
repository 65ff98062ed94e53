//! A TCP proxy on loopback that delays, holds back, silences or refuses connections, as a bad network does.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::Fallible;

/// How the network behaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Network {
    #[default]
    Good,
    /// Every piece takes this long, and one in a hundred as long as a lost packet takes until it is sent again.
    Bad { delay: Duration, lost_percent: u8 },
    /// Nothing passes and nobody is told: packets are dropped.
    Silent,
    /// Connections are closed, and new ones are refused.
    Refused,
}

/// How long a lost packet is on its way: Linux sends it again after 200 ms at the earliest.
const SENT_AGAIN_AFTER: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    network: Arc<watch::Sender<Network>>,
}

impl Proxy {
    /// Forwards what comes to `near` to the server at an address such as `127.0.0.1:5432`.
    pub(crate) async fn between(near: &str, server: &str) -> Fallible<Self> {
        let listener = TcpListener::bind(near).await?;
        let (address, server) = (listener.local_addr()?, server.to_owned());
        let network = Arc::new(watch::Sender::new(Network::Good));
        let shared = network.clone();
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let network = shared.subscribe();
                let server = server.clone();
                tokio::spawn(async move {
                    if *network.borrow() == Network::Refused {
                        return;
                    }
                    if let Ok(far) = TcpStream::connect(&server).await {
                        join(near, far, &network).await;
                    }
                });
            }
        });
        Ok(Self { address, network })
    }

    pub(crate) fn set(&self, network: Network) {
        self.network.send_replace(network);
    }
}

async fn join(near: TcpStream, far: TcpStream, network: &watch::Receiver<Network>) {
    let _ = (near.set_nodelay(true), far.set_nodelay(true));
    let (near_read, near_write) = near.into_split();
    let (far_read, far_write) = far.into_split();
    // One direction that ends ends both, as a closed connection does.
    tokio::select! {
        () = forward(near_read, far_write, network.clone()) => {}
        () = forward(far_read, near_write, network.clone()) => {}
    }
}

async fn forward(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut network: watch::Receiver<Network>) {
    let (mut buffer, mut pieces) = (vec![0; 32 * 1024], 0_u32);
    loop {
        let count = tokio::select! {
            read = from.read(&mut buffer) => read.unwrap_or(0),
            changed = network.changed() => {
                if changed.is_err() || *network.borrow_and_update() == Network::Refused {
                    return;
                }
                continue;
            }
        };
        if count == 0 {
            return;
        }
        loop {
            let now = *network.borrow_and_update();
            match now {
                Network::Good => break,
                Network::Refused => return,
                Network::Bad { delay, lost_percent } => {
                    pieces = pieces.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let is_lost = (pieces >> 16) % 100 < u32::from(lost_percent);
                    tokio::time::sleep(if is_lost { delay + SENT_AGAIN_AFTER } else { delay }).await;
                    break;
                }
                Network::Silent => {
                    if network.changed().await.is_err() {
                        return;
                    }
                }
            }
        }
        if to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}
