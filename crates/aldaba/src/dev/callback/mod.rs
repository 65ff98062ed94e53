//! Answers a redirect URI on this machine at which no application listens: exchanges the code, as the application would, and
//! shows what came and what it means. dev listens at the address only from the authorization response until the browser has
//! come, so that it is never in the way of an application that wants the port.

mod open_port;
mod page;
mod port;
mod sign_in;
mod text;

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use domain::{Clock as _, Random as _, Scope};
use identity::AuthorizationResponse;
use parking_lot::Mutex;
use serde_json::Value;

use super::credentials::{CALLBACK_URI, CLIENT_NAMES};
use super::headless_browser::HeadlessBrowser;
use super::ready_line::ReadyLine;
use super::site::{PageRequest, wants_page};
use super::terminal_style::TerminalStyle;
use crate::output::Output;
use crate::service::RouterLayer;
use crate::wiring::{SystemClock, SystemRandom};
use open_port::OpenPort;
use port::NoPort;
use sign_in::{BegunSignIn, FinishedSignIn, Outcome, Reason, Tokens};

/// Sign-ins of each kind that are remembered: far more than a person has open.
const REMEMBERED_MAX: usize = 64;
/// The most parameters of a callback, and the most bytes of a posted one.
const PARAMETERS_MAX: usize = 32;
const BODY_BYTES_MAX: usize = 64 * 1024;
/// The most ports that dev waits on at a time.
const PORTS_MAX: usize = 16;

/// Where the answers to redirect URIs come from.
pub(super) struct Callbacks {
    ready: Arc<ReadyLine>,
    /// Where the token endpoint is reached, without a trailing slash.
    origin: String,
    /// The ports that dev itself serves.
    own_ports: Vec<u16>,
    output: Output,
    style: TerminalStyle,
    ports: tokio::sync::Mutex<HashMap<u16, OpenPort>>,
    /// The responses whose browsers have not come yet.
    sent: Mutex<VecDeque<AuthorizationResponse>>,
    begun: Mutex<VecDeque<BegunSignIn>>,
    finished: Mutex<VecDeque<Arc<FinishedSignIn>>>,
    /// Ports that the terminal has named because dev does not answer there.
    named_ports: Mutex<HashSet<u16>>,
}

fn remember<T>(in_order: &Mutex<VecDeque<T>>, one: T) {
    let mut in_order = in_order.lock();
    if in_order.len() == REMEMBERED_MAX {
        in_order.pop_front();
    }
    in_order.push_back(one);
}

impl Callbacks {
    /// `listeners`: the addresses that dev serves; the first is the public one.
    pub(super) fn new(ready: Arc<ReadyLine>, listeners: &[SocketAddr], output: Output) -> Arc<Self> {
        let origin = listeners.first().map(|public| format!("http://{public}")).unwrap_or_default();
        Arc::new(Self {
            ready,
            origin,
            own_ports: listeners.iter().map(SocketAddr::port).collect(),
            output,
            style: TerminalStyle::for_stderr(),
            ports: tokio::sync::Mutex::default(),
            sent: Mutex::default(),
            begun: Mutex::default(),
            finished: Mutex::default(),
            named_ports: Mutex::default(),
        })
    }

    /// Watches the routes of the sign-in for authorization responses to browsers.
    pub(super) fn layer(self: &Arc<Self>) -> RouterLayer {
        let callbacks = self.clone();
        Box::new(move |routes| routes.layer(from_fn_with_state(callbacks.clone(), watch_response)))
    }

    /// Listens at the redirect URI of an authorization response, unless an application does.
    async fn expect(self: &Arc<Self>, sent: &AuthorizationResponse) {
        let Some(port) = port::local_port(&sent.redirect_uri).filter(|port| !self.own_ports.contains(port))
        else {
            return;
        };
        let mut ports = self.ports.lock().await;
        let is_open = ports.get(&port).is_some_and(OpenPort::expect_another);
        if !is_open {
            if let Some(old) = ports.remove(&port) {
                old.closed().await;
            }
            ports.retain(|_, open| open.is_waiting());
            if ports.len() == PORTS_MAX {
                return self.name_port(port, &format!("dev waits on {PORTS_MAX} other ports already"));
            }
            let listeners = match port::listen(port).await {
                Ok(listeners) => listeners,
                Err(NoPort::Taken) => {
                    let why = "a program listens there and gets the code; dev answers only where none does";
                    return self.name_port(port, why);
                }
                Err(NoPort::Refused(error)) => {
                    return self.name_port(port, &format!("dev cannot listen there: {error}"));
                }
            };
            ports.insert(port, OpenPort::serve(listeners, &self.routes(port)));
        }
        remember(&self.sent, sent.clone());
    }

