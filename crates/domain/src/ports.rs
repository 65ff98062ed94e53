//! What the outside world gives to the rules: the time and chance. The wiring hands out the real
//! ones, tests and the simulation their own.

use crate::ids::Guid;
use crate::time::Ticks;

/// The time, as UTC ticks of 100 ns.
pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Ticks;
}

/// Unpredictable bytes.
pub trait Random: Send + Sync + 'static {
    fn fill(&self, bytes: &mut [u8]);

    fn guid(&self) -> Guid {
        let mut bytes = [0; 16];
        self.fill(&mut bytes);
        Guid::random_from(bytes)
    }

    /// 256 bits as 43 characters that need no escaping in a URL, a header or a shell.
    fn token(&self) -> String {
        let mut bytes = [0; 32];
        self.fill(&mut bytes);
        crate::secret::url_safe(&bytes)
    }
}
