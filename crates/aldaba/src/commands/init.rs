//! `aldaba init`: writes a configuration for production, with fresh secrets beside it.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use domain::Random as _;
use store::MasterKey;

use crate::cli::Init;
use crate::config::{DEFAULT, StoreUrl, address};
use crate::exit::{Failure, Outcome};
use crate::output::Output;
use crate::wiring::SystemRandom;

const PRIVATE: u32 = 0o600;
const READABLE: u32 = 0o644;
/// Where the operator's side listens by default.
const OPERATOR_PORT: u16 = 8081;

pub(crate) fn run(args: &Init, set: &[String], output: Output) -> Outcome {
    check(args, set)?;
    std::fs::create_dir_all(&args.folder)
        .map_err(|error| Failure::Failed(format!("{} cannot be made: {error}", args.folder.display())))?;
    let files = [
        ("aldaba.toml", configured(args), READABLE),
        ("master.key", MasterKey::generate(&SystemRandom).reveal().to_owned() + "\n", PRIVATE),
        ("operator.token", SystemRandom.token() + "\n", PRIVATE),
    ];
    for (name, _, _) in &files {
        if args.folder.join(name).exists() {
            return Err(Failure::Refused(format!(
                "{} is there already; nothing was written",
                args.folder.join(name).display()
            )));
        }
    }
    for (name, text, mode) in &files {
        let path = args.folder.join(name);
        write_new(&path, text, *mode)
            .map_err(|error| Failure::Failed(format!("{} cannot be written: {error}", path.display())))?;
    }
    let config = args.folder.join("aldaba.toml");
    output.say("Keep master.key: without it the store cannot be opened, and it is in no backup.");
    let data = serde_json::json!({"config": config, "files": files.map(|(name, _, _)| name)});
    output.result(&data, || {
        format!(
            "wrote {}, master.key and operator.token\nnext: aldaba --config {0} check, then serve",
            config.display()
        )
    });
    Ok(())
}

/// Refuses what `check` and `serve` would refuse.
fn check(args: &Init, set: &[String]) -> Outcome {
    if let Some(pair) = set.first() {
        return Err(Failure::Usage(format!(
            "init takes no --set ({pair}); use --base-url, --auth-url or --store, or edit the file that it writes"
        )));
    }
    if StoreUrl::parse(&args.store).is_none() {
        return Err(Failure::Usage("--store takes sqlite:PATH or postgres://…".into()));
    }
    for (flag, url) in [("--base-url", Some(&args.base_url)), ("--auth-url", args.auth_url.as_ref())] {
        let wrong = |url: &String| address::misshapen(url).or_else(|| address::unsafe_outside(url));
        if let Some((url, why)) = url.and_then(|url| Some((url, wrong(url)?))) {
            return Err(Failure::Usage(format!("{flag} {url:?} {why}")));
        }
    }
    Ok(())
}

/// The default file with what is known by now. An address of this machine is listened on itself.
fn configured(args: &Init) -> String {
    let auth_url = args.auth_url.as_deref().unwrap_or(&args.base_url);
    let mut text = DEFAULT
        .replace("base_url = \"\"", &format!("base_url = {:?}", args.base_url))
        .replace("auth_url = \"\"", &format!("auth_url = {auth_url:?}"))
        .replace("url = \"sqlite:aldaba.db\"", &format!("url = {:?}", args.store))
        .replace("\ntoken = \"\"", "\ntoken_file = \"operator.token\"")
        .replace("\nmaster_key = \"\"", "\nmaster_key_file = \"master.key\"");
    if let Some(listen) = address::listener_of(&args.base_url) {
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
