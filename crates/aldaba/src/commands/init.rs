//! `aldaba init`: writes a configuration for production, with fresh secrets beside it.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use domain::Random as _;
use store::MasterKey;

use crate::cli::Init;
use crate::config::{DEFAULT, StoreUrl};
use crate::exit::{Failure, Outcome};
use crate::output::Output;
use crate::wiring::SystemRandom;

const PRIVATE: u32 = 0o600;
const READABLE: u32 = 0o644;

pub(crate) fn run(args: &Init, output: Output) -> Outcome {
    if StoreUrl::parse(&args.store).is_none() {
        return Err(Failure::Usage("--store takes sqlite:PATH or postgres://…".into()));
    }
    std::fs::create_dir_all(&args.folder)?;
    let auth_url = args.auth_url.as_deref().unwrap_or(&args.base_url);
    let configured = DEFAULT
        .replace("base_url = \"\"", &format!("base_url = {:?}", args.base_url))
        .replace("auth_url = \"\"", &format!("auth_url = {auth_url:?}"))
        .replace("url = \"sqlite:aldaba.db\"", &format!("url = {:?}", args.store))
        .replace("\ntoken = \"\"", "\ntoken_file = \"operator.token\"")
        .replace("\nmaster_key = \"\"", "\nmaster_key_file = \"master.key\"");
    let files = [
        ("aldaba.toml", configured, READABLE),
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
        write_new(&args.folder.join(name), text, *mode)?;
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

fn write_new(path: &Path, text: &str, mode: u32) -> Result<(), Failure> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes())?;
    Ok(file.sync_all()?)
}
