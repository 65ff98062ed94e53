//! `aldaba serve`: runs the service from a configuration that is complete and safe for production.

use std::sync::Arc;

use operator::admin::{Admin, Authority};
use store::{AuditContext, MasterKey, Store};

use crate::cli::Serve;
use crate::config::{self, Config, ConfigFault, Sources, address};
use crate::descriptors;
use crate::exit::{CommandResult, Failure};
use crate::logging;
use crate::mail;
use crate::service::Service;
use crate::signals::{OnHangup, ShutdownSignals};
use crate::wiring::{self, BasePorts, OpenStore};

const TOKEN_CHARS_MIN: usize = 32;
const TOKEN_MISSING: &str = "is missing; `aldaba init` creates one";

pub(crate) async fn run(args: &Serve, mut sources: Sources) -> CommandResult {
    let mut flag = |key: &str, value: Option<String>| {
        sources.flags.extend(value.map(|value| (key.to_owned(), value)));
    };
    flag("server.listen", args.listen.map(|address| address.to_string()));
    flag("operator.listen", args.operator_listen.map(|address| address.to_string()));
    flag("store.url", args.store.clone());
    let config = config::load(&sources).map_err(Failure::Config)?;
    let faults = unfit(&config);
    if !faults.is_empty() {
        return Err(Failure::Config(faults));
    }
    logging::start(&config);
    // Before the store opens: a migration may take long.
    let signals = ShutdownSignals::install(OnHangup::Ignore)?;
    let service = bind(config, BasePorts::system()).await?;
    tracing::info!(
        public = %service.public_address()?,
        operator = %service.operator_address()?,
        "serving"
    );
    service.start().run(signals).await
}

/// The service over the configured store, with both listeners bound.
pub(crate) async fn bind(config: Config, base: BasePorts) -> Result<Service, Failure> {
    let fault = || ConfigFault { origin: "operator.token".into(), message: TOKEN_MISSING.into() };
    let token = config.operator.token.clone().ok_or_else(|| Failure::Config(vec![fault()]))?;
    let opened = open(&config, &base).await?;
    if opened.store.dev_credentials().await?.is_some() {
        return Err(Failure::Refused(
            "this store was created by `aldaba dev` and contains plain-text credentials; use another store"
                .into(),
        ));
    }
    let service = Service::bind(config, base.clone(), opened, &token).await?;
    announce_first_operator(service.config(), &base, service.store().clone()).await?;
    Ok(service)
}

/// Logs the link of the first operator where nobody can sign in to the console yet and nobody is invited.
async fn announce_first_operator(config: &Config, base: &BasePorts, store: Arc<dyn Store>) -> CommandResult {
    let admin =
        Admin { authority: Authority::admin(AuditContext::default()), ..wiring::admin(config, base, store) };
    if let Some(link) = admin.invite_first_operator().await? {
        let link = link.reveal();
        tracing::warn!(
            link,
            "nobody can sign in to the console yet: the first operator makes an account with this link"
        );
    }
    Ok(())
}

/// Opens the configured store with the configured master key.
pub(crate) async fn open(config: &Config, base: &BasePorts) -> Result<OpenStore, Failure> {
    let wrong = |message: &str| {
        Failure::Config(vec![ConfigFault { origin: "store.master_key".into(), message: message.to_owned() }])
    };
    let master = config.store.master_key.as_ref().ok_or_else(|| {
        wrong(
            "is missing; `aldaba init` creates one, then give it as store.master_key or store.master_key_file",
        )
    })?;
    let ports = wiring::ports(base, &MasterKey::parse(master.reveal()).map_err(wrong)?)?;
    Ok(wiring::open(&config.store.url, config.store.connections_max, ports).await?)
}

/// What is missing or unsafe for production.
pub(crate) fn unfit(config: &Config) -> Vec<ConfigFault> {
    let mut faults = Vec::new();
    let mut wrong = |origin: &str, message: &str| {
        faults.push(ConfigFault { origin: origin.to_owned(), message: message.to_owned() });
    };
    for (key, url) in
        [("server.base_url", &config.server.base_url), ("server.auth_url", &config.server.auth_url)]
    {
        if url.is_empty() {
            wrong(key, "is missing: set it to the public URL of the service");
        } else if let Some(why) = address::production_error(url) {
            wrong(key, why);
        }
    }
    if let Some(why) = unnamed_proxy(&config.server) {
        wrong("server.trusted_proxies", &why);
    }
    match &config.operator.token {
        None => wrong("operator.token", TOKEN_MISSING),
        Some(token) if token.reveal().chars().count() < TOKEN_CHARS_MIN => {
            wrong("operator.token", "is too short: 32 characters at least");
        }
        Some(_) => {}
    }
    match &config.store.master_key {
        None => wrong("store.master_key", "is missing; `aldaba init` creates one"),
        Some(key) => {
            if let Err(why) = MasterKey::parse(key.reveal()) {
                wrong("store.master_key", why);
            }
        }
    }
    if let Some(why) = descriptors::shortage(config, descriptors::raise_limit()) {
        wrong("server.connections_max", &why);
    }
    for (key, tls) in
        [("server.tls_certificates", &config.server.tls), ("operator.tls_certificates", &config.operator.tls)]
    {
        if let Some(pem) = tls
            && let Err(why) = web::tls::from_pem_files(&pem.certificates, &pem.key)
        {
            wrong(key, &why);
        }
    }
    if let Some(why) = mail::settings_error(config) {
        wrong("mail.ca_file", &why);
    }
    if config.portal.is_registration_open && config.mail.server.is_none() {
        wrong(
            "portal.registration",
            "is open, but nobody can confirm an address without mail: set mail.server",
        );
    }
    faults.extend(config::exposures(config));
    faults
}

/// The fault if a proxy must be in front of the service that the configuration does not name.
fn unnamed_proxy(server: &config::Server) -> Option<String> {
    let urls = [("server.base_url", &server.base_url), ("server.auth_url", &server.auth_url)];
    let (key, _) = urls.into_iter().find(|(_, url)| url.starts_with("https://"))?;
    let is_named = server.tls.is_some() || !server.trusted_proxies.is_empty() || server.peer_is_client;
    (!is_named).then(|| {
        format!(
            "is empty, but {key} is https and the service has no certificate, so that a proxy must terminate TLS: \
             list the proxy's address (without it every client has the proxy's address, and the failed sign-ins of \
             one lock out all), set server.tls_certificates and server.tls_key, or set server.peer_is_client = true \
             if requests arrive with the clients' addresses"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_registration_needs_a_mail_server() {
        let open = ("portal.registration", "open");
        let mail = [("mail.server", "smtp.example.com:587"), ("mail.from", "no-reply@example.com")];
        let faults = |settings: &[(&str, &str)]| {
            let flags =
                settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
            let config = config::load(&Sources { flags, ..Sources::default() }).unwrap();
            let faults = unfit(&config).into_iter().filter(|fault| fault.origin.starts_with("portal."));
            faults.map(|fault| fault.to_string()).collect::<Vec<_>>()
        };
        let message =
            "portal.registration: is open, but nobody can confirm an address without mail: set mail.server";
        assert_eq!(faults(&[open]), [message]);
        assert_eq!(faults(&[open, mail[0], mail[1]]), [""; 0]);
        assert_eq!(faults(&[]), [""; 0], "only who is invited registers");
    }
}
