//! Builds the developer portal.

use std::path::Path;
use std::sync::Arc;

use ::portal::{BrandSettings, Logo, Portal, Ports, Settings};
use identity::Identity;
use operator::admin::{Admin, ApprovalSettings};
use tokio::sync::watch;
use webhooks::history::History;
use webhooks::management::Management;

use super::{BasePorts, sandbox_settings, signature};
use crate::config::{Config, Server};
use crate::documents;
use crate::exit::Failure;

const LOGO_BYTES_MAX: usize = 256 * 1024;

/// How the operator presents the service. Read once, at the start.
pub(crate) fn brand(config: &Config) -> Result<BrandSettings, Failure> {
    Ok(BrandSettings {
        name: config.mail.service_name.clone(),
        logo: config.portal.logo.as_deref().map(read_logo).transpose()?,
        color: Some(config.portal.color.clone()).filter(|color| !color.is_empty()),
        contact: config.mail.contact.clone(),
    })
}

fn read_logo(path: &Path) -> Result<Logo, Failure> {
    let wrong = |why: &str| Failure::Failed(format!("portal.logo: {}: {why}", path.display()));
    let content_type = match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        _ => return Err(wrong("the name must end in .svg or .png")),
    };
    let bytes = std::fs::read(path).map_err(|error| wrong(&error.to_string()))?;
    if bytes.len() > LOGO_BYTES_MAX {
        return Err(wrong("the picture has more than 256 KiB"));
    }
    Ok(Logo { content_type, bytes })
}

/// Where the portal's pages find the page of the APIs: on their own origin, unless sign-in has another than the APIs.
fn docs_url(server: &Server) -> Option<String> {
    let has_own_origin = documents::sign_in_redirect_uri(server).is_none();
    let origin = if has_own_origin { server.base_url.as_str() } else { "" };
    server.docs.then(|| format!("{origin}/docs/"))
}

pub(crate) fn portal(
    config: &Config,
    base: &BasePorts,
    identity: Arc<Identity>,
    (admin, history, management): (Admin, History, Arc<Management>),
    brand: BrandSettings,
    stopped: &watch::Receiver<bool>,
) -> Portal {
    let store = admin.store.clone();
    let ports = Ports {
        store,
        clock: base.clock.clone(),
        random: base.random.clone(),
        identity,
        admin,
        history,
        management,
    };
    let settings = Settings {
        base_url: config.server.base_url.clone(),
        issuer: format!("{}/auth/core", config.server.auth_url),
        brand,
        approval: ApprovalSettings { automatic: config.portal.approval.automatic },
        sandbox: sandbox_settings(config),
        is_registration_open: config.portal.is_registration_open,
        docs_url: docs_url(&config.server),
        has_call_log: config.gateway.call_log,
        diagnose_signature: signature::diagnose,
    };
    Portal::new(ports, settings, stopped.clone())
}
