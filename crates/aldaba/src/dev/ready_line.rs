//! The output of `dev` when it is ready: one line of JSON for programs, or a page for people.

use std::net::SocketAddr;
use std::path::Path;

use domain::{Scope, TenantId};
use serde::Serialize;
use store::Store;

use super::credentials::{CALLBACK_URI, Client, Credentials, Keys, Person, User};
use super::start_page;
use super::terminal_style::TerminalStyle;
use super::token::READY_FILE;
use crate::exit::Failure;
use crate::output::Output;
use crate::service::Service;
use crate::wiring;

const COMPANIES_MAX: usize = 1000;

#[derive(Debug, Serialize)]
pub(super) struct ReadyLine {
    pub(super) base_url: String,
    pub(super) auth_url: String,
    pub(super) operator_url: String,
    pub(super) operator_token: String,
    pub(super) console_url: String,
    pub(super) subscription: Keys,
    pub(super) payroll_subscription: Keys,
    pub(super) client: Client,
    pub(super) other_client: Client,
    pub(super) users: Vec<User>,
    pub(super) tenants: Vec<Tenant>,
    pub(super) receiver_url: String,
    pub(super) portal_url: String,
    pub(super) developer: Option<Person>,
    pub(super) operator: Option<Person>,
}

#[derive(Debug, Serialize)]
pub(super) struct Tenant {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) companies: Vec<Box<str>>,
}

impl ReadyLine {
    pub(super) async fn new(
        service: &Service,
        credentials: &Credentials,
        store: &dyn Store,
        receiver: SocketAddr,
    ) -> Result<Self, Failure> {
        let mut tenants = Vec::new();
        for id in &credentials.tenants {
            let id = TenantId::new(id.clone());
            if let Some(tenant) = store.find_tenant(&id).await? {
                let companies = store.company_ids(&id, COMPANIES_MAX).await?;
                tenants.push(Tenant { id: id.to_string(), name: tenant.name, companies });
            }
        }
        let server = &service.config().server;
        let realms = wiring::realm_urls(service.config());
        let operator_url = format!("http://{}", service.operator_address()?);
        Ok(Self {
            base_url: server.base_url.clone(),
            auth_url: server.auth_url.clone(),
            console_url: format!("{}/", realms.operators),
            portal_url: format!("{}/", realms.developers),
            operator_url,
            operator_token: credentials.operator_token.clone(),
            subscription: credentials.subscription.clone(),
            payroll_subscription: credentials.payroll_subscription.clone(),
            client: credentials.client.clone(),
            other_client: credentials.other_client.clone(),
            users: credentials.users.clone(),
            tenants,
            receiver_url: format!("http://{receiver}/"),
            developer: credentials.developer.clone(),
            operator: credentials.operator.clone(),
        })
    }

    pub(super) fn print(&self, output: Output) {
        output.styled_result(self, || start_page::text(self, TerminalStyle::for_stdout()));
    }

    /// Writes the line to a file in the folder, for `dev token --data`. Only the owner can read it.
    pub(super) fn write_to(&self, folder: &Path) -> Result<(), Failure> {
        let path = folder.join(READY_FILE);
        let failure = |error: std::io::Error| Failure::Failed(format!("{}: {error}", path.display()));
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failure)?;
        serde_json::to_writer(&mut file, self).map_err(|error| failure(error.into()))?;
        file.persist(&path).map_err(|error| failure(error.error))?;
        Ok(())
    }
}

/// The path of an authorization request for all scopes, for the walk-through.
pub(super) fn authorize_path(client_id: &str) -> String {
    let scope: Vec<&str> = Scope::ALL.into_iter().map(Scope::name).collect();
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("client_id", client_id)
        .append_pair("response_type", "code")
        .append_pair("redirect_uri", CALLBACK_URI)
        .append_pair("scope", &scope.join(" "))
        .append_pair("state", "1")
        .append_pair("nonce", "2")
        .finish();
    format!("/auth/core/connect/authorize?{query}")
}
