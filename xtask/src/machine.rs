//! The machine that runs the tests: the current user, free ports and Debian packages.

use std::{
    fs, io,
    net::{Ipv4Addr, TcpListener},
    os::unix::fs::MetadataExt,
    path::Path,
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
};

use crate::{failure::Failure, temp_dir::TempDir, workspace};

/// The owner of /proc/self is the effective user of this process.
pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// Below the ports that the kernel gives to outgoing connections: one of those may take a free port before it is used.
const FIRST_PORT: u16 = 21_000;
const PORTS: u32 = 10_000;

/// A port on loopback that nothing listens on.
pub(crate) fn free_port() -> Result<u16, String> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let offset = std::process::id().wrapping_mul(61);
    for _ in 0..PORTS {
        let number = offset.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % PORTS;
        let port = FIRST_PORT + u16::try_from(number).unwrap_or_default();
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    Err("no free port on loopback".to_owned())
}

/// Installs a Debian package.
pub(crate) fn install(package: &str) -> Result<(), Failure> {
    eprintln!("{package} is missing: installing the Debian package");
    apt_get(&["update"])?;
    apt_get(&["install", "-y", "--no-install-recommends", package])
}

/// Stops the services that a package has just started, and keeps them from starting again: its programs alone are needed.
/// Best effort, because a container has no services.
pub(crate) fn disable_services(package: &str) {
    let Ok(files) = Command::new("dpkg").args(["-L", package]).output() else { return };
    for unit in services(&String::from_utf8_lossy(&files.stdout)) {
        let _ = Command::new("systemctl").args(["disable", "--now", unit]).output();
    }
}

/// The services among a package's files.
fn services(files: &str) -> Vec<&str> {
    let names = files.lines().filter(|file| file.contains("/systemd/system/"));
    names.filter_map(|file| file.rsplit('/').next()).filter(|name| name.ends_with(".service")).collect()
}

/// Downloads a Debian package and unpacks its files into a folder, without installing it. The list of packages is
/// updated where the first attempt fails and this user may.
pub(crate) fn download(package: &str, folder: &Path) -> Result<(), Failure> {
    let archives = TempDir::new("packages").map_err(|error| Failure::work(error.to_string()))?;
    let download = || {
        let mut command = Command::new("apt-get");
        command.args(["download", package]).current_dir(archives.path());
        workspace::run(&format!("apt-get download {package}"), command.stdout(io::stderr()))
    };
    download().or_else(|failure| {
        if !is_root() {
            return Err(failure);
        }
        apt_get(&["update"])?;
        download()
    })?;
    let files = fs::read_dir(archives.path()).map_err(|error| Failure::work(error.to_string()))?;
    let mut packages = files
        .flatten()
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|end| end == "deb"));
    let archive =
        packages.next().ok_or_else(|| Failure::work(format!("apt-get downloaded no package {package}")))?;
    let mut unpack = Command::new("dpkg");
    unpack.arg("-x").arg(archive).arg(folder);
    workspace::run(&format!("dpkg -x {package}"), &mut unpack)
}

fn apt_get(arguments: &[&str]) -> Result<(), Failure> {
    let mut command = Command::new("apt-get");
    // The second variable keeps existing configuration files without asking. Standard output is reserved for data.
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").env("UCF_FORCE_CONFFOLD", "1");
    workspace::run(&format!("apt-get {}", arguments.join(" ")), command.stdout(io::stderr()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_found_among_the_files_of_a_package() {
        let files = "/usr\n/lib/systemd/system/etcd.service\n/lib/systemd/system/etcd.service.d\n/usr/bin/etcd\n\
             /usr/lib/systemd/system/a@.service\n/usr/share/etcd.service\n";
        assert_eq!(services(files), ["etcd.service", "a@.service"]);
    }
}
