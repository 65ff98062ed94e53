//! The SMTP server: connects with TLS as configured, authenticates, and hands over messages.

use std::path::Path;

use lettre::Message;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{AsyncSmtpConnection, Certificate, TlsParameters};
use lettre::transport::smtp::extension::ClientId;

use super::retry::{SendError, without_secrets};
use crate::config::{Config, MailServer, MailTls};

/// The server closes the connection; it may take mails again soon.
const CLOSING: u16 = 421;
/// The first line of a certificate in a PEM file.
const PEM: &[u8] = b"-----BEGIN CERTIFICATE-----";

pub(super) struct SmtpServer {
    server: MailServer,
    tls: Tls,
    credentials: Option<Credentials>,
    hello: ClientId,
}

enum Tls {
    None,
    /// From the command STARTTLS on.
    Upgraded(TlsParameters),
    /// From the start.
    Implicit(TlsParameters),
}

/// A connection that can take mails.
pub(super) struct Session(AsyncSmtpConnection);

impl SmtpServer {
    /// Checks the settings; connects to nothing.
    pub(super) fn new(config: &Config, server: &MailServer) -> Result<Self, String> {
        let mail = &config.mail;
        let parameters = || tls_parameters(&server.host, mail.ca_file.as_deref());
        let tls = match mail.tls {
            MailTls::StartTls => Tls::Upgraded(parameters()?),
            MailTls::Tls => Tls::Implicit(parameters()?),
            MailTls::None => Tls::None,
        };
        let credentials = mail
            .username
            .as_ref()
            .zip(mail.password.as_ref())
            .map(|(username, password)| Credentials::new(username.clone(), password.reveal().to_owned()));
        Ok(Self { server: server.clone(), tls, credentials, hello: hello(&config.server.base_url) })
    }

    pub(super) async fn connect(&self) -> Result<Session, SendError> {
        self.try_connect().await.map(Session).map_err(|error| SendError::Server(describe(&error)))
    }

    async fn try_connect(&self) -> Result<AsyncSmtpConnection, Error> {
        let address = (self.server.host.as_str(), self.server.port);
        let implicit = match &self.tls {
            Tls::Implicit(parameters) => Some(parameters.clone()),
            Tls::None | Tls::Upgraded(_) => None,
        };
        let mut connection =
            AsyncSmtpConnection::connect_tokio1(address, None, &self.hello, implicit, None).await?;
        if let Tls::Upgraded(parameters) = &self.tls {
            connection.starttls(parameters.clone(), &self.hello).await?;
        }
        if let Some(credentials) = &self.credentials {
            connection.auth(DEFAULT_MECHANISMS, credentials).await?;
        }
        Ok(connection)
    }
}

impl Session {
    /// Whether the server still answers.
    pub(super) async fn is_open(&mut self) -> bool {
        self.0.test_connected().await
    }

    /// Hands over a message. After an error the session must not be used any more.
    pub(super) async fn send(&mut self, message: &Message) -> Result<(), SendError> {
        let sent = self.0.send(message.envelope(), &message.formatted()).await;
        sent.map(|_| ()).map_err(|error| {
            let (message, code) = (describe(&error), error.status().map(u16::from));
            match code {
                _ if error.is_permanent() || error.is_client() => SendError::Refused(message),
                Some(code) if code != CLOSING => SendError::Mail(message),
                _ => SendError::Server(message),
            }
        })
    }

    pub(super) async fn close(mut self) {
        let _ = self.0.quit().await;
    }
}

fn describe(error: &Error) -> String {
    let text = without_secrets(&error.to_string());
    let advice = match text.to_lowercase() {
        lower if lower.contains("certificate") => {
            "; check the host of mail.server, or name its authority in mail.ca_file"
        }
        lower if lower.contains("starttls is not supported") => "; set mail.tls as the server needs it",
        _ => "",
    };
    text + advice
}

/// The server's certificate must be valid for its host, by the machine's authorities or those of the file.
fn tls_parameters(host: &str, ca_file: Option<&Path>) -> Result<TlsParameters, String> {
    let mut builder = TlsParameters::builder(host.to_owned());
    if let Some(path) = ca_file {
        let pem = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        if !pem.windows(PEM.len()).any(|bytes| bytes == PEM) {
            return Err(format!("{}: the file has no certificate (PEM)", path.display()));
        }
        let authorities =
            Certificate::from_pem(&pem).map_err(|error| format!("{}: {error}", path.display()))?;
        builder = builder.add_root_certificate(authorities);
    }
    builder.build().map_err(|error| error.to_string())
}

/// The name by which the service greets: the host of its URL.
fn hello(base_url: &str) -> ClientId {
    let host = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
    let host = host.rsplit_once(':').filter(|(_, port)| !port.contains(']')).map_or(host, |(host, _)| host);
    match host.trim_matches(['[', ']']).parse() {
        Ok(std::net::IpAddr::V4(ip)) => ClientId::Ipv4(ip),
        Ok(std::net::IpAddr::V6(ip)) => ClientId::Ipv6(ip),
        Err(_) => ClientId::Domain(host.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_greets_with_the_host_of_its_url() {
        for (url, name) in [
            ("https://api.example.com", "api.example.com"),
            ("https://api.example.com:8443", "api.example.com"),
            ("http://127.0.0.1:8080", "[127.0.0.1]"),
            ("http://[::1]:8080", "[IPv6:::1]"),
            ("http://[::1]", "[IPv6:::1]"),
        ] {
            assert_eq!(hello(url).to_string(), name);
        }
    }
}
