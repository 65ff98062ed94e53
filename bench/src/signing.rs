//! Raw signing: the signatures per second of one core with one key.
#![allow(clippy::disallowed_types, reason = "the library requires randomness; these signatures use none")]

use std::process::Command;
use std::time::{Duration, Instant};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{RSA_PKCS1_SHA256, RsaKeyPair};

use crate::Fallible;

/// About the length of an unsigned access token.
const MESSAGE_BYTES: usize = 1100;

/// Signs for this long on this thread and prints the signatures per second.
pub(crate) fn raw(seconds: u64) -> Fallible<()> {
    let pair = RsaKeyPair::generate(KeySize::Rsa2048)?;
    let random = SystemRandom::new();
    let message = vec![b'x'; MESSAGE_BYTES];
    let mut signature = vec![0; pair.public_modulus_len()];
    let (from, span) = (Instant::now(), Duration::from_secs(seconds));
    let mut signed = 0_u64;
    while from.elapsed() < span {
        pair.sign(&RSA_PKCS1_SHA256, &random, &message, &mut signature)?;
        signed += 1;
    }
    println!("{}", signed as f64 / from.elapsed().as_secs_f64());
    Ok(())
}

/// The same in its own process, pinned to a core.
pub(crate) fn raw_on(core: &str, seconds: u64) -> Fallible<f64> {
    let program = std::env::current_exe()?;
    let output = Command::new("taskset")
        .args(["-c", core])
        .arg(program)
        .args(["raw-signing", "--seconds", &seconds.to_string()])
        .output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}
