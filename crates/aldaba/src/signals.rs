//! The signals that a running service reacts to.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Failure;

/// What SIGHUP does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnHangup {
    /// A service manager asks for a reload, or the terminal of a detached process closes: the service goes on.
    Ignore,
    /// The terminal closes: stop in order.
    Stop,
}

/// SIGTERM, SIGINT and SIGHUP. From the moment this is made, a signal waits here instead of ending the program.
pub(crate) struct ShutdownSignals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
    on_hangup: OnHangup,
}

impl ShutdownSignals {
    pub(crate) fn install(on_hangup: OnHangup) -> Result<Self, Failure> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
            on_hangup,
        })
    }

    /// Waits for a signal to stop.
    pub(crate) async fn received(&mut self) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                _ = self.hangup.recv() => {}
            }
            if self.on_hangup == OnHangup::Stop {
                return;
            }
            tracing::warn!("SIGHUP ignored: the configuration cannot be reloaded yet; restart to change it");
        }
    }
}
