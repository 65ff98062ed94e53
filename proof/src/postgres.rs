//! A PostgreSQL server of its own for one scenario, which stops it, kills it, lets it stand still and fills its disk.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::cleanup::Cleanup;
use crate::database::execute;
use crate::process::{PAUSE, children_of, free_port, signal_all};
use crate::{Fallible, Options};

/// Connections that clients can have, three of them superusers alone.
const CONNECTIONS_MAX: usize = 100;
/// A server whose postmaster was killed starts only when its other processes have noticed.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// The user that a server runs as: PostgreSQL refuses to run as root.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account {
    /// None where this program is not root.
    pub(crate) other: Option<(u32, u32)>,
}

impl Account {
    pub(crate) fn for_server() -> Fallible<Self> {
        if fs::metadata("/proc/self")?.uid() != 0 {
            return Ok(Self { other: None });
        }
        let users = fs::read_to_string("/etc/passwd")?;
        let find = |name: &str| {
            let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
            let mut fields = line.split(':').skip(2);
            Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
        };
        let other = find("postgres").or_else(|| find("nobody"));
        Ok(Self {
            other: Some(other.ok_or("PostgreSQL does not run as root, and there is no user postgres")?),
        })
    }

    /// A folder of this user. Not below one that only root may enter.
    pub(crate) fn folder(self) -> Fallible<TempDir> {
        let folder = tempfile::Builder::new().prefix("aldaba-proof-").tempdir_in("/tmp")?;
        self.own(folder.path())?;
        Ok(folder)
    }

    fn own(self, path: &Path) -> Fallible<()> {
        self.other.map_or(Ok(()), |(user, group)| Ok(chown(path, Some(user), Some(group))?))
    }

    pub(crate) fn apply_to(self, command: &mut Command) {
        if let Some((user, group)) = self.other {
            command.uid(user).gid(group);
        }
    }
}

/// A server with a database and a role for the service; it stops when it is dropped.
pub(crate) struct Cluster {
    programs: PathBuf,
    account: Account,
    port: u16,
    // Stops the server before its folder is gone.
    _cleanup: Cleanup,
    folder: TempDir,
}

impl Cluster {
    /// The data lie on a disk of this size in memory, if one is given.
    pub(crate) async fn start(options: &Options, disk_mib: Option<u32>) -> Fallible<Self> {
        let programs = options.postgres_programs.clone().ok_or("--postgres-programs is missing")?;
        let account = Account::for_server()?;
        let folder = account.folder()?;
        let unmount = if disk_mib.is_some() { r#"umount "$folder/data""# } else { "" };
        let cleanup = Cleanup::of(folder.path(), unmount)?;
        let cluster =
            Self { programs: programs.into(), account, port: free_port()?, _cleanup: cleanup, folder };
        let data = cluster.data();
        fs::create_dir(&data)?;
        if let Some(size) = disk_mib {
            let mut mount = Command::new("mount");
            mount.args(["-t", "tmpfs", "-o", &format!("size={size}m"), "tmpfs"]).arg(&data);
            finish(&mut mount).map_err(|error| format!("a small disk cannot be mounted here: {error}"))?;
        }
        account.own(&data)?;
        // Small pieces of the log need new room soon, as a busy server does.
        let mut initdb = cluster.program("initdb");
        initdb.args(["--auth=trust", "--username=postgres", "--no-sync", "--encoding=UTF8"]);
        finish(initdb.args(["--locale=C.UTF-8", "--wal-segsize=1", "--pgdata"]).arg(&data))?;
        let lines = format!(
            "listen_addresses = '127.0.0.1'\nport = {}\nunix_socket_directories = '{}'\n\
             max_connections = {CONNECTIONS_MAX}\nshared_buffers = '32MB'\nmin_wal_size = '4MB'\nmax_wal_size = '32MB'\n",
            cluster.port,
            cluster.folder.path().display()
        );
        File::options().append(true).open(data.join("postgresql.conf"))?.write_all(lines.as_bytes())?;
        cluster.start_server().await?;
        let admin = cluster.admin_url();
        // Superusers have connections of their own, so the service is none.
        execute(&admin, "CREATE ROLE aldaba LOGIN").await?;
        execute(&admin, "CREATE DATABASE aldaba OWNER aldaba").await?;
        Ok(cluster)
    }

    /// For the service.
    pub(crate) fn url(&self) -> String {
        format!("postgres://aldaba@127.0.0.1:{}/aldaba", self.port)
    }

    /// For a superuser.
    pub(crate) fn admin_url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Starts the server and waits until it answers.
    pub(crate) async fn start_server(&self) -> Fallible<()> {
        let from = Instant::now();
        loop {
            match finish(self.control("start").arg("-l").arg(self.folder.path().join("log"))) {
                Ok(()) => return Ok(()),
                Err(error) if from.elapsed() > START_TIMEOUT => {
                    return Err(format!("{error}\n{}", self.log_tail()).into());
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    /// Stops the server in this mode of `pg_ctl`.
    pub(crate) fn stop_server(&self, mode: &str) -> Fallible<()> {
        finish(self.control("stop").args(["-m", mode]))
    }

    /// `kill -9` of the postmaster. Its other processes notice and end.
    pub(crate) fn kill(&self) -> Fallible<()> {
        signal_all(&[self.postmaster()?], "KILL").map(|_| ())
    }

    /// SIGSTOP of all processes of the server.
    pub(crate) fn freeze(&self) -> Fallible<()> {
        // First the one that starts others.
        let postmaster = self.postmaster()?;
        signal_all(&[postmaster], "STOP")?;
        signal_all(&children_of(postmaster)?, "STOP").map(|_| ())
    }

    pub(crate) fn thaw(&self) -> Fallible<()> {
        let postmaster = self.postmaster()?;
        signal_all(&children_of(postmaster)?, "CONT")?;
        signal_all(&[postmaster], "CONT").map(|_| ())
    }

    /// Takes all room of the disk.
    pub(crate) fn fill_disk(&self) -> Fallible<()> {
        let (mut file, piece) = (File::create(self.filler())?, vec![0; 64 * 1024]);
        let full = loop {
            if let Err(error) = file.write_all(&piece) {
                break error;
            }
        };
        if full.kind() == std::io::ErrorKind::StorageFull { Ok(()) } else { Err(full.into()) }
    }

    pub(crate) fn free_disk(&self) -> Fallible<()> {
        Ok(fs::remove_file(self.filler())?)
    }

    pub(crate) fn is_running(&self) -> Fallible<bool> {
        Ok(self.control("status").output()?.status.success())
    }

    /// The last lines of the server's log.
    pub(crate) fn log_tail(&self) -> String {
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(8)..].join("\n")
    }

    fn postmaster(&self) -> Fallible<u32> {
        let file = fs::read_to_string(self.data().join("postmaster.pid"))?;
        Ok(file.lines().next().unwrap_or_default().trim().parse()?)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn filler(&self) -> PathBuf {
        self.data().join("filler")
    }

    fn control(&self, verb: &str) -> Command {
        let mut command = self.program("pg_ctl");
        command.args([verb, "-s", "-w", "-t", "60", "-D"]).arg(self.data());
        command
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        command.env("LC_ALL", "C").current_dir(self.folder.path());
        self.account.apply_to(&mut command);
        command
    }
}

/// Runs a program to its end; an error contains its output.
pub(crate) fn finish(command: &mut Command) -> Fallible<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Err(format!("{name}: {}: {stdout}{stderr}", output.status).into())
}
