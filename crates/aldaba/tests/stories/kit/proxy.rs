//! A line to the service that can be cut, or go dead.

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

pub(super) struct Proxy {
    address: SocketAddr,
    line: Arc<Line>,
}

#[derive(Default)]
struct Line {
    is_cut: AtomicBool,
    is_dead: AtomicBool,
    streams: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    pub(super) fn to(base_url: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, line) = (listener.local_addr().unwrap(), Arc::new(Line::default()));
        let (target, own) = (base_url.trim_start_matches("http://").to_owned(), line.clone());
        thread::spawn(move || {
            for here in listener.incoming().flatten() {
                own.join(here, &target);
            }
        });
        Self { address, line }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From here on nobody gets through, until it is mended.
    pub(super) fn cut(&self) {
        self.line.is_cut.store(true, Ordering::SeqCst);
        for stream in self.line.streams.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// From here on whoever calls is taken and hears nothing.
    pub(super) fn go_dead(&self) {
        self.line.is_dead.store(true, Ordering::SeqCst);
        self.cut();
    }

    pub(super) fn mend(&self) {
        self.line.is_cut.store(false, Ordering::SeqCst);
    }
}

impl Line {
    fn join(&self, here: TcpStream, target: &str) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_dead.load(Ordering::SeqCst) {
            return streams.push(here);
        }
        if self.is_cut.load(Ordering::SeqCst) {
            return;
        }
        let there = TcpStream::connect(target).unwrap();
        for (from, to) in [(&here, &there), (&there, &here)] {
            let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            thread::spawn(move || {
                let _ = std::io::copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Both);
            });
        }
        streams.extend([here, there]);
    }
}
