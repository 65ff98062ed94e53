//! A port that dev listens on while it waits for browsers.

use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

/// How long a browser may take from the authorization response to the redirect URI.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// How long the end of an earlier listener may take.
const CLOSE_MAX: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, Debug)]
struct Waiting {
    browsers: usize,
    until: Instant,
}

impl Waiting {
    fn is_open(&self) -> bool {
        self.browsers > 0 && self.until > Instant::now()
    }
}

/// It closes when all browsers that were expected have come, or none has come for a while.
pub(super) struct OpenPort {
    waiting: watch::Sender<Waiting>,
    tasks: Vec<JoinHandle<()>>,
}

impl OpenPort {
    /// Serves one browser at first.
    pub(super) fn serve(listeners: Vec<TcpListener>, routes: &Router) -> Self {
        let waiting = watch::Sender::new(Waiting { browsers: 1, until: Instant::now() + WAIT_MAX });
        let serve = |listener| {
            let (routes, is_over) = (routes.clone(), is_over(waiting.subscribe()));
            tokio::spawn(async move {
                // An error ends the listener alone; there is nothing to do about it.
                let _ = axum::serve(listener, routes).with_graceful_shutdown(is_over).await;
            })
        };
        let tasks = listeners.into_iter().map(serve).collect();
        Self { waiting, tasks }
    }

    /// Stays open for another browser. False if it is closed already.
    pub(super) fn expect_another(&self) -> bool {
        self.waiting.send_if_modified(|waiting| {
            let is_open = waiting.is_open();
            if is_open {
                *waiting = Waiting { browsers: waiting.browsers + 1, until: Instant::now() + WAIT_MAX };
            }
            is_open
        })
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.waiting.borrow().is_open()
    }

    /// One browser has come.
    pub(super) fn answered(&self) {
        self.waiting.send_modify(|waiting| waiting.browsers = waiting.browsers.saturating_sub(1));
    }

    /// Waits until the port is free again.
    pub(super) async fn closed(self) {
        let all = async {
            for task in self.tasks {
                let _ = task.await;
            }
        };
        let _ = timeout(CLOSE_MAX, all).await;
    }
}

async fn is_over(mut waiting: watch::Receiver<Waiting>) {
    loop {
        let Waiting { browsers, until } = *waiting.borrow_and_update();
        if browsers == 0 {
            return;
        }
        tokio::select! {
            changed = waiting.changed() => if changed.is_err() { return },
            () = sleep_until(until) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::net::TcpStream;

    use super::*;

    #[tokio::test]
    async fn port_closes_when_the_last_browser_has_come() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let open = OpenPort::serve(vec![listener], &Router::new().route("/", get(|| async { "" })));
        assert!(TcpStream::connect(address).await.is_ok());
        assert!(open.expect_another());
        open.answered();
        assert!(open.expect_another(), "one more is expected");
        open.answered();
        open.answered();
        assert!(!open.expect_another());
        open.closed().await;
        assert!(TcpStream::connect(address).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn port_closes_when_no_browser_comes() {
        let waiting = watch::Sender::new(Waiting { browsers: 1, until: Instant::now() + WAIT_MAX });
        let started = Instant::now();
        is_over(waiting.subscribe()).await;
        assert_eq!(started.elapsed(), WAIT_MAX);
    }
}
