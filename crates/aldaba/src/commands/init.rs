//! `aldaba init`: writes a production configuration and new secrets.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use domain::{Random as _, Secret};
use store::MasterKey;
use zeroize::Zeroizing;

use crate::cli::Init;
use crate::config::{DEFAULT, StoreUrl, address};
use crate::durable;
use crate::exit::{CommandResult, Failure};
use crate::output::Output;
use crate::wiring::SystemRandom;

/// All files are private: the configuration, too, may contain a secret, such as the password of a database.
const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;
/// The default port of the operator listener.
const OPERATOR_PORT: u16 = 8081;
/// A proxy on this machine: the service listens on a loopback address, so that no other can reach it.
const PROXY_HERE: &str = r#"["127.0.0.1", "::1"]"#;

pub(crate) fn run(args: &Init, set: &[String], output: Output) -> CommandResult {
    check(args, set)?;
    durable::create_folder(&args.folder, FOLDER_MODE).map_err(|error| {
        Failure::Failed(format!("cannot create the folder {}: {error}", args.folder.display()))
    })?;
    let files = [
        ("aldaba.toml", Zeroizing::new(configuration(args))),
        ("master.key", line(&MasterKey::generate(&SystemRandom))),
        ("operator.token", line(&Secret::new(SystemRandom.token()))),
    ];
    for (name, _) in &files {
        if args.folder.join(name).symlink_metadata().is_ok() {
            return Err(Failure::Refused(format!(
                "{} already exists; nothing was written",
                args.folder.join(name).display()
            )));
        }
    }
    for (name, text) in &files {
        let path = args.folder.join(name);
        write_new(&path, text)
            .map_err(|error| Failure::Failed(format!("cannot write {}: {error}", path.display())))?;
    }
    // A master key that a power cut takes back makes a store that was created with it unreadable.
    durable::sync_folder(&args.folder)
        .map_err(|error| Failure::Failed(format!("cannot sync {}: {error}", args.folder.display())))?;
    let config = args.folder.join("aldaba.toml");
    output.print_message(
        "Keep a copy of master.key: the store cannot be opened without it, and backups do not contain it.",
    );
    if needs_proxy(args) {
        output.print_message(
            "The service expects a proxy on this machine that terminates TLS (server.trusted_proxies). If the proxy is \
             on another machine, change server.listen and server.trusted_proxies; for TLS without a proxy, set \
             server.tls_certificates and server.tls_key and empty server.trusted_proxies.",
        );
    }
    let data = serde_json::json!({"config": config, "files": files.map(|(name, _)| name)});
    output.result(&data, || {
        format!(
            "wrote {}, master.key and operator.token\nnext: aldaba --config {0} check, then serve, which prints a one-time \
             link for the first operator",
            config.display()
        )
    });
    Ok(())
}

/// The secret as a line of a file; zeroed on drop.
fn line(secret: &Secret) -> Zeroizing<String> {
    Zeroizing::new(format!("{}\n", secret.reveal()))
}

/// Refuses values that `check` and `serve` would refuse.
fn check(args: &Init, set: &[String]) -> CommandResult {
    if let Some(pair) = set.first() {
        return Err(Failure::Usage(format!(
            "init does not accept --set ({pair}); use --base-url, --auth-url or --store, or edit aldaba.toml afterwards"
        )));
    }
    if StoreUrl::parse(&args.store).is_none() {
        return Err(Failure::Usage("--store must be sqlite:PATH or postgres://…".into()));
    }
    for (flag, url) in [("--base-url", Some(&args.base_url)), ("--auth-url", args.auth_url.as_ref())] {
        let wrong = |url: &String| address::format_error(url).or_else(|| address::production_error(url));
        if let Some((url, why)) = url.and_then(|url| Some((url, wrong(url)?))) {
            return Err(Failure::Usage(format!("{flag} {url:?} {why}")));
        }
    }
    Ok(())
}

/// Whether a proxy must terminate TLS: the addresses are https and a new configuration has no certificate.
fn needs_proxy(args: &Init) -> bool {
    [Some(&args.base_url), args.auth_url.as_ref()]
        .into_iter()
        .flatten()
        .any(|url| url.starts_with("https://"))
}

/// The default file with the given values. If the base URL is a loopback address, the service listens on it.
fn configuration(args: &Init) -> String {
    let auth_url = args.auth_url.as_deref().unwrap_or(&args.base_url);
    let mut text = DEFAULT
        .replace("base_url = \"\"", &format!("base_url = {:?}", args.base_url))
        .replace("auth_url = \"\"", &format!("auth_url = {auth_url:?}"))
        .replace("url = \"sqlite:aldaba.db\"", &format!("url = {:?}", args.store))
        .replace("\ntoken = \"\"", "\ntoken_file = \"operator.token\"")
        .replace("\nmaster_key = \"\"", "\nmaster_key_file = \"master.key\"");
    if let Some(listen) = address::loopback_listener(&args.base_url) {
        if listen.port() == OPERATOR_PORT {
            text = text.replace("127.0.0.1:8081", "127.0.0.1:8082");
        }
        text = text.replace("\"127.0.0.1:8080\"", &format!("\"{listen}\""));
    }
    if needs_proxy(args) {
        text = text.replace("\ntrusted_proxies = []", &format!("\ntrusted_proxies = {PROXY_HERE}"));
    }
    text
}

fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
