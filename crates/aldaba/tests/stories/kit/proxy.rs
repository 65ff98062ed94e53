//! A line to the service that can be cut, or go dead.

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

pub(super) struct Proxy {
    address: SocketAddr,
    line: Arc<Mutex<Line>>,
}

#[derive(Default)]
struct Line {
    state: State,
    streams: Vec<TcpStream>,
}

#[derive(Clone, Copy, Default)]
enum State {
    #[default]
    Whole,
    /// Whoever calls is sent away.
    Cut,
    /// Whoever calls is taken, and hears nothing.
    Dead,
}

impl Proxy {
    pub(super) fn to(base_url: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, line) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Line::default())));
        let (target, own) = (base_url.trim_start_matches("http://").to_owned(), line.clone());
        thread::spawn(move || {
            for here in listener.incoming().flatten() {
                held(&own).join(here, &target);
            }
        });
        Self { address, line }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn cut(&self) {
        held(&self.line).become_now(State::Cut);
    }

    pub(super) fn go_dead(&self) {
        held(&self.line).become_now(State::Dead);
    }

    pub(super) fn mend(&self) {
        held(&self.line).become_now(State::Whole);
    }
}

impl Line {
    /// Whoever was on it is sent away.
    fn become_now(&mut self, state: State) {
        self.state = state;
        for stream in self.streams.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn join(&mut self, here: TcpStream, target: &str) {
        match self.state {
            State::Whole => {}
            State::Cut => return,
            State::Dead => return self.streams.push(here),
        }
        let there = TcpStream::connect(target).unwrap();
        for (from, to) in [(&here, &there), (&there, &here)] {
            let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            thread::spawn(move || {
                let _ = std::io::copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Both);
            });
        }
        self.streams.extend([here, there]);
    }
}

fn held(line: &Mutex<Line>) -> MutexGuard<'_, Line> {
    line.lock().unwrap_or_else(PoisonError::into_inner)
}
