//! A PostgreSQL server of its own for one test, which stops and starts it while a store is open.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

const PROGRAMS: &str = "ALDABA_TEST_POSTGRES_BIN";
const INSTALLED: &str = "/usr/lib/postgresql";

pub(crate) struct Cluster {
    programs: PathBuf,
    /// The account of the server: PostgreSQL refuses to run as root.
    account: Option<(u32, u32)>,
    port: u16,
    /// Further options of the server.
    options: &'static str,
    folder: TempDir,
}

impl Cluster {
    pub(crate) fn start() -> Self {
        let cluster = Self::create("");
        cluster.start_server();
        cluster
    }

    /// A streaming standby of this server.
    pub(crate) fn start_standby(&self) -> Self {
        let standby = Self::new("");
        let port = self.port.to_string();
        let copy =
            ["-h", "127.0.0.1", "-p", &port, "-U", "aldaba", "-R", "--checkpoint=fast", "--no-sync", "-D"];
        standby.run("pg_basebackup", &copy, None);
        standby.start_server();
        standby
    }

    /// Makes a standby the primary.
    pub(crate) fn promote(&self) {
        self.run("pg_ctl", &["promote", "-w", "-s", "-D"], None);
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// A server that offers TLS with this certificate.
    pub(crate) fn start_with_tls(certificate: &str, key: &str) -> Self {
        let cluster = Self::create("-c ssl=on");
        for (name, pem) in [("server.crt", certificate), ("server.key", key)] {
            let path = cluster.folder.path().join("data").join(name);
            fs::write(&path, pem).unwrap();
            // The server refuses a key that others may read.
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            if let Some((user, group)) = cluster.account {
                chown(&path, Some(user), Some(group)).unwrap();
            }
        }
        cluster.start_server();
        cluster
    }

    fn create(options: &'static str) -> Self {
        let cluster = Self::new(options);
        let init =
            ["--auth=trust", "--username=aldaba", "--no-sync", "--encoding=UTF8", "--locale=C", "--pgdata"];
        cluster.run("initdb", &init, None);
        cluster
    }

    fn new(options: &'static str) -> Self {
        let account = account();
        // Not below a folder that only this user may enter.
        let folder = tempfile::Builder::new().prefix("aldaba-outage-").tempdir_in("/tmp").unwrap();
        if let Some((user, group)) = account {
            chown(folder.path(), Some(user), Some(group)).unwrap();
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Self { programs: programs(), account, port, options, folder }
    }

    pub(crate) fn url(&self) -> String {
        self.url_with("127.0.0.1", "")
    }

    /// The server under another name, with parameters such as `?sslmode=require`.
    pub(crate) fn url_with(&self, host: &str, parameters: &str) -> String {
        format!("postgres://aldaba@{host}:{}/postgres{parameters}", self.port)
    }

    pub(crate) fn start_server(&self) {
        let sockets = self.folder.path().display();
        let options = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories={sockets} -c fsync=off {}",
            self.port, self.options
        );
        self.run("pg_ctl", &["start", "-w", "-s", "-l", "log", "-D"], Some(&["-o", &options]));
    }

    /// Breaks every connection; the data remain.
    pub(crate) fn stop_server(&self) {
        self.run("pg_ctl", &["stop", "-w", "-s", "-m", "fast", "-D"], None);
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.current_dir(self.folder.path());
        if let Some((user, group)) = self.account {
            command.uid(user).gid(group);
        }
        command
    }

    fn run(&self, program: &str, before_data: &[&str], after_data: Option<&[&str]>) {
        let mut command = self.command(program);
        command.args(before_data).arg(self.folder.path().join("data")).args(after_data.unwrap_or_default());
        let output = command.output().unwrap_or_else(|error| panic!("{program} cannot be started: {error}"));
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let data = self.folder.path().join("data");
        // It may have stopped already.
        let _ = self.command("pg_ctl").args(["stop", "-w", "-s", "-m", "immediate", "-D"]).arg(data).output();
    }
}

/// The folder of the server's programs: the one in the environment, or the newest installed.
fn programs() -> PathBuf {
    if let Some(named) = std::env::var_os(PROGRAMS) {
        return named.into();
    }
    let versions = fs::read_dir(INSTALLED).into_iter().flatten().flatten();
    let newest = versions.filter_map(|folder| {
        let version: u32 = folder.file_name().to_str()?.parse().ok()?;
        Some((version, folder.path().join("bin")))
    });
    let newest = newest.max().map(|(_, programs)| programs);
    newest.unwrap_or_else(|| panic!("{INSTALLED} has no PostgreSQL: install it, or set {PROGRAMS}"))
}

fn account() -> Option<(u32, u32)> {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let find = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    let other = find("postgres").or_else(|| find("nobody"));
    Some(other.expect("PostgreSQL does not run as root, and there is neither a user postgres nor nobody"))
}
