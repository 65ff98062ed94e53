//! What `dev` prints once it serves: one line of JSON for programs, or a page for people.

use std::fmt::Write as _;
use std::net::SocketAddr;

use domain::TenantId;
use serde::Serialize;
use store::Store;

use super::credentials::{APPLICATIONS, Client, Credentials, Keys, User};
use crate::exit::Failure;
use crate::output::{Output, print_line};
use crate::service::Service;

const COMPANIES_SHOWN_MAX: usize = 1000;
const SEND_A_CHANGE: &str = r#"

  then send a change
    curl $OPERATOR/operator/v1/tenants/$TENANT/changes -H "authorization: Bearer $TOKEN" \
      -H 'content-type: application/json' -d '[{"area":"invoicing","resource":"Bank","action":"upsert","data":{"name":"Caja Rural"}}]'"#;
const SCOPE: &str = "openid+offline_access+SVC.ES.NEWPOL.ACC.API";

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
            ("their document", &format!("{}/docs/", self.base_url)),
            ("identity provider", &self.auth_url),
            ("operator", &self.operator_url),
            ("operator token", &self.operator_token),
            ("receiver", &self.receiver_url),
            ("subscription key", &self.subscription.primary_key),
            ("redirect address", &self.client.redirect_uri),
        ] {
            let _ = writeln!(text, "  {name:<18}{value}");
        }
        text.push_str("\n  applications\n");
        for (name, client) in APPLICATIONS.iter().zip([&self.client, &self.other_client]) {
            let Client { client_id, client_secret, .. } = client;
            let _ = writeln!(text, "    {name:<17}client id {client_id}  secret {client_secret}");
        }
        text.push_str("\n  users\n");
        for user in &self.users {
            let _ = writeln!(
                text,
                "    {:<19}password {}  {}",
                user.email,
                user.password,
                self.tenants_of(user).join(", ")
            );
        }
        text.push_str("\n  tenants\n");
        for tenant in &self.tenants {
            let _ =
                writeln!(text, "    {}  {}, {} companies", tenant.id, tenant.name, tenant.companies.len());
        }
        let _ = write!(text, "\n  sign a user in: open this in a browser\n    {}\n", self.sign_in_link());
        text.push_str("\n  for the commands of the README: paste this into a shell\n");
        text.push_str(&self.exports());
        text.push_str(SEND_A_CHANGE);
        text
    }

    /// The names of a user's tenants.
    fn tenants_of(&self, user: &User) -> Vec<&str> {
        let theirs = self.tenants.iter().filter(|tenant| user.tenants.contains(&tenant.id));
        theirs.map(|tenant| tenant.name.as_str()).collect()
    }

    /// The first application asks for a user.
    fn sign_in_link(&self) -> String {
        format!(
            "{}/auth/core/connect/authorize?client_id={}&response_type=code&redirect_uri={}&scope={SCOPE}\
             &state=1&nonce=2",
            self.auth_url,
            self.client.client_id,
            encoded(&self.client.redirect_uri)
        )
    }

    /// The variables that the README's commands use, for a shell.
    fn exports(&self) -> String {
        let tenant = self.tenants.first();
        let company = tenant.and_then(|tenant| tenant.companies.first()).map_or("", |id| &**id);
        let variables = [
            ("BASE", self.base_url.as_str()),
            ("KEY", &self.subscription.primary_key),
            ("COMPANY", company),
            ("AUTH", &self.auth_url),
            ("CLIENT", &self.client.client_id),
            ("SECRET", &self.client.client_secret),
            ("OPERATOR", &self.operator_url),
            ("TOKEN", &self.operator_token),
            ("TENANT", tenant.map_or("", |tenant| tenant.id.as_str())),
        ];
        let lines: Vec<String> =
            variables.iter().map(|(name, value)| format!("    export {name}={}", quoted(value))).collect();
        lines.join("\n")
    }
}

/// A value for a shell. Ids may be any text, and nothing in them may be taken for a command.
fn quoted(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/".contains(&byte);
    if text.bytes().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// A value for a query; slashes and colons need no sign of their own there.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_any_value_as_it_is() {
        assert_eq!(quoted("http://127.0.0.1:8080"), "http://127.0.0.1:8080");
        assert_eq!(quoted("$(id) it's"), r"'$(id) it'\''s'");
    }
}