    fn routes(self: &Arc<Self>, port: u16) -> Router {
        let layer = DefaultBodyLimit::max(BODY_BYTES_MAX);
        Router::new().fallback(any(answer)).layer(layer).with_state((self.clone(), port))
    }

    /// Says once for each port why dev does not answer there.
    fn name_port(&self, port: u16, why: &str) {
        if self.named_ports.lock().insert(port) {
            self.say(&format!("port {port}: {why}"));
        }
    }

    fn say(&self, text: &str) {
        let iso = SystemClock.now().iso_millis();
        let clock = iso.split('T').nth(1).unwrap_or(&iso).trim_end_matches('Z').to_owned();
        self.output.styled_message(&format!(
            "{}  callback  {}",
            self.style.dim(&clock),
            TerminalStyle::plain(text)
        ));
    }

    /// Ends a sign-in with what the redirect URI got.
    async fn finish(&self, port: u16, path: &str, callback: Vec<(String, String)>) -> Arc<FinishedSignIn> {
        let parameter =
            |name: &str| callback.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let (code, state) = (parameter("code"), parameter("state"));
        let sent = code.as_deref().and_then(|code| self.take_sent(code));
        let begun = state.as_deref().and_then(|state| self.take_begun(state));
        let outcome = match (parameter("error"), &code) {
            (Some(error), _) => Outcome::NoCode { error },
            (None, None) => Outcome::NoCode { error: "invalid_request".to_owned() },
            (None, Some(code)) => self.exchange(code, sent.as_ref(), parameter("iss")).await,
        };
        let client = sent.as_ref().map(|sent| {
            let id = sent.client.to_string();
            let mut own = [&self.ready.client, &self.ready.other_client].into_iter().zip(CLIENT_NAMES);
            let name = own.find(|(own, _)| own.client_id == id).map(|(_, name)| name);
            (id, name)
        });
        let finished = Arc::new(FinishedSignIn {
            id: SystemRandom.token(),
            redirect_uri: sent
                .map_or_else(|| format!("http://localhost:{port}{path}"), |sent| sent.redirect_uri),
            client,
            callback,
            begun,
            outcome,
        });
        remember(&self.finished, finished.clone());
        finished
    }

    /// Exchanges the code, if it came to a client of dev and needs no verifier of another program.
    async fn exchange(
        &self,
        code: &str,
        sent: Option<&AuthorizationResponse>,
        iss: Option<String>,
    ) -> Outcome {
        let own_issuer = format!("{}/auth/core", self.ready.auth_url);
        if let Some(iss) = iss.filter(|iss| *iss != own_issuer) {
            return Outcome::NotExchanged(Reason::OtherIssuer(iss));
        }
        let Some(sent) = sent else { return Outcome::NotExchanged(Reason::Unknown) };
        if sent.has_challenge {
            return Outcome::NotExchanged(Reason::Pkce);
        }
        let own = [&self.ready.client, &self.ready.other_client];
        let Some(own) = own.into_iter().find(|own| own.client_id == sent.client.as_str()) else {
            return Outcome::NotExchanged(Reason::OtherClient);
        };
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &sent.redirect_uri),
            ("client_id", &own.client_id),
            ("client_secret", &own.client_secret),
        ];
        match self.request_tokens(&fields).await {
            Ok(Value::Object(response)) if response.contains_key("access_token") => {
                Outcome::Tokens(Box::new(Tokens::new(response)))
            }
            Ok(refusal) => {
                let text = |name: &str| refusal[name].as_str().unwrap_or_default().to_owned();
                Outcome::Refused { error: text("error"), description: text("error_description") }
            }
            Err(description) => Outcome::Refused { error: "temporarily_unavailable".to_owned(), description },
        }
    }

    async fn request_tokens(&self, fields: &[(&str, &str)]) -> Result<Value, String> {
        let browser = HeadlessBrowser::new(&self.origin).map_err(|failure| failure.message())?;
        let response = browser.post("/auth/core/connect/token", fields).await;
        let response = response.map_err(|failure| failure.message())?;
        Ok(serde_json::from_slice(response.body()).unwrap_or_default())
    }

    fn take_sent(&self, code: &str) -> Option<AuthorizationResponse> {
        let mut sent = self.sent.lock();
        let at =
            sent.iter().position(|sent| sent.code.as_ref().is_some_and(|known| known.reveal() == code))?;
        sent.remove(at)
    }

    fn take_begun(&self, state: &str) -> Option<BegunSignIn> {
        let mut begun = self.begun.lock();
        let at = begun.iter().position(|begun| begun.state == state)?;
        begun.remove(at)
    }

    /// Where the result of a sign-in is shown.
    fn page_url(&self, finished: &FinishedSignIn) -> String {
        format!("{}sign-in/{}", self.ready.receiver_url, finished.id)
    }

    /// The redirect URI of sign-ins that dev's own link begins: the printed one if it is on this machine.
    pub(super) fn redirect_uri(ready: &ReadyLine) -> &str {
        let printed = ready.client.redirect_uri.as_str();
        if port::local_port(printed).is_some() { printed } else { CALLBACK_URI }
    }

    /// Whether a program listens at the redirect URI.
    pub(super) async fn is_taken(redirect_uri: &str) -> bool {
        match port::local_port(redirect_uri) {
            Some(port) => port::is_taken(port).await,
            None => false,
        }
    }
}

