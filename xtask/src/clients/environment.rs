//! The servers of one run, on loopback and free ports, and the file that tells the clients of them.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Value, json};

use super::{
    Directories, about,
    installation::{Installation, aldaba},
    process::Process,
};
use crate::{machine::free_port, temp_dir::TempDir};

/// How long a server may take to be ready.
const READY: Duration = Duration::from_secs(60);

/// Another process may take the free port before the server does.
const PORTS_TRIED_MAX: usize = 5;

/// As many as make the list one to search in.
const MANY_TENANTS: usize = 12;

/// Who walks through the pages at the same time must not share an account: each sees the other's permissions.
const BROWSERS: usize = 2;

#[derive(Debug)]
pub(super) struct Environment {
    dev: Process,
    /// None where the clients need only the development mode.
    serve: Option<Process>,
    file: PathBuf,
    _folder: TempDir,
}

impl Environment {
    /// `aldaba dev` as an integrator starts it, and `aldaba serve` with applications of every kind.
    pub(super) fn start(program: &Path, directories: &Directories) -> Result<Self, String> {
        let folder = TempDir::new("clients").map_err(|error| format!("no temporary folder: {error}"))?;
        let port = free_port()?;
        let callback = format!("http://localhost:{port}/callback");
        let (dev, ready) = dev(program, &callback)?;
        let store = format!("sqlite:{}", folder.path().join("aldaba.db").display());
        let installation = Installation::init(program, folder.path().join("site"), &store)?;
        let filled = fill(&installation, port)?;
        let (serve, url) = serve(&installation)?;
        let environment = json!({
            "dev": ready,
            "site": {"auth_url": url, "users": filled.users, "tenants": filled.tenants, "clients": filled.clients},
            "callback": callback,
            "callback_port": port,
            "screenshots": directories.screenshots,
        });
        let file = folder.path().join("world.json");
        fs::write(&file, environment.to_string()).map_err(about(&file))?;
        Ok(Self { dev, serve: Some(serve), file, _folder: folder })
    }

    /// `aldaba dev` alone.
    pub(super) fn start_dev(program: &Path) -> Result<Self, String> {
        let folder = TempDir::new("clients").map_err(|error| format!("no temporary folder: {error}"))?;
        let callback = format!("http://localhost:{}/callback", free_port()?);
        let (dev, ready) = dev(program, &callback)?;
        let file = folder.path().join("world.json");
        let environment = json!({"dev": ready, "callback": callback});
        fs::write(&file, environment.to_string()).map_err(about(&file))?;
        Ok(Self { dev, serve: None, file, _folder: folder })
    }

    /// What the clients read.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    pub(super) fn stop(self) -> Result<(), String> {
        self.dev.stop()?;
        self.serve.map_or(Ok(()), Process::stop)
    }
}

fn dev(program: &Path, callback: &str) -> Result<(Process, Value), String> {
    let mut command = aldaba(program);
    command.args(["dev", "--json", "--empty", "--listen", "127.0.0.1:0", "--redirect-uri", callback]);
    // Schemathesis subscribes to whatever it can.
    command.args(["--set", "delivery.webhooks_max=10000"]);
    let mut process = Process::start("aldaba dev", &mut command)?;
    let ready = process.line(READY, |line| serde_json::from_str(line).ok())?;
    Ok((process, ready))
}

fn serve(installation: &Installation<'_>) -> Result<(Process, String), String> {
    let mut reason = String::new();
    for _ in 0..PORTS_TRIED_MAX {
        let port = free_port()?;
        let mut process = installation.serve(port)?;
        match process.line(READY, |line| line.contains(r#""message":"serving""#).then_some(())) {
            Ok(()) => return Ok((process, format!("http://127.0.0.1:{port}"))),
            Err(messages) => reason = messages,
        }
    }
    Err(reason)
}

/// What a site holds, as the clients are told.
struct Filled {
    tenants: Vec<Value>,
    users: Value,
    clients: Value,
}

fn fill(installation: &Installation<'_>, callback_port: u16) -> Result<Filled, String> {
    let mut tenants = vec![
        installation.add_tenant("t-1", "Asesoría Peñalver", "4101")?,
        installation.add_tenant("t-2", "Gestoría Ibáñez & Núñez", "4102")?,
    ];
    for number in 3..=MANY_TENANTS {
        let name = format!("Comunidad de Bienes {number}");
        tenants.push(installation.add_tenant(&format!("t-{number}"), &name, &format!("41{number:02}"))?);
    }
    let ids: Vec<String> = (1..=MANY_TENANTS).map(|number| format!("t-{number}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut browsers = Vec::new();
    for number in 0..BROWSERS {
        browsers.push(json!({
            "two": installation.add_user(&format!("inaki{number}@example.com"), "Iñaki", &ids[..2])?,
            "many": installation.add_user(&format!("lucia{number}@example.com"), "Lucía", &ids)?,
        }));
    }
    let users = json!({
        "one": installation.add_user("maria@example.com", "María", &ids[..1])?,
        "two": installation.add_user("inaki@example.com", "Iñaki", &ids[..2])?,
        "browsers": browsers,
    });
    let callback = format!("http://localhost:{callback_port}/callback");
    let after = format!("http://localhost:{callback_port}/signed-out");
    let usual = ["--redirect-uri", &callback, "--post-logout-uri", &after];
    let with = |name: &str, flags: &[&str]| installation.add_client(name, &[&usual[..], flags].concat());
    let clients = json!({
        "usual": with("Panel de ventas", &["--redirect-uri", "urn:ietf:wg:oauth:2.0:oob"])?,
        "strict": with("Cuadro de mando", &["--no-callback-id-token", "--pkce", "required"])?,
        "consent": with("Conciliación bancaria", &["--consent"])?,
    });
    Ok(Filled { tenants, users, clients })
}
