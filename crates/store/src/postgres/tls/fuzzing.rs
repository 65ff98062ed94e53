//! Checks of the URL of a PostgreSQL store, without opening certificates or connections.

use std::net::IpAddr;

use domain::fuzzing::signature;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::{Parameters, chain, mode, split};

/// What no message may repeat.
const PASSWORD: &str = "correct-horse-battery";

/// Any text after the password of a URL: host, database and parameters. A refusal does not repeat the password, the two parameters that
/// the client of PostgreSQL does not know are taken out once, and a connection to another machine is encrypted unless the URL says
/// otherwise.
pub fn connection_url(data: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(data.strip_suffix(b"\n").unwrap_or(data));
    if text.contains(PASSWORD) {
        return 0;
    }
    let url = format!("postgres://app:{PASSWORD}@{text}");
    let (rest, parameters) = match split(&url) {
        Ok(parts) => parts,
        Err(error) => return refused(&error.to_string()),
    };
    assert!(rest.starts_with(&format!("postgres://app:{PASSWORD}@")), "{text:?}");
    match split(&rest) {
        Ok(again) => assert_eq!(again, (rest.clone(), Parameters::default()), "{text:?}"),
        Err(error) => panic!("{text:?} without its parameters: {error}"),
    }
    let config: Config = match rest.parse() {
        Ok(config) => config,
        Err(error) => return refused(&chain(&error)),
    };
    assert!(!format!("{config:?}").contains(PASSWORD), "{text:?}");
    if !text.contains("word") && !text.contains('%') {
        assert_eq!(config.get_password(), Some(PASSWORD.as_bytes()), "{text:?}");
    }
    let chosen = mode(&parameters, &config);
    let is_remote = is_remote(&config);
    if is_remote {
        let asked = parameters.mode.unwrap_or(SslMode::Require);
        assert_eq!(chosen, asked, "{text:?}");
    }
    assert!(parameters.mode != Some(SslMode::Disable) || chosen == SslMode::Disable, "{text:?}");
    let facts = [is_remote, parameters.mode.is_some(), parameters.authorities.is_some()];
    let facts = facts.into_iter().fold(1, |facts, fact| facts << 1 | u64::from(fact));
    signature(&format!("{chosen:?}")) & !0xff | facts
}

fn refused(message: &str) -> u64 {
    assert!(!message.is_empty() && !message.contains(PASSWORD), "{message}");
    signature(message)
}

/// Whether a connection leaves this machine.
fn is_remote(config: &Config) -> bool {
    let addresses = config.get_hostaddrs();
    if !addresses.is_empty() {
        return addresses.iter().any(|address| !address.is_loopback());
    }
    config.get_hosts().iter().any(|host| match host {
        Host::Tcp(name) => name != "localhost" && !name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback()),
        Host::Unix(_) => false,
    })
}
