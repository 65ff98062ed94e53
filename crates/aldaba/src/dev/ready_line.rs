//! The output of `dev` when it is ready: one line of JSON for programs, or a page for people.

use std::net::SocketAddr;

use domain::{Scope, TenantId};
use serde::{Deserialize, Serialize};
use store::Store;

use super::credentials::{CALLBACK_URI, Client, Credentials, Keys, Person, User};
use super::start_page;
use super::terminal_style::TerminalStyle;
use crate::exit::Failure;
use crate::output::Output;
use crate::service::Service;
use crate::wiring;

const COMPANIES_MAX: usize = 1000;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReadyLine {
    pub(crate) base_url: String,
    pub(crate) auth_url: String,
    pub(crate) operator_url: String,
    pub(crate) operator_token: String,
    pub(crate) console_url: String,
    pub(crate) subscription: Keys,
    pub(crate) payroll_subscription: Keys,
    pub(crate) client: Client,
    pub(crate) other_client: Client,
    pub(crate) users: Vec<User>,
    pub(crate) tenants: Vec<Tenant>,
    pub(crate) receiver_url: String,
    pub(crate) portal_url: String,
    pub(crate) developer: Option<Person>,
    pub(crate) operator: Option<Person>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Tenant {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) companies: Vec<Box<str>>,
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

    /// `is_taken`: whether a program listens at the redirect URI.
    pub(super) fn print(&self, output: Output, is_taken: bool) {
        output.styled_result(self, || start_page::text(self, is_taken, TerminalStyle::for_stdout()));
    }
}

/// The path of an authorization request; for all scopes where none is named.
pub(super) fn authorize_path(client_id: &str, scope: Option<&str>) -> String {
    let all: Vec<&str> = Scope::ALL.into_iter().map(Scope::name).collect();
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("client_id", client_id)
        .append_pair("response_type", "code")
        .append_pair("redirect_uri", CALLBACK_URI)
        .append_pair("scope", scope.unwrap_or(&all.join(" ")))
        .append_pair("state", "1")
        .append_pair("nonce", "2")
        .finish();
    format!("/auth/core/connect/authorize?{query}")
}
