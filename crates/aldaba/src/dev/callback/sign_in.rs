//! What came of a sign-in whose callback dev answered, and the commands that follow from it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::Scope;
use serde_json::{Map, Value, json};

use super::super::ready_line::ReadyLine;
use super::super::start_page::shell_quoted;

/// A sign-in that a person began with dev's own link.
#[derive(Clone, Debug)]
pub(super) struct BegunSignIn {
    pub(super) state: String,
    pub(super) nonce: String,
    pub(super) authorize_url: String,
}

/// A sign-in that is over.
#[derive(Debug)]
pub(super) struct FinishedSignIn {
    pub(super) id: String,
    pub(super) redirect_uri: String,
    /// The client's id and, for a client of dev, its name.
    pub(super) client: Option<(String, Option<&'static str>)>,
    /// The parameters of the callback.
    pub(super) callback: Vec<(String, String)>,
    pub(super) begun: Option<BegunSignIn>,
    pub(super) outcome: Outcome,
}

#[derive(Debug)]
pub(super) enum Outcome {
    /// The code was exchanged.
    Tokens(Box<Tokens>),
    /// The token endpoint refused the code.
    Refused { error: String, description: String },
    /// The callback has an error instead of a code.
    NoCode { error: String },
    /// The code is unused.
    NotExchanged(Reason),
}

/// Why dev leaves a code alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// Only the program that began the sign-in has the verifier.
    Pkce,
    /// The client is not one of the two of dev, whose secrets it knows.
    OtherClient,
    /// Another service issued it.
    OtherIssuer(String),
    /// This dev did not issue it lately, or it was shown before.
    Unknown,
}

#[derive(Debug)]
pub(super) struct Tokens {
    pub(super) response: Map<String, Value>,
    pub(super) access_claims: Map<String, Value>,
    pub(super) id_claims: Option<Map<String, Value>>,
}

impl Tokens {
    pub(super) fn new(response: Map<String, Value>) -> Self {
        let claims_of = |name: &str| response.get(name).and_then(Value::as_str).and_then(claims);
        Self {
            access_claims: claims_of("access_token").unwrap_or_default(),
            id_claims: claims_of("id_token"),
            response,
        }
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.response.get(name)?.as_str()
    }

    fn may_use(&self, scope: Scope) -> bool {
        let granted = self.access_claims.get("scope").and_then(Value::as_array);
        granted.is_some_and(|all| all.iter().any(|one| one.as_str() == Some(scope.name())))
    }

    /// A read that the token opens, with its token and key.
    pub(super) fn read_command(&self, ready: &ReadyLine) -> Option<String> {
        let tenant = self.access_claims.get("svc.es.clientid").and_then(Value::as_str);
        let tenant = ready.tenants.iter().find(|one| Some(one.id.as_str()) == tenant);
        let company = tenant.and_then(|tenant| tenant.companies.first());
        let (path, company) = match company {
            Some(company) if self.may_use(Scope::Accounting) => {
                ("/accounting/api/customers?pageSize=3", Some(company))
            }
            _ if self.may_use(Scope::Accounting) => ("/accounting/api/companies", None),
            _ if self.may_use(Scope::Payroll) => ("/payroll/api/companies", None),
            _ if self.may_use(Scope::Webhooks) => ("/invoicing/api/changes?after=0", None),
            _ => return None,
        };
        let header = |text: String| format!(" \\\n  -H {}", shell_quoted(&text));
        let context = company.map(|id| header(format!("context: {}", json!({"clientId": id}))));
        Some(format!(
            "curl -sS -w '\\n' {}{}{}{}",
            shell_quoted(&format!("{}{path}", ready.base_url)),
            header(format!("authorization: Bearer {}", self.text("access_token").unwrap_or_default())),
            header(format!("Ocp-Apim-Subscription-Key: {}", ready.subscription.primary_key)),
            context.unwrap_or_default(),
        ))
    }

    /// Puts the token into the variable that the other commands of the walk-through read.
    pub(super) fn export_command(&self) -> String {
        format!("export ACCESS={}", shell_quoted(self.text("access_token").unwrap_or_default()))
    }
}

impl FinishedSignIn {
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.callback.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The address that the browser came to.
    pub(super) fn callback_url(&self) -> String {
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.callback).finish();
        let separator = if self.redirect_uri.contains('?') { '&' } else { '?' };
        format!("{}{separator}{query}", self.redirect_uri)
    }

    /// The token request as the application sends it. What dev does not know is an ellipsis.
    pub(super) fn token_command(&self, ready: &ReadyLine) -> Option<String> {
        let code = self.parameter("code")?;
        let issuer = match &self.outcome {
            Outcome::NotExchanged(Reason::OtherIssuer(issuer)) => issuer.clone(),
            _ => format!("{}/auth/core", ready.auth_url),
        };
        let (id, secret) = match &self.client {
            Some((id, _)) => {
                let own = [&ready.client, &ready.other_client].into_iter().find(|own| own.client_id == *id);
                (id.as_str(), own.map_or("…", |own| own.client_secret.as_str()))
            }
            None => ("…", "…"),
        };
        let field = |name: &str, value: &str| {
            format!(" \\\n  --data-urlencode {}", shell_quoted(&format!("{name}={value}")))
        };
        let has_challenge = self.outcome_reason() == Some(&Reason::Pkce);
        let fields = [
            Some(("grant_type", "authorization_code")),
            Some(("code", code)),
            Some(("redirect_uri", self.redirect_uri.as_str())),
            Some(("client_id", id)),
            Some(("client_secret", secret)),
            has_challenge.then_some(("code_verifier", "…")),
        ];
        let fields: String = fields.into_iter().flatten().map(|(name, value)| field(name, value)).collect();
        Some(format!("curl -sS -w '\\n' {}{fields}", shell_quoted(&format!("{issuer}/connect/token"))))
    }

    fn outcome_reason(&self) -> Option<&Reason> {
        match &self.outcome {
            Outcome::NotExchanged(reason) => Some(reason),
            _ => None,
        }
    }
}

/// The claims of a JWT that this service has just issued: they need no verification here.
fn claims(token: &str) -> Option<Map<String, Value>> {
    let bytes = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    serde_json::from_slice(&bytes).ok()
}

impl FinishedSignIn {
    /// One line for the terminal.
    pub(super) fn summary(&self) -> String {
        let client = match &self.client {
            Some((id, name)) => name.map_or_else(|| id.clone(), str::to_owned),
            None => "an unknown client".to_owned(),
        };
        match &self.outcome {
            Outcome::Tokens(_) => format!("{client} got a code, and dev exchanged it"),
            Outcome::Refused { error, .. } => {
                format!("{client} got a code, and the service refused it ({error})")
            }
            Outcome::NoCode { error } => format!("the sign-in failed ({error})"),
            Outcome::NotExchanged(_) => format!("{client} got a code, which dev left unused"),
        }
    }
}
