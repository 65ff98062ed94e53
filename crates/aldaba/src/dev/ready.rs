//! What `dev` prints once it serves: one line of JSON for programs, or a page for people.

use std::fmt::Write as _;
use std::net::SocketAddr;

use domain::TenantId;
use serde::Serialize;
use store::Store;

use super::credentials::{Client, Credentials, Keys, User};
use crate::exit::Failure;
use crate::output::{Output, print_line};
use crate::service::Service;

const COMPANIES_SHOWN_MAX: usize = 1000;

#[derive(Debug, Serialize)]
pub(super) struct Ready {
    base_url: String,
    auth_url: String,
    operator_url: String,
    operator_token: String,
    console_url: String,
    subscription: Keys,
    payroll_subscription: Keys,
    client: Client,
    other_client: Client,
    users: Vec<User>,
    tenants: Vec<Tenant>,
    receiver_url: String,
}

#[derive(Debug, Serialize)]
struct Tenant {
    id: String,
    name: String,
    companies: Vec<Box<str>>,
}

impl Ready {
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
                let companies = store.company_ids(&id, COMPANIES_SHOWN_MAX).await?;
                tenants.push(Tenant { id: id.to_string(), name: tenant.name, companies });
            }
        }
        let server = &service.config().server;
        let operator_url = format!("http://{}", service.operator_address()?);
        Ok(Self {
            base_url: server.base_url.clone(),
            auth_url: server.auth_url.clone(),
            console_url: format!("{operator_url}/console"),
            operator_url,
            operator_token: credentials.operator_token.clone(),
            subscription: credentials.subscription.clone(),
            payroll_subscription: credentials.payroll_subscription.clone(),
            client: credentials.client.clone(),
            other_client: credentials.other_client.clone(),
            users: credentials.users.clone(),
            tenants,
            receiver_url: format!("http://{receiver}/"),
        })
    }

    pub(super) fn print(&self, output: Output) {
        output.result(self, || self.text());
        if !output.json {
            print_line("\nCtrl-C ends it.");
        }
    }

    fn text(&self) -> String {
        let mut text = String::from("Aldaba is ready.\n\n");
        for (name, value) in [
            ("APIs", &self.base_url),
            ("identity provider", &self.auth_url),
            ("operator", &self.operator_url),
            ("operator token", &self.operator_token),
            ("receiver", &self.receiver_url),
            ("subscription key", &self.subscription.primary_key),
            ("client id", &self.client.client_id),
            ("client secret", &self.client.client_secret),
            ("redirect address", &self.client.redirect_uri),
        ] {
            let _ = writeln!(text, "  {name:<18}{value}");
        }
        text.push_str("\n  users\n");
        for user in &self.users {
            let _ =
                writeln!(text, "    {:<20}{}  {} tenant(s)", user.email, user.password, user.tenants.len());
        }
        text.push_str("\n  tenants\n");
        for tenant in &self.tenants {
            let _ =
                writeln!(text, "    {}  {}, {} companies", tenant.id, tenant.name, tenant.companies.len());
        }
        if let Some(tenant) = self.tenants.first() {
            text.push_str("\n  send a change:\n");
            let _ = write!(
                text,
                "    curl {}/operator/v1/tenants/{}/changes -H 'authorization: Bearer {}' \\\n      \
                 -H 'content-type: application/json' -d '[{{\"area\":\"invoicing\",\"resource\":\"Bank\",\
                 \"action\":\"upsert\",\"data\":{{\"name\":\"Caja Rural\"}}}}]'",
                self.operator_url, tenant.id, self.operator_token
            );
        }
        text
    }
}
