//! The API client: sends every call with the subscription key, the access token and the context, and renews refused
//! tokens.

use std::fmt;
use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use domain::catalogue::Owner;
use domain::json::write_string;
use domain::{Random, Resource, Secret};
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, IF_NONE_MATCH};
use http::{Method, Request, Response};
use serde::de::DeserializeOwned;

use super::change_feed::Feed;
use super::list::List;
use super::records::{Account, Company, Customer, PayrollCompany, Record};
use crate::Error;
use crate::http_client::{
    HttpClient, HttpClientBuilder, RetryPolicy, RetrySafety, error_from_response, parse_body,
};
use crate::sign_in::TokenSource;
use crate::transport::Transport;
use crate::url::{check_url, path_segment};
use crate::webhooks::{InvoicingWebhooks, Webhooks};

const KEY_HEADER: &str = "ocp-apim-subscription-key";
const CONTEXT_HEADER: &str = "context";

/// A client of the APIs for one user. Cheap to clone.
///
/// ```no_run
/// use aldaba_client::api::Api;
/// use aldaba_client::{Secret, TryStreamExt};
///
/// # async fn example(session: aldaba_client::sign_in::Session) -> Result<(), aldaba_client::Error> {
/// let api = Api::new("https://api.example.com", Secret::new("subscription key"), session)?;
/// let mut companies = api.companies().page_size(100).stream();
/// while let Some(company) = companies.try_next().await? {
///     let customers: Vec<_> = api.customers(&company.correlation_id).stream().try_collect().await?;
///     println!("{}: {} customers", company.vat_name, customers.len());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Api {
    inner: Arc<Inner>,
}

struct Inner {
    base_url: String,
    key: HeaderValue,
    tokens: Arc<dyn TokenSource>,
    http: HttpClient,
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api").field("base_url", &self.inner.base_url).finish_non_exhaustive()
    }
}

/// Builds an [`Api`]; see [`Api::builder`].
#[must_use]
pub struct ApiBuilder {
    base_url: String,
    key: Secret,
    tokens: Arc<dyn TokenSource>,
    http: HttpClientBuilder,
}

impl fmt::Debug for ApiBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiBuilder").field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

impl ApiBuilder {
    /// Sends requests with this transport instead of [`HttpTransport`](crate::HttpTransport).
    pub fn transport(mut self, transport: impl Transport) -> Self {
        self.http.transport = Some(Arc::new(transport));
        self
    }

    /// Uses this source of randomness for the jitter of retries; for deterministic tests.
    pub fn random(mut self, random: impl Random) -> Self {
        self.http.random = Arc::new(random);
        self
    }

    /// How often and how long calls are retried if the service is busy or unreachable.
    pub fn retry_policy(mut self, retry_policy: RetryPolicy) -> Self {
        self.http.retry_policy = retry_policy;
        self
    }

    /// Checks the settings and builds the [`Api`].
    pub fn build(self) -> Result<Api, Error> {
        let base_url = check_url("the URL of the service", &self.base_url)?;
        let mut key = HeaderValue::from_str(self.key.reveal()).map_err(|_| {
            Error::invalid_input(
                "the subscription key",
                "it contains characters that are not allowed in a header",
            )
        })?;
        key.set_sensitive(true);
        let http = self.http.build()?;
        Ok(Api { inner: Arc::new(Inner { base_url, key, tokens: self.tokens, http }) })
    }
}

/// A call before its credentials are added.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: Method,
    /// Relative to the base URL, with the query.
    pub(crate) path: String,
    pub(crate) context: Option<HeaderValue>,
    pub(crate) body: Option<serde_json::Value>,
    pub(crate) etag: Option<HeaderValue>,
    pub(crate) retry_safety: RetrySafety,
}

impl Call {
    pub(crate) fn new(method: Method, path: String) -> Self {
        // Every method but POST is idempotent.
        let retry_safety =
            if method == Method::POST { RetrySafety::NotIdempotent } else { RetrySafety::Idempotent };
        Self { method, path, context: None, body: None, etag: None, retry_safety }
    }

    pub(crate) fn get(path: String) -> Self {
        Self::new(Method::GET, path)
    }

    pub(crate) fn context(mut self, company: Option<&str>) -> Self {
        self.context = company.and_then(context);
        self
    }

    /// Method and path, without the query.
    fn name(&self) -> String {
        format!("{} {}", self.method, self.path.split('?').next().unwrap_or_default())
    }
}

/// The context header of a company. Non-ASCII characters are escaped as in JSON.
fn context(company: &str) -> Option<HeaderValue> {
    let mut plain = String::from("{\"clientId\":");
    write_string(company, &mut plain);
    plain.push('}');
    let mut text = String::with_capacity(plain.len());
    for unit in plain.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if (0x20..0x7f).contains(&byte) => text.push(char::from(byte)),
            _ => {
                let _ = write!(text, "\\u{unit:04x}");
            }
        }
    }
    HeaderValue::from_str(&text).ok()
}

impl Api {
    /// `base_url` is the URL of the service without a path, `key` a subscription key; `tokens` provides access tokens,
    /// usually a [`Session`](crate::sign_in::Session).
    pub fn new(base_url: &str, key: Secret, tokens: impl TokenSource) -> Result<Self, Error> {
        Self::builder(base_url, key, tokens).build()
    }

    /// Like [`Api::new`], with a transport, randomness or retry policy of your own.
    pub fn builder(base_url: &str, key: Secret, tokens: impl TokenSource) -> ApiBuilder {
        ApiBuilder {
            base_url: base_url.to_owned(),
            key,
            tokens: Arc::new(tokens),
            http: HttpClientBuilder::default(),
        }
    }

