//! Threads of the lowest priority. Whoever sends as fast as possible would take the cores from the service, and in the world runs on
//! another machine.

use tokio::runtime::{Builder, Handle, Runtime};

use crate::Fallible;

const LOWEST_PRIORITY: i32 = 19;

/// Ends with its tasks when it is dropped.
pub(crate) struct Background(Option<Runtime>);

impl Background {
    pub(crate) fn start() -> Fallible<Self> {
        let lower_priority = || {
            // The priority of this thread alone. A machine that refuses it has a harder test.
            let _ = rustix::process::setpriority_process(None, LOWEST_PRIORITY);
        };
        let runtime = Builder::new_multi_thread().enable_all().on_thread_start(lower_priority).build()?;
        Ok(Self(Some(runtime)))
    }

    pub(crate) fn handle(&self) -> Handle {
        self.0.as_ref().map_or_else(Handle::current, |runtime| runtime.handle().clone())
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
