//! Starts `aldaba serve` and the bare handler as processes, and reads their memory use and counters.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Fallible;
use crate::wire::Target;

const SQLITE_FILE: &str = "aldaba.db";
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// A running `aldaba serve` with its own store.
pub(crate) struct Program {
    child: Child,
    pub(crate) operator: SocketAddr,
    pub(crate) public: SocketAddr,
    pub(crate) target: Target,
    /// From the start of the process to `/readyz`.
    pub(crate) ready_after: Duration,
    launch: Launch,
    /// None for a second process on the store of another.
    folder: Option<tempfile::TempDir>,
}

/// A configured store with one tenant, before the service starts.
pub(crate) struct PreparedStore {
    folder: tempfile::TempDir,
    launch: Launch,
}

impl PreparedStore {
    pub(crate) fn new(program: &str, store_url: &str) -> Fallible<Self> {
        let folder = tempfile::tempdir()?;
        let path = folder.path();
        let store = if store_url.is_empty() {
            format!("sqlite:{}", path.join(SQLITE_FILE).display())
        } else {
            store_url.into()
        };
        run(program, path, &["init", ".", "--base-url", "http://localhost:1", "--store", &store])?;
        let tenant = run(program, path, &["tenant", "add", "Bench"])?.trim().to_owned();
        let token = std::fs::read_to_string(path.join("operator.token"))?.trim().to_owned();
        Ok(Self { folder, launch: Launch { program: program.into(), tenant, token } })
    }

    /// Runs an operator command and returns its standard output.
    pub(crate) fn command(&self, arguments: &[&str], input: &str) -> Fallible<String> {
        let mut child = Command::new(&self.launch.program)
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        child.stdin.take().ok_or("no input")?.write_all(input.as_bytes())?;
        let output = child.wait_with_output()?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{arguments:?} ended with {}: {why}", output.status).into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    pub(crate) fn tenant(&self) -> &str {
        &self.launch.tenant
    }

    /// The folder with the configuration and the master key.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where a SQLite store is.
    pub(crate) fn sqlite_file(&self) -> PathBuf {
        self.folder.path().join(SQLITE_FILE)
    }

    /// Starts `serve` and waits until it is ready.
    pub(crate) fn start(self) -> Fallible<Program> {
        self.start_by(&[])
    }

    /// The same, pinned to one core.
    pub(crate) fn start_on(self, core: &str) -> Fallible<Program> {
        self.start_by(&["taskset", "-c", core])
    }

    fn start_by(self, wrapper: &[&str]) -> Fallible<Program> {
        let mut program = self.launch.serve(self.folder.path(), wrapper, &[])?;
        program.folder = Some(self.folder);
        Ok(program)
    }
}

/// How `serve` is started for a configured store.
#[derive(Clone)]
struct Launch {
    program: String,
    tenant: String,
    token: String,
}

impl Launch {
    /// Starts `serve` with settings as environment variables, and waits until it is ready.
    fn serve(&self, folder: &Path, wrapper: &[&str], settings: &[(&str, &str)]) -> Fallible<Program> {
        let (public, operator) = (free_address()?, free_address()?);
        let from = Instant::now();
        let mut arguments = wrapper.iter().copied().chain([self.program.as_str()]);
        let child = Command::new(arguments.next().unwrap_or_default())
            .args(arguments)
            .args(["serve", "--listen", &public.to_string(), "--operator-listen", &operator.to_string()])
            .current_dir(folder)
            // The rate limiter is on, so that its cost is measured, but its limit is never reached.
            .env("ALDABA__GATEWAY__RATE_PER_MINUTE", "10000000")
            .envs(settings.iter().copied())
            .stderr(Stdio::null())
            .spawn()?;
        let target = Target {
            address: operator.to_string(),
            path: format!("/operator/v1/tenants/{}/changes", self.tenant),
            token: self.token.clone(),
        };
        let (launch, ready_after) = (self.clone(), Duration::ZERO);
        let mut program = Program { child, operator, public, target, ready_after, launch, folder: None };
        while !get(operator, "/readyz").is_ok_and(|response| response.starts_with("HTTP/1.1 200")) {
            if from.elapsed() > START_TIMEOUT {
                return Err("the service did not become ready".into());
            }
            std::thread::yield_now();
        }
        program.ready_after = from.elapsed();
        Ok(program)
    }
}

impl Program {
    /// A second process on the same store, pinned to one core, with other settings.
    pub(crate) fn start_second(&self, core: &str, settings: &[(&str, &str)]) -> Fallible<Self> {
        let folder = self.folder.as_ref().ok_or("only the first process has a folder")?;
        self.launch.serve(folder.path(), &["taskset", "-c", core], settings)
    }

    /// The file of a SQLite store.
    pub(crate) fn database(&self) -> Option<PathBuf> {
        let folder = self.folder.as_ref()?;
        Some(folder.path().join(SQLITE_FILE)).filter(|file| file.exists())
    }

    pub(crate) fn resident_mib(&self) -> Fallible<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
    }

    /// A counter from `/metrics`.
    pub(crate) fn counter(&self, name: &str) -> Fallible<u64> {
        let text = get(self.operator, "/metrics")?;
        let line = text.lines().find_map(|line| line.strip_prefix(name)).ok_or("no such counter")?;
        Ok(line.trim().parse()?)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The bare handler in its own process.
pub(crate) struct BareHandler {
    child: Child,
    pub(crate) target: Target,
}

impl BareHandler {
    pub(crate) fn start() -> Fallible<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("bare-handler");
        Self::start_by(command)
    }

    /// The same, pinned to one core.
    pub(crate) fn start_on(core: &str) -> Fallible<Self> {
        let mut command = Command::new("taskset");
        command.args(["-c", core]).arg(std::env::current_exe()?).arg("bare-handler");
        Self::start_by(command)
    }

    /// Pinned to one core; returns these bytes at `/fixed`.
    pub(crate) fn returning(core: &str, body: &[u8]) -> Fallible<Self> {
        let mut file = tempfile::NamedTempFile::new()?;
        file.write_all(body)?;
        let mut command = Command::new("taskset");
        command.args(["-c", core]).arg(std::env::current_exe()?).arg("bare-handler");
        command.arg("--body").arg(file.path());
        // The file may go: the handler has read it when it prints its address.
        Self::start_by(command)
    }

    /// Pinned to one core; reads pages from a SQLite file.
    pub(crate) fn reading(core: &str, database: &Path) -> Fallible<Self> {
        let mut command = Command::new("taskset");
        command.args(["-c", core]).arg(std::env::current_exe()?).arg("bare-handler");
        command.arg("--database").arg(database);
        Self::start_by(command)
    }

    fn start_by(mut command: Command) -> Fallible<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut address = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut address)?;
        let target = Target { address: address.trim().into(), path: "/".into(), token: "x".repeat(43) };
        Ok(Self { child, target })
    }
}

impl Drop for BareHandler {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn run(program: &str, folder: &Path, arguments: &[&str]) -> Fallible<String> {
    let output = Command::new(program).args(arguments).current_dir(folder).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn free_address() -> Fallible<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

fn get(address: SocketAddr, path: &str) -> Fallible<String> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n")?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    Ok(response)
}
