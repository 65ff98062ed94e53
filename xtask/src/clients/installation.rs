//! A site created by `aldaba init`, and the commands that add tenants, users and clients to it.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use super::process::Process;

pub(super) const PASSWORD: &str = "una contraseña larga";

#[derive(Debug)]
pub(super) struct Installation<'a> {
    program: &'a Path,
    folder: PathBuf,
}

impl<'a> Installation<'a> {
    pub(super) fn init(program: &'a Path, folder: PathBuf, store: &str) -> Result<Self, String> {
        let installation = Self { program, folder };
        let base_url = ["--base-url", "http://127.0.0.1:8080", "--store", store];
        finish(aldaba(program).arg("init").arg(&installation.folder).args(base_url), "")?;
        Ok(installation)
    }

    /// The folder with the configuration, where commands need not name it.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The program with this site's configuration.
    fn command(&self) -> Command {
        let mut command = aldaba(self.program);
        command.arg("--config").arg(self.folder.join("aldaba.toml"));
        command
    }

    pub(super) fn add_tenant(&self, id: &str, name: &str, code: &str) -> Result<Value, String> {
        finish(self.command().args(["tenant", "add", name, "--id", id, "--short-code", code]), "")?;
        Ok(json!({"id": id, "name": name}))
    }

    pub(super) fn add_user(&self, email: &str, name: &str, tenants: &[&str]) -> Result<Value, String> {
        self.add_user_with_lang(email, name, tenants, "es")
    }

    /// The pages behind the sign-in have the account's language.
    pub(super) fn add_user_with_lang(
        &self,
        email: &str,
        name: &str,
        tenants: &[&str],
        lang: &str,
    ) -> Result<Value, String> {
        let mut command = self.command();
        command.args(["user", "add", email, "--given-name", name, "--lang", lang]);
        for tenant in tenants {
            command.args(["--tenant", tenant]);
        }
        finish(&mut command, &format!("{PASSWORD}\n"))?;
        Ok(json!({"email": email, "name": name, "password": PASSWORD, "tenants": tenants, "lang": lang}))
    }

    /// Invites a user. Without a mail server the command prints the link; the address in front of its path is not the
    /// server's yet.
    pub(super) fn invite_user(&self, email: &str, tenant: &str, lang: &str) -> Result<Value, String> {
        let mut command = self.command();
        command.args(["user", "invite", email, "--tenant", tenant, "--lang", lang, "--json"]);
        let output = finish(&mut command, "")?;
        let sent: Value = serde_json::from_str(&output)
            .map_err(|error| format!("aldaba user invite: {error}: {output}"))?;
        let token = sent["link"].as_str().and_then(|link| link.split_once("token="));
        let (_, token) = token.ok_or_else(|| format!("no link in {output}"))?;
        Ok(json!({"email": email, "password": PASSWORD, "token": token, "lang": lang}))
    }

    /// Registers a client and returns the command's JSON output with its name.
    pub(super) fn add_client(&self, name: &str, flags: &[&str]) -> Result<Value, String> {
        let output = finish(self.command().args(["client", "add", name, "--json"]).args(flags), "")?;
        let mut client: Value =
            serde_json::from_str(&output).map_err(|error| format!("aldaba client add: {error}: {output}"))?;
        client["name"] = name.into();
        Ok(client)
    }

    /// `aldaba serve`, not yet ready.
    pub(super) fn serve(&self, port: u16) -> Result<Process, String> {
        let (listen, url) = (format!("127.0.0.1:{port}"), format!("http://127.0.0.1:{port}"));
        let mut command = self.command();
        command.args(["serve", "--listen", &listen, "--operator-listen", "127.0.0.1:0"]);
        for set in [
            format!("server.auth_url={url}"),
            format!("server.base_url={url}"),
            // The clients send many wrong passwords from this one address.
            "identity.address_failures_max=100000".to_owned(),
            "server.drain=1s".to_owned(),
            "server.drain_delay=0s".to_owned(),
            "logging.format=json".to_owned(),
        ] {
            command.args(["--set", &set]);
        }
        Process::start("aldaba serve", &mut command)
    }
}

/// The program, without any ALDABA_ variables of the environment.
pub(crate) fn aldaba(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("ALDABA_") {
            command.env_remove(name);
        }
    }
    command.current_dir("/");
    command
}

/// Runs a command with this input and returns its standard output.
fn finish(command: &mut Command, input: &str) -> Result<String, String> {
    let what = format!("{command:?}");
    let with_command = |error: std::io::Error| format!("{what}: {error}");
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().map_err(with_command)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes()).map_err(with_command)?;
    }
    let output = child.wait_with_output().map_err(with_command)?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("{what}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)))
    }
}
