//! A TCP proxy to a database server that can drop and refuse connections, to simulate an outage.

use std::io::copy;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// Both streams of every proxied connection; `None` while the proxy refuses connections.
type Connections = Arc<Mutex<Option<Vec<TcpStream>>>>;

pub(crate) struct DatabaseProxy {
    url: String,
    connections: Connections,
}

impl DatabaseProxy {
    /// Forwards to the server of this URL.
    pub(crate) fn to(url: &str) -> Self {
        let after_scheme = url.find("://").unwrap() + 3;
        let host_ends = after_scheme + url[after_scheme..].find('/').unwrap();
        let host_begins =
            url[after_scheme..host_ends].rfind('@').map_or(after_scheme, |at| after_scheme + at + 1);
        let server = url[host_begins..host_ends].to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connections: Connections = Arc::new(Mutex::new(Some(Vec::new())));
        let proxied = connections.clone();
        // The thread ends with the test process.
        thread::spawn(move || listener.incoming().for_each(|near| join(near.unwrap(), &server, &proxied)));
        Self { url: format!("{}{address}{}", &url[..host_begins], &url[host_ends..]), connections }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Drops all connections and refuses new ones.
    pub(crate) fn disconnect(&self) {
        for end in self.connections.lock().unwrap().take().into_iter().flatten() {
            let _ = end.shutdown(Shutdown::Both);
        }
    }

    pub(crate) fn restore(&self) {
        *self.connections.lock().unwrap() = Some(Vec::new());
    }
}

fn join(near: TcpStream, server: &str, connections: &Connections) {
    let mut connections = connections.lock().unwrap();
    let (Some(connections), Ok(far)) = (connections.as_mut(), TcpStream::connect(server)) else { return };
    for (from, to) in [(&near, &far), (&far, &near)] {
        let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
        thread::spawn(move || {
            let _ = copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Both);
        });
    }
    connections.extend([near, far]);
}
