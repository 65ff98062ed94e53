//! The servers of one run, on free loopback ports, and the JSON file that describes them to the clients.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Value, json};

use super::{
    Directories,
    installation::{Installation, aldaba},
    process::Process,
    with_path,
};
use crate::{machine::free_port, temp_dir::TempDir};

/// How long a server may take to become ready.
const READY_MAX: Duration = Duration::from_secs(60);

/// Another process may take the free port before the server does.
const PORT_ATTEMPTS_MAX: usize = 5;

/// Enough for the tenant page to show its search field.
const TENANTS: usize = 12;

/// Browsers that run at the same time need separate accounts: an account's page shows all of its permissions.
const BROWSERS: usize = 2;

/// Each walk through invitation and second factors begins with an account that has none: so many in each language.
const FACTOR_WALKS: usize = 4;

#[derive(Debug)]
struct Environment {
    dev: Process,
    /// None if the clients need only the development mode.
    serve: Option<Process>,
    file: PathBuf,
    _folder: TempDir,
}

impl Environment {
    /// `aldaba dev` as an integrator starts it, and `aldaba serve` with applications of every kind.
    fn start(program: &Path, directories: &Directories) -> Result<Self, String> {
        let folder = temporary()?;
        let port = free_port()?;
        let callback = format!("http://localhost:{port}/callback");
        let mail_port = free_port()?;
        let (dev, ready) = dev(program, &["--redirect-uri", &callback], &mail_settings(mail_port))?;
        let store = format!("sqlite:{}", folder.path().join("aldaba.db").display());
        let installation = Installation::init(program, folder.path().join("site"), &store)?;
        let site = fill(&installation, port)?;
        let (serve, url) = serve(&installation)?;
        let environment = json!({
            "dev": ready,
            "site": {
                "auth_url": url,
                "users": site.users,
                "tenants": site.tenants,
                "clients": site.clients,
                "program": program,
                "folder": installation.folder(),
            },
            "callback": callback,
            "callback_port": port,
            "mail_port": mail_port,
            "screenshots": directories.screenshots,
        });
        let file = folder.path().join("world.json");
        fs::write(&file, environment.to_string()).map_err(with_path(&file))?;
        Ok(Self { dev, serve: Some(serve), file, _folder: folder })
    }

    /// `aldaba dev` alone, for a client that calls everything that the document allows.
    fn start_dev(program: &Path) -> Result<Self, String> {
        let callback = format!("http://localhost:{}/callback", free_port()?);
        let (dev, ready) = dev(program, &empty(&callback), &[])?;
        Self::of_dev(dev, temporary()?, &json!({"dev": ready, "callback": callback}))
    }

    /// `aldaba dev` alone, for the walk through the portal: a mail that another client has not taken would delay its own.
    fn start_portal(program: &Path, directories: &Directories) -> Result<Self, String> {
        let (port, mail_port) = (free_port()?, free_port()?);
        let callback = format!("http://localhost:{port}/callback");
        let mut settings = mail_settings(mail_port);
        // What is for the sandbox alone is approved at once, for one product.
        settings.push("portal.approval.accounting=automatic".to_owned());
        let (dev, ready) = dev(program, &empty(&callback), &settings)?;
        let environment = json!({
            "dev": ready,
            "site": {"auth_url": ready["auth_url"]},
            "callback": callback,
            "callback_port": port,
            "mail_port": mail_port,
            "screenshots": directories.screenshots,
        });
        Self::of_dev(dev, temporary()?, &environment)
    }

