//! The machine's randomness.

use domain::Random;

#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemRandom;

impl Random for SystemRandom {
    #[allow(clippy::disallowed_methods, reason = "this is the randomness that everything else is given")]
    fn fill(&self, bytes: &mut [u8]) {
        // It fails only where the machine has no randomness at all, and then nothing may go on.
        if aws_lc_rs::rand::fill(bytes).is_err() {
            std::process::abort();
        }
    }
}
