//! Calls a target and catches its panic: the message and the place, without printing.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
    static MESSAGE: RefCell<String> = const { RefCell::new(String::new()) };
}

static HOOK: Once = Once::new();

/// The outcome of a target for an input, or the message of its panic.
pub(crate) fn call(run: fn(&[u8]) -> u64, input: &[u8]) -> Result<u64, String> {
    HOOK.call_once(install);
    IS_GUARDED.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(|| run(input)));
    IS_GUARDED.set(false);
    outcome.map_err(|_| MESSAGE.take())
}

/// Panics of guarded threads are stored, those of others printed as before.
fn install() {
    let previous = take_hook();
    set_hook(Box::new(move |panic: &PanicHookInfo<'_>| {
        if !IS_GUARDED.get() {
            return previous(panic);
        }
        let place = panic.location().map(|place| format!("{}:{}: ", place.file(), place.line()));
        let text = panic.payload_as_str().unwrap_or("panicked");
        MESSAGE.set(place.unwrap_or_default() + text);
    }));
}
