//! The settings of outgoing mail.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use domain::Secret;
use lettre::message::Mailbox;
use serde::{Serialize, Serializer};

use super::reader::SettingsReader;
use super::typed::{hidden, seconds};

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Mail {
    /// Without a server no mail is sent.
    pub(crate) server: Option<MailServer>,
    pub(crate) tls: MailTls,
    pub(crate) accept_plain: bool,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) username: Option<String>,
    #[serde(serialize_with = "hidden")]
    pub(crate) password: Option<Secret>,
    #[serde(serialize_with = "address")]
    pub(crate) from: Option<Mailbox>,
    #[serde(serialize_with = "address")]
    pub(crate) reply_to: Option<Mailbox>,
    #[serde(serialize_with = "seconds")]
    pub(crate) timeout: Duration,
    pub(crate) service_name: String,
    pub(crate) contact: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct MailServer {
    pub(crate) host: String,
    pub(crate) port: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MailTls {
    StartTls,
    Tls,
    None,
}

#[allow(clippy::ref_option, reason = "serde calls it with a reference to the field")]
fn address<S: Serializer>(mailbox: &Option<Mailbox>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&mailbox.as_ref().map(Mailbox::to_string).unwrap_or_default())
}

impl MailServer {
    /// `host:port`; an IPv6 address is in brackets.
    fn parse(text: &str) -> Option<Self> {
        let (host, port) = text.rsplit_once(':')?;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let is_valid = match bare {
            Some(address) => address.parse::<IpAddr>().is_ok_and(|ip| ip.is_ipv6()),
            None => !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c)),
        };
        let port = port.parse().ok().filter(|port| *port > 0)?;
        is_valid.then(|| Self { host: bare.unwrap_or(host).to_owned(), port })
    }

    /// Whether the server is certainly on this machine.
    pub(crate) fn is_local(&self) -> bool {
        let is_loopback = |ip: IpAddr| ip.to_canonical().is_loopback();
        self.host == "localhost" || self.host.parse().is_ok_and(is_loopback)
    }
}

