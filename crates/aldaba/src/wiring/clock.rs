//! The machine's clock.

use std::time::SystemTime;

use domain::{Clock, Ticks};

#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "this is the clock that everything else is given")]
    fn now(&self) -> Ticks {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Ticks::from_unix_nanos(i128::try_from(since.as_nanos()).unwrap_or(0))
    }
}
