//! A temporary PostgreSQL server with its own folder and a free loopback port. It stops when its owner drops it or is killed.
//! Used by `test` and `bench`.

mod account;
mod programs;
#[cfg(test)]
mod tests;
mod watchdog;

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{machine, temp_dir::TempDir};
use account::Account;
pub use programs::{PROGRAMS, find as find_programs};
use watchdog::Watchdog;

/// How long pg_ctl waits for the server to start or stop.
const WAIT_SECONDS: &str = "60";

/// Another process may take the free port before the server does.
const PORT_ATTEMPTS_MAX: usize = 5;

/// Settings of the server.
#[derive(Debug, Clone, Copy, Default)]
pub struct Settings {
    /// Commits reach the disk, as in production: for benchmarks. Without it, the server is faster and may lose everything if
    /// the machine crashes.
    pub durable: bool,
}

/// A running server. Its folder is the last field, so that it is dropped last.
#[derive(Debug)]
pub struct Cluster {
    programs: PathBuf,
    account: Account,
    port: u16,
    watchdog: Watchdog,
    folder: TempDir,
}

impl Cluster {
    /// Creates a new cluster and waits until it is ready. Installs PostgreSQL if it is missing and this user may.
    pub fn start(settings: Settings) -> Result<Self, String> {
        let programs = programs::find_or_install()?;
        let account = Account::for_server()?;
        let parent = account.temporary_folder(settings.durable);
        let folder = TempDir::inside(&parent, "postgres")
            .map_err(|error| format!("cannot create a folder in {}: {error}", parent.display()))?;
        account.give_ownership(folder.path())?;
        let watchdog = Watchdog::watch(&account, &programs.join("pg_ctl"), folder.path())?;
        let mut cluster = Self { programs, account, port: 0, watchdog, folder };
        cluster.init()?;
        cluster.configure(&configuration(settings, cluster.folder.path()))?;
        cluster.listen()?;
        Ok(cluster)
    }

    /// The url for clients: a superuser without a password.
    pub fn url(&self) -> String {
        format!("postgres://aldaba@127.0.0.1:{}/postgres", self.port)
    }

    /// The folder of this server's programs.
    pub fn programs(&self) -> &Path {
        &self.programs
    }

    /// Restarts the server on the same port with the same data; every connection breaks.
    pub fn restart(&self) -> Result<(), String> {
        finish(self.control("restart").args(["-m", "fast"]))
    }

    /// Stops the server and removes its data. Dropping does the same, but cannot report an error.
    pub fn stop(mut self) -> Result<(), String> {
        self.watchdog.release()
    }

    fn init(&self) -> Result<(), String> {
        let data = self.data();
        let mut initdb = self.program("initdb");
        initdb.args([
            "--auth=trust",
            "--username=aldaba",
            "--no-sync",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
        ]);
        finish(initdb.arg("--pgdata").arg(data))
    }

    fn configure(&self, lines: &str) -> Result<(), String> {
        let path = self.data().join("postgresql.conf");
        fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .and_then(|mut file| file.write_all(lines.as_bytes()))
            .map_err(|error| format!("cannot write {}: {error}", path.display()))
    }

    fn listen(&mut self) -> Result<(), String> {
        let mut reason = String::new();
        for _ in 0..PORT_ATTEMPTS_MAX {
            self.port = machine::free_port()?;
            // The last line of a setting counts.
            self.configure(&format!("port = {}\n", self.port))?;
            let _ = fs::remove_file(self.log());
            let Err(error) = finish(&mut self.control("start")) else {
                return Ok(());
            };
            let log = fs::read_to_string(self.log()).unwrap_or_default();
            reason = format!("{error}\n{log}");
            if !log.contains("could not bind") {
                break;
            }
        }
        Err(reason)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// pg_ctl on this cluster, waiting for the result. Without its own log file the server would keep our pipe open, and
    /// `finish` would wait forever.
    fn control(&self, verb: &str) -> Command {
        let mut command = self.program("pg_ctl");
        command.args([verb, "--wait", "--timeout", WAIT_SECONDS, "--pgdata"]).arg(self.data());
        command.arg("--log").arg(self.log());
        command
    }

    /// One of PostgreSQL's programs, without the PG variables of the environment.
    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        for (variable, _) in env::vars_os() {
            if variable.to_string_lossy().starts_with("PG") {
                command.env_remove(variable);
            }
        }
        // `listen` searches the server's log for an English message.
        command.env("LC_ALL", "C").current_dir(self.folder.path());
        self.account.apply_to(&mut command);
        command
    }
}

fn configuration(settings: Settings, sockets: &Path) -> String {
    let sockets = sockets.display().to_string().replace('\'', "''");
    let mut lines = format!(
        "listen_addresses = '127.0.0.1'\n\
         unix_socket_directories = '{sockets}'\n\
         max_connections = 200\n\
         shared_buffers = '128MB'\n"
    );
    if !settings.durable {
        lines.push_str("fsync = off\nfull_page_writes = off\n");
    }
    lines
}

/// Runs a program to its end; an error contains its output.
fn finish(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name} cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Err(format!("{name}: {}\n{stdout}{stderr}", output.status))
}