pub(super) fn mail(reader: &mut SettingsReader<'_>) -> Mail {
    let server = reader.parsed(
        "mail.server",
        None,
        |text| if text.is_empty() { Some(None) } else { MailServer::parse(text).map(Some) },
        "must be a host and a port, for example smtp.example.com:587",
    );
    let tls = |text: &str| match text {
        "starttls" => Some(MailTls::StartTls),
        "tls" => Some(MailTls::Tls),
        "none" => Some(MailTls::None),
        _ => None,
    };
    let tls = reader.parsed("mail.tls", MailTls::StartTls, tls, "must be starttls, tls or none");
    let mut mailbox = |key: &str| {
        let parse =
            |text: &str| if text.is_empty() { Some(None) } else { text.parse::<Mailbox>().ok().map(Some) };
        let must = "must be a mail address, for example Aldaba <no-reply@example.com>";
        reader.parsed(key, None, parse, must)
    };
    let (from, reply_to) = (mailbox("mail.from"), mailbox("mail.reply_to"));
    let (username, password) = (reader.optional("mail.username"), reader.optional("mail.password"));
    if server.is_some() && reader.optional("mail.from").is_none() {
        reader.add_fault("mail.from", "is missing: mail.server needs it");
    }
    match (&username, &password) {
        (Some(_), None) => reader.add_fault("mail.password", "is missing: mail.username needs it"),
        (None, Some(_)) => reader.add_fault("mail.username", "is missing: mail.password needs it"),
        _ => {}
    }
    Mail {
        server,
        tls,
        accept_plain: reader.flag("mail.accept_plain"),
        ca_file: reader.optional("mail.ca_file").map(PathBuf::from),
        username,
        password: password.map(Secret::new),
        from,
        reply_to,
        timeout: reader.span("mail.timeout", "1s", "10m"),
        service_name: reader.optional("mail.service_name").unwrap_or_else(|| "Aldaba".to_owned()),
        contact: reader.optional("mail.contact").unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, Sources, exposures, load};
    use super::*;

    const SERVER: (&str, &str) = ("mail.server", "smtp.example.com:587");
    const FROM: (&str, &str) = ("mail.from", "Aldaba <no-reply@example.com>");

    fn loaded(settings: &[(&str, &str)]) -> Result<Config, Vec<String>> {
        let flags = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let faults = load(&Sources { flags, ..Sources::default() });
        faults.map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn no_server_means_no_mail() {
        let mail = loaded(&[]).unwrap().mail;
        assert_eq!((mail.server, mail.from), (None, None));
    }

    #[test]
    fn server_is_a_host_and_a_port() {
        for (text, host, port) in [
            ("smtp.example.com:587", "smtp.example.com", 587),
            ("[::1]:25", "::1", 25),
            ("10.0.0.1:465", "10.0.0.1", 465),
        ] {
            let server = MailServer { host: host.into(), port };
            assert_eq!(loaded(&[("mail.server", text), FROM]).unwrap().mail.server, Some(server));
        }
        for text in
            ["smtp.example.com", ":25", "a b:25", "host:0", "host:70000", "::1:25", "[a]:25", "smtp://a:25"]
        {
            let faults = loaded(&[("mail.server", text), FROM]).unwrap_err();
            assert_eq!(
                faults,
                ["the command line: mail.server must be a host and a port, for example smtp.example.com:587"]
            );
        }
    }

    #[test]
    fn incomplete_and_invalid_settings_are_named() {
        for (settings, message) in [
            (vec![SERVER], "mail.from is missing: mail.server needs it"),
            (vec![SERVER, ("mail.from", "nobody")], "mail.from must be a mail address"),
            (vec![SERVER, FROM, ("mail.reply_to", "a@b@c")], "mail.reply_to must be a mail address"),
            (vec![SERVER, FROM, ("mail.username", "me")], "mail.password is missing"),
            (vec![SERVER, FROM, ("mail.password", "x")], "mail.username is missing"),
            (vec![SERVER, FROM, ("mail.tls", "yes")], "mail.tls must be starttls, tls or none"),
            (vec![SERVER, FROM, ("mail.timeout", "0s")], "mail.timeout must be from 1s to 10m"),
        ] {
            let faults = loaded(&settings).unwrap_err();
            assert!(faults.len() == 1 && faults[0].contains(message), "{faults:?}");
        }
    }

    #[test]
    fn password_is_never_printed() {
        let settings = [SERVER, FROM, ("mail.username", "me"), ("mail.password", "hush-hush")];
        let config = loaded(&settings).unwrap();
        assert_eq!(config.mail.password.as_ref().unwrap().reveal(), "hush-hush");
        assert!(!format!("{config:?} {}", serde_json::to_string(&config).unwrap()).contains("hush"));
    }

    #[test]
    fn plain_mail_is_for_this_machine_unless_accepted() {
        let refused = |settings: &[(&str, &str)]| exposures(&loaded(&[settings, &[FROM]].concat()).unwrap());
        let plain = [SERVER, ("mail.tls", "none")];
        let faults = refused(&plain);
        assert_eq!((faults.len(), faults[0].origin.as_str()), (1, "mail.tls"));
        assert!(faults[0].message.contains("set mail.accept_plain = true"), "{}", faults[0].message);
        assert_eq!(refused(&[&plain[..], &[("mail.accept_plain", "true")]].concat()), []);
        for local in ["localhost:25", "127.0.0.1:25", "[::1]:25", "[::ffff:127.0.0.1]:25"] {
            assert_eq!(refused(&[("mail.server", local), ("mail.tls", "none")]), [], "{local}");
        }
        assert_eq!(refused(&[SERVER]), [], "TLS is required");
    }
}