    /// `aldaba dev` with sample records, whose sessions the tests of the console age in the store's file, and a new
    /// installation with the link of its first operator.
    fn start_console(program: &Path, directories: &Directories) -> Result<Self, String> {
        let folder = temporary()?;
        let (port, mail_port) = (free_port()?, free_port()?);
        let callback = format!("http://localhost:{port}/callback");
        let store = folder.path().join("aldaba.db");
        let mut settings = mail_settings(mail_port);
        settings.push(format!("backup.directory={}", folder.path().join("backups").display()));
        let data = folder.path().display().to_string();
        let (dev, ready) = dev(program, &["--data", &data, "--redirect-uri", &callback], &settings)?;
        let new_store = format!("sqlite:{}", folder.path().join("new.db").display());
        let installation = Installation::init(program, folder.path().join("site"), &new_store)?;
        let (serve, link) = serve_first_operator(&installation)?;
        let environment = json!({
            "dev": ready,
            "site": {"auth_url": ready["auth_url"], "first_operator": link},
            "callback": callback,
            "callback_port": port,
            "mail_port": mail_port,
            "store": store,
            "screenshots": directories.screenshots,
        });
        Ok(Self { serve: Some(serve), ..Self::of_dev(dev, folder, &environment)? })
    }

    fn of_dev(dev: Process, folder: TempDir, environment: &Value) -> Result<Self, String> {
        let file = folder.path().join("world.json");
        fs::write(&file, environment.to_string()).map_err(with_path(&file))?;
        Ok(Self { dev, serve: None, file, _folder: folder })
    }

    /// The path of the JSON file.
    fn file(&self) -> &Path {
        &self.file
    }

    fn stop(self) -> Result<(), String> {
        self.dev.stop()?;
        self.serve.map_or(Ok(()), Process::stop)
    }
}

/// The servers of all clients. Most clients share theirs; three have one of their own.
#[derive(Debug)]
pub(super) struct Environments {
    shared: Environment,
    schemathesis: Environment,
    portal: Environment,
    console: Environment,
}

impl Environments {
    pub(super) fn start(program: &Path, directories: &Directories) -> Result<Self, String> {
        Ok(Self {
            shared: Environment::start(program, directories)?,
            schemathesis: Environment::start_dev(program)?,
            portal: Environment::start_portal(program, directories)?,
            console: Environment::start_console(program, directories)?,
        })
    }

    /// The file about the servers that clients share.
    pub(super) fn shared(&self) -> &Path {
        self.shared.file()
    }

    pub(super) fn schemathesis(&self) -> &Path {
        self.schemathesis.file()
    }

    pub(super) fn portal(&self) -> &Path {
        self.portal.file()
    }

    pub(super) fn console(&self) -> &Path {
        self.console.file()
    }

    pub(super) fn stop(self) -> Result<(), String> {
        let stopped = [self.shared, self.schemathesis, self.portal, self.console].map(Environment::stop);
        stopped.into_iter().collect()
    }
}

/// For a server whose mails a client receives.
fn mail_settings(port: u16) -> Vec<String> {
    let server = format!("mail.server=localhost:{port}");
    vec![server, "mail.tls=none".into(), "mail.from=Aldaba <no-reply@example.com>".into()]
}

fn temporary() -> Result<TempDir, String> {
    TempDir::new("clients").map_err(|error| format!("no temporary folder: {error}"))
}

/// The arguments of `dev` without sample records.
fn empty(callback: &str) -> [&str; 3] {
    ["--empty", "--redirect-uri", callback]
}

fn dev(program: &Path, arguments: &[&str], settings: &[String]) -> Result<(Process, Value), String> {
    let mut command = aldaba(program);
    command.args(["dev", "--json", "--listen", "127.0.0.1:0"]).args(arguments);
    // Schemathesis creates many webhooks.
    command.args(["--set", "delivery.webhooks_max=10000"]);
    for setting in settings {
        command.args(["--set", setting]);
    }
    let mut process = Process::start("aldaba dev", &mut command)?;
    let ready = process.line(READY_MAX, |line| serde_json::from_str(line).ok())?;
    Ok((process, ready))
}

fn serve(installation: &Installation<'_>) -> Result<(Process, String), String> {
    let (process, port, ()) = serve_until(installation, is_serving)?;
    Ok((process, format!("http://127.0.0.1:{port}")))
}