async fn watch_response(State(callbacks): State<Arc<Callbacks>>, request: Request, next: Next) -> Response {
    let is_browser = wants_page(request.headers());
    let response = next.run(request).await;
    let sent = response.extensions().get::<AuthorizationResponse>().filter(|_| is_browser).cloned();
    if let Some(sent) = sent {
        callbacks.expect(&sent).await;
    }
    response
}

/// The request of a browser at a redirect URI; the page follows at dev's own address, so that the port is free again.
async fn answer(
    State((callbacks, port)): State<(Arc<Callbacks>, u16)>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let is_form = headers
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/x-www-form-urlencoded"));
    let posted: &[u8] = if is_form { &body } else { &[] };
    let asked = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).into_owned();
    let pairs = asked.chain(form_urlencoded::parse(posted).into_owned());
    let parameters: Vec<(String, String)> = pairs.take(PARAMETERS_MAX).collect();
    if !parameters.iter().any(|(name, _)| name == "code" || name == "error") {
        return (StatusCode::NOT_FOUND, "dev expects a browser here, with a code or an error\n")
            .into_response();
    }
    let finished = callbacks.finish(port, uri.path(), parameters).await;
    let page = callbacks.page_url(&finished);
    callbacks.say(&format!("{}; see {page}", finished.summary()));
    if let Some(open) = callbacks.ports.lock().await.get(&port) {
        open.answered();
    }
    pages::see_other(&page)
}

/// `GET /sign-in` of dev's own listener: begins a sign-in, with a new state and nonce.
pub(super) async fn begin(State(callbacks): State<Arc<Callbacks>>) -> Response {
    let ready = &callbacks.ready;
    let [state, nonce] = [(); 2].map(|()| SystemRandom.token());
    let scope: Vec<&str> = Scope::ALL.into_iter().map(Scope::name).collect();
    let mut query = form_urlencoded::Serializer::new(String::new());
    query
        .append_pair("client_id", &ready.client.client_id)
        .append_pair("response_type", "code")
        .append_pair("redirect_uri", Callbacks::redirect_uri(ready))
        .append_pair("scope", &scope.join(" "))
        .append_pair("state", &state)
        .append_pair("nonce", &nonce);
    if let Some(user) = ready.users.first() {
        query.append_pair("login_hint", &user.email);
    }
    let authorize_url = format!("{}/auth/core/connect/authorize?{}", ready.auth_url, query.finish());
    remember(&callbacks.begun, BegunSignIn { state, nonce, authorize_url: authorize_url.clone() });
    pages::see_other(&authorize_url)
}

/// `GET /sign-in/{id}`: what came of a sign-in.
pub(super) async fn show(
    State(callbacks): State<Arc<Callbacks>>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let page = PageRequest::of(&request);
    let finished = callbacks.finished.lock().iter().find(|finished| finished.id == id).cloned();
    match finished {
        Some(finished) => page::sign_in(&page, &finished, &callbacks.ready),
        None => page::not_found(&page),
    }
}
