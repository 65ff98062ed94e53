//! The machine that the tests run on: who we are on it, its free ports, and Debian's packages.

use std::{
    fs, io,
    net::{Ipv4Addr, TcpListener},
    os::unix::fs::MetadataExt,
    process::Command,
};

use crate::{failure::Failure, workspace};

/// The owner of our own process's folder is our effective user.
pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

pub(crate) fn free_port() -> Result<u16, String> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|error| format!("no free port on loopback: {error}"))
}

/// Brings one of Debian's packages onto the machine.
pub(crate) fn install(package: &str) -> Result<(), Failure> {
    eprintln!("{package} is missing: installing Debian's package");
    apt_get(&["update"])?;
    apt_get(&["install", "-y", "--no-install-recommends", package])
}

fn apt_get(arguments: &[&str]) -> Result<(), Failure> {
    let mut command = Command::new("apt-get");
    // The second variable keeps a configuration that is there without a question. Our standard output is for data.
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").env("UCF_FORCE_CONFFOLD", "1");
    workspace::run(&format!("apt-get {}", arguments.join(" ")), command.stdout(io::stderr()))
}