/// A new installation, and the link that its log has for the first operator.
fn serve_first_operator(installation: &Installation<'_>) -> Result<(Process, String), String> {
    let link = |line: &str| {
        let line: Value = serde_json::from_str(line).ok()?;
        line["link"].as_str().map(str::to_owned)
    };
    let (mut process, _, link) = serve_until(installation, link)?;
    process.line(READY_MAX, is_serving)?;
    Ok((process, link))
}

fn is_serving(line: &str) -> Option<()> {
    line.contains(r#""message":"serving""#).then_some(())
}

/// Starts the server on a free port and reads its log up to a line.
fn serve_until<T>(
    installation: &Installation<'_>,
    find: impl Fn(&str) -> Option<T>,
) -> Result<(Process, u16, T), String> {
    let mut reason = String::new();
    for _ in 0..PORT_ATTEMPTS_MAX {
        let port = free_port()?;
        let mut process = installation.serve(port)?;
        match process.line(READY_MAX, &find) {
            Ok(found) => return Ok((process, port, found)),
            Err(messages) => reason = messages,
        }
    }
    Err(reason)
}

/// The data of a site, as the JSON file describes it.
struct SiteData {
    tenants: Vec<Value>,
    users: Value,
    clients: Value,
}

fn fill(installation: &Installation<'_>, callback_port: u16) -> Result<SiteData, String> {
    let mut tenants = vec![
        installation.add_tenant("t-1", "Asesoría Peñalver", "4101")?,
        installation.add_tenant("t-2", "Gestoría Ibáñez & Núñez", "4102")?,
    ];
    for number in 3..=TENANTS {
        let name = format!("Comunidad de Bienes {number}");
        tenants.push(installation.add_tenant(&format!("t-{number}"), &name, &format!("41{number:02}"))?);
    }
    let ids: Vec<String> = (1..=TENANTS).map(|number| format!("t-{number}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut browsers = Vec::new();
    for number in 0..BROWSERS {
        browsers.push(json!({
            "two": installation.add_user(&format!("inaki{number}@example.com"), "Iñaki", &ids[..2])?,
            "many": installation.add_user(&format!("lucia{number}@example.com"), "Lucía", &ids)?,
        }));
    }
    let mut factors = Vec::new();
    for number in 0..FACTOR_WALKS {
        for lang in ["es", "en"] {
            let email = format!("nerea-{lang}-{number}@example.com");
            factors.push(installation.add_user_with_lang(&email, "Nerea", &ids[..1], lang)?);
        }
    }
    let mut invitations = Vec::new();
    for number in 0..FACTOR_WALKS {
        for lang in ["es", "en"] {
            let email = format!("olaia-{lang}-{number}@example.com");
            invitations.push(installation.invite_user(&email, ids[0], lang)?);
        }
    }
    let users = json!({
        "invitations": invitations,
        "one": installation.add_user("maria@example.com", "María", &ids[..1])?,
        "two": installation.add_user("inaki@example.com", "Iñaki", &ids[..2])?,
        "browsers": browsers,
        "factors": factors,
    });
    let callback = format!("http://localhost:{callback_port}/callback");
    let signed_out = format!("http://localhost:{callback_port}/signed-out");
    let default_flags = ["--redirect-uri", &callback, "--post-logout-uri", &signed_out];
    let add_client =
        |name: &str, flags: &[&str]| installation.add_client(name, &[&default_flags[..], flags].concat());
    let clients = json!({
        "usual": add_client("Panel de ventas", &["--redirect-uri", "urn:ietf:wg:oauth:2.0:oob"])?,
        "strict": add_client("Cuadro de mando", &["--pkce", "required"])?,
        "consent": add_client("Conciliación bancaria", &["--consent"])?,
    });
    Ok(SiteData { tenants, users, clients })
}
