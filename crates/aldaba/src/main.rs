//! The `aldaba` program. Everything is in the library; this file sets the allocator.

use std::process::ExitCode;

/// Memory is often allocated on one thread and freed on another (a request's changes, by the store's writer thread).
/// mimalloc does that much faster than the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    aldaba::main()
}
