//! `aldaba init`: writes a production configuration and new secrets.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use domain::Random as _;
use store::MasterKey;

use crate::cli::Init;
use crate::config::{DEFAULT, StoreUrl, address};
use crate::exit::{CommandResult, Failure};
use crate::output::Output;
use crate::wiring::SystemRandom;

const PRIVATE: u32 = 0o600;
const READABLE: u32 = 0o644;
/// The default port of the operator listener.
const OPERATOR_PORT: u16 = 8081;

pub(crate) fn run(args: &Init, set: &[String], output: Output) -> CommandResult {
    check(args, set)?;
    std::fs::create_dir_all(&args.folder).map_err(|error| {
        Failure::Failed(format!("cannot create the folder {}: {error}", args.folder.display()))
    })?;
    let files = [
        ("aldaba.toml", configuration(args), READABLE),
        ("master.key", MasterKey::generate(&SystemRandom).reveal().to_owned() + "\n", PRIVATE),
        ("operator.token", SystemRandom.token() + "\n", PRIVATE),
    ];
    for (name, _, _) in &files {
        if args.folder.join(name).exists() {
            return Err(Failure::Refused(format!(
                "{} already exists; nothing was written",
                args.folder.join(name).display()
            )));
        }
    }
    for (name, text, mode) in &files {
        let path = args.folder.join(name);
        write_new(&path, text, *mode)
            .map_err(|error| Failure::Failed(format!("cannot write {}: {error}", path.display())))?;
    }
    let config = args.folder.join("aldaba.toml");
    output.print_message(
        "Keep a copy of master.key: the store cannot be opened without it, and backups do not contain it.",
    );
    let data = serde_json::json!({"config": config, "files": files.map(|(name, _, _)| name)});
    output.result(&data, || {
        format!(
            "wrote {}, master.key and operator.token\nnext: aldaba --config {0} check, then serve",
            config.display()
        )
    });
    Ok(())
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
    text
}

fn write_new(path: &Path, text: &str, mode: u32) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
