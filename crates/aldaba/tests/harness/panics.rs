//! Tells panics of a service in the test process from those of failing tests, by the name of their thread.

use std::panic;
use std::sync::{Mutex, Once, PoisonError};
use std::thread;

/// What the names of an SQLite store's threads begin with. They are the same in all servers, so a panic there counts for all.
const STORE: &str = "store-";

/// The threads of one server's runtime.
#[derive(Clone)]
pub(super) struct ServiceThreads(String);

impl ServiceThreads {
    /// From now on the panics of these threads are recorded.
    pub(super) fn new(server: u32) -> Self {
        record();
        Self(format!("server-{server}"))
    }

    /// What the runtime is to call them.
    pub(super) fn name(&self) -> &str {
        &self.0
    }
}

/// The names of the threads that panicked, each with its message.
static PANICS: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// The messages of the panics that were recorded for this service.
pub(super) fn messages(threads: &ServiceThreads) -> Vec<String> {
    let recorded = PANICS.lock().unwrap_or_else(PoisonError::into_inner);
    let of_service = recorded.iter().filter(|(name, _)| *name == threads.0 || name.starts_with(STORE));
    of_service.map(|(_, message)| message.clone()).collect()
}

fn record() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if let Some(name) = thread::current().name().filter(|name| is_of_a_service(name)) {
                let mut recorded = PANICS.lock().unwrap_or_else(PoisonError::into_inner);
                recorded.push((name.to_owned(), info.to_string()));
            }
            report(info);
        }));
    });
}

fn is_of_a_service(thread: &str) -> bool {
    thread.starts_with(STORE) || thread.starts_with("server-")
}
