//! A TCP proxy to the service that can close its connections or stall.

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

pub(super) struct Proxy {
    address: SocketAddr,
    link: Arc<Mutex<Link>>,
}

#[derive(Default)]
struct Link {
    state: LinkState,
    streams: Vec<TcpStream>,
}

#[derive(Clone, Copy, Default)]
enum LinkState {
    #[default]
    Forwarding,
    /// New connections are closed.
    Closed,
    /// New connections are accepted and get no response.
    Stalled,
}

impl Proxy {
    pub(super) fn to(base_url: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, link) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Link::default())));
        let (target, accepted_link) = (base_url.trim_start_matches("http://").to_owned(), link.clone());
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                lock(&accepted_link).join(near, &target);
            }
        });
        Self { address, link }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn close(&self) {
        lock(&self.link).set_state(LinkState::Closed);
    }

    pub(super) fn stall(&self) {
        lock(&self.link).set_state(LinkState::Stalled);
    }

    pub(super) fn restore(&self) {
        lock(&self.link).set_state(LinkState::Forwarding);
    }
}

impl Link {
    /// Changes the state and closes all connections.
    fn set_state(&mut self, state: LinkState) {
        self.state = state;
        for stream in self.streams.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn join(&mut self, near: TcpStream, target: &str) {
        match self.state {
            LinkState::Forwarding => {}
            LinkState::Closed => return,
            LinkState::Stalled => return self.streams.push(near),
        }
        let far = TcpStream::connect(target).unwrap();
        for (from, to) in [(&near, &far), (&far, &near)] {
            let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            thread::spawn(move || {
                let _ = std::io::copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Both);
            });
        }
        self.streams.extend([near, far]);
    }
}

fn lock(link: &Mutex<Link>) -> MutexGuard<'_, Link> {
    link.lock().unwrap_or_else(PoisonError::into_inner)
}
