//! The machine that runs the tests: the current user, free ports and Debian packages.

use std::{
    fs, io,
    net::{Ipv4Addr, TcpListener},
    os::unix::fs::MetadataExt,
    process::Command,
};

use crate::{failure::Failure, workspace};

/// The owner of /proc/self is the effective user of this process.
pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

pub(crate) fn free_port() -> Result<u16, String> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|error| format!("no free port on loopback: {error}"))
}

/// Installs a Debian package.
pub(crate) fn install(package: &str) -> Result<(), Failure> {
    eprintln!("{package} is missing: installing the Debian package");
    apt_get(&["update"])?;
    apt_get(&["install", "-y", "--no-install-recommends", package])
}

fn apt_get(arguments: &[&str]) -> Result<(), Failure> {
    let mut command = Command::new("apt-get");
    // The second variable keeps existing configuration files without asking. Standard output is reserved for data.
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").env("UCF_FORCE_CONFFOLD", "1");
    workspace::run(&format!("apt-get {}", arguments.join(" ")), command.stdout(io::stderr()))
}