    /// The companies of the user's tenant.
    pub fn companies(&self) -> List<Company> {
        List::new(self, Resource::companies(), None)
    }

    /// One company; `None` if the tenant has no such company.
    pub async fn company(&self, id: &str) -> Result<Option<Company>, Error> {
        self.find(Resource::companies(), None, id).await
    }

    /// The customers of a company.
    pub fn customers(&self, company: &str) -> List<Customer> {
        List::new(self, Resource::customers(), Some(company))
    }

    /// One customer; `None` if the customer or the company does not exist.
    pub async fn customer(&self, company: &str, id: &str) -> Result<Option<Customer>, Error> {
        self.find(Resource::customers(), Some(company), id).await
    }

    /// The accounts of a company.
    pub fn accounts(&self, company: &str) -> List<Account> {
        List::new(self, Resource::accounts(), Some(company))
    }

    /// One account; `None` if the account or the company does not exist.
    pub async fn account(&self, company: &str, id: &str) -> Result<Option<Account>, Error> {
        self.find(Resource::accounts(), Some(company), id).await
    }

    /// The payroll companies of the user's tenant; see [`filter`](super::filter).
    pub fn payroll_companies(&self) -> List<PayrollCompany> {
        List::new(self, Resource::payroll_companies(), None)
    }

    /// The records of any of the 19 resources of the accounting family. `company` is ignored for companies themselves.
    pub fn records(&self, resource: Resource, company: &str) -> List<Record> {
        List::new(self, resource, Some(company).filter(|_| resource.owner() == Owner::Company))
    }

    /// One record of any resource of the accounting family; `None` if it does not exist.
    pub async fn record(&self, resource: Resource, company: &str, id: &str) -> Result<Option<Record>, Error> {
        self.find(resource, Some(company).filter(|_| resource.owner() == Owner::Company), id).await
    }

    /// The changes of a company's records of this resource after a log position. For companies themselves, `company` is
    /// `None`.
    pub fn changes(&self, resource: Resource, company: Option<&str>, after: u64) -> Feed {
        Feed::new(self, resource.path(), company, after)
    }

    /// The changes of the tenant's invoicing entities after a log position.
    pub fn invoicing_changes(&self, after: u64) -> Feed {
        Feed::new(self, domain::Area::Invoicing.prefix().to_owned(), None, after)
    }

    /// Manages the webhooks of a resource of the accounting family.
    pub fn webhooks(&self, resource: Resource) -> Webhooks {
        Webhooks::new(self.clone(), resource)
    }

    /// Manages the webhooks of invoicing.
    pub fn invoicing_webhooks(&self) -> InvoicingWebhooks {
        InvoicingWebhooks::new(self.clone())
    }

    async fn find<T: DeserializeOwned>(
        &self,
        resource: Resource,
        company: Option<&str>,
        id: &str,
    ) -> Result<Option<T>, Error> {
        let path = format!("{}/{}", resource.path(), path_segment(id));
        none_if_not_found(self.typed(Call::get(path).context(company)).await)
    }

    /// Sends a call and parses the body of its response.
    pub(crate) async fn typed<T: DeserializeOwned>(&self, call: Call) -> Result<T, Error> {
        let name = call.name();
        parse_body(&name, &self.send(call).await?)
    }

    /// Sends a call and returns a successful response, or 304 for a conditional call. Renews a refused token once.
    pub(crate) async fn send(&self, call: Call) -> Result<Response<Bytes>, Error> {
        let name = call.name();
        let token = self.inner.tokens.access_token().await?;
        let mut response = self.inner.http.send(&self.request(&call, &token)?, call.retry_safety).await?;
        if is_token_refused(&response) {
            let token = self.inner.tokens.replace_token(&token).await?;
            response = self.inner.http.send(&self.request(&call, &token)?, call.retry_safety).await?;
        }
        let status = response.status();
        if status.is_success() || (status == http::StatusCode::NOT_MODIFIED && call.etag.is_some()) {
            return Ok(response);
        }
        Err(error_from_response(&name, &response))
    }

    fn request(&self, call: &Call, token: &Secret) -> Result<Request<Bytes>, Error> {
        let mut bearer = HeaderValue::from_str(&format!("Bearer {}", token.reveal())).map_err(|_| {
            Error::invalid_input(
                "the access token",
                "it contains characters that are not allowed in a header",
            )
        })?;
        bearer.set_sensitive(true);
        let body = call.body.as_ref().map(ToString::to_string).unwrap_or_default();
        let mut request = Request::builder()
            .method(call.method.clone())
            .uri(format!("{}{}", self.inner.base_url, call.path))
            .header(KEY_HEADER, self.inner.key.clone())
            .header(AUTHORIZATION, bearer)
            .header(CONTENT_TYPE, "application/json")
            .body(Bytes::from(body))
            .map_err(|error| Error::invalid_input("the call", format!("{}: {error}", call.name())))?;
        let headers = request.headers_mut();
        if let Some(context) = &call.context {
            headers.insert(CONTEXT_HEADER, context.clone());
        }
        if let Some(etag) = &call.etag {
            headers.insert(IF_NONE_MATCH, etag.clone());
        }
        Ok(request)
    }
}

/// Turns 404 into `None`.
pub(crate) fn none_if_not_found<T>(found: Result<T, Error>) -> Result<Option<T>, Error> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the service refused the access token, rather than the subscription key.
fn is_token_refused(response: &Response<Bytes>) -> bool {
    let challenge =
        response.headers().get(http::header::WWW_AUTHENTICATE).and_then(|text| text.to_str().ok());
    response.status() == http::StatusCode::UNAUTHORIZED
        && challenge.is_some_and(|challenge| challenge.contains("invalid_token"))
}
