//! Signs a user in through the program's pages, to get the codes and tokens that the benchmarks need.

use std::net::SocketAddr;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::program::PreparedStore;
use crate::{Fallible, wire};

pub(crate) const CALLBACK: &str = "http://localhost:8765/callback";
const PASSWORD: &str = "cuatro palabras sin sentido";
const EMAIL: &str = "bench@example.com";

/// An application and the cookies of its signed-in user.
pub(crate) struct SignedIn {
    address: SocketAddr,
    client: String,
    secret: String,
    cookies: String,
}

/// An application and its user, before sign-in.
pub(crate) struct Application {
    pub(crate) client: String,
    pub(crate) secret: String,
    pub(crate) email: String,
    pub(crate) password: String,
}

impl Application {
    pub(crate) fn register(store: &PreparedStore) -> Fallible<Self> {
        let tenant = store.tenant();
        let user = ["user", "add", EMAIL, "--given-name", "Bench", "--tenant", tenant];
        store.command(&user, &format!("{PASSWORD}\n"))?;
        let client = ["client", "add", "Bench", "--redirect-uri", CALLBACK, "--json"];
        let client_json: serde_json::Value = serde_json::from_str(&store.command(&client, "")?)?;
        let text = |member: &str| client_json[member].as_str().map(ToOwned::to_owned).ok_or("no client");
        let (email, password) = (EMAIL.to_owned(), PASSWORD.to_owned());
        Ok(Self { client: text("client_id")?, secret: text("client_secret")?, email, password })
    }

    pub(crate) async fn sign_in(self, address: SocketAddr) -> Fallible<SignedIn> {
        let mut browser =
            SignedIn { address, client: self.client, secret: self.secret, cookies: String::new() };
        let mut stream = TcpStream::connect(address).await?;
        let to_login = browser.get(&mut stream, &browser.authorize()).await?;
        let login = to_login.location.ok_or("no sign-in page")?;
        let ticket = login.split("ticket=").nth(1).ok_or("no ticket")?.to_owned();
        browser.cookies = to_login.cookies;
        let password = self.password.replace(' ', "+");
        let body = format!("ticket={ticket}&username={}&password={password}", self.email);
        let signed_in = browser.post(&mut stream, "/auth/core/login", &body).await?;
        if signed_in.cookies.is_empty() {
            return Err(format!("the sign-in failed: {}", signed_in.text).into());
        }
        browser.cookies = format!("{}; {}", browser.cookies, signed_in.cookies);
        Ok(browser)
    }
}

/// The parts of a response that the sign-in needs.
struct ParsedResponse {
    location: Option<String>,
    cookies: String,
    text: String,
}

impl SignedIn {
    /// Without a nonce, so that the callback needs no signature.
    fn authorize(&self) -> String {
        format!(
            "/auth/core/connect/authorize?client_id={}&response_type=code&redirect_uri={CALLBACK}&state=s\
             &scope=openid+offline_access+SVC.ES.NEWPOL.ACC.API+SVC.ES.EquipoContex+SVC.ES.Webhooks",
            self.client
        )
    }

    /// New authorization codes.
    pub(crate) async fn codes(&self, count: usize) -> Fallible<Vec<String>> {
        let mut stream = TcpStream::connect(self.address).await?;
        let mut codes = Vec::with_capacity(count);
        for _ in 0..count {
            let response = self.get(&mut stream, &self.authorize()).await?;
            let location = response.location.unwrap_or_default();
            let code = location.split("code=").nth(1).and_then(|rest| rest.split('&').next());
            codes.push(code.ok_or_else(|| format!("no code in {location} {}", response.text))?.to_owned());
        }
        Ok(codes)
    }

    pub(crate) async fn access_token(&self) -> Fallible<String> {
        let code = self.codes(1).await?.pop().unwrap_or_default();
        let mut stream = TcpStream::connect(self.address).await?;
        let text = exchange(&mut stream, &self.exchange(&code)).await?.text;
        let token = text.split("\"access_token\":\"").nth(1).and_then(|rest| rest.split('"').next());
        Ok(token.ok_or(text.as_str())?.to_owned())
    }

    /// The request that exchanges a code.
    pub(crate) fn exchange(&self, code: &str) -> Vec<u8> {
        self.token_request(&format!("grant_type=authorization_code&code={code}&redirect_uri={CALLBACK}"))
    }

    /// The request that exchanges a refresh token.
    pub(crate) fn refresh(&self, token: &str) -> Vec<u8> {
        self.token_request(&format!("grant_type=refresh_token&refresh_token={token}"))
    }

    fn token_request(&self, fields: &str) -> Vec<u8> {
        let body = format!("{fields}&client_id={}&client_secret={}", self.client, self.secret);
        self.request("POST", "/auth/core/connect/token", &body)
    }

    fn request(&self, method: &str, path: &str, body: &str) -> Vec<u8> {
        let cookies =
            if self.cookies.is_empty() { String::new() } else { format!("cookie: {}\r\n", self.cookies) };
        format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\n{cookies}content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .into_bytes()
    }

    async fn get(&self, stream: &mut TcpStream, path: &str) -> Fallible<ParsedResponse> {
        exchange(stream, &self.request("GET", path, "")).await
    }

    async fn post(&self, stream: &mut TcpStream, path: &str, body: &str) -> Fallible<ParsedResponse> {
        exchange(stream, &self.request("POST", path, body)).await
    }
}

async fn exchange(stream: &mut TcpStream, request: &[u8]) -> Fallible<ParsedResponse> {
    stream.write_all(request).await?;
    let mut buffer = vec![0; 32 * 1024];
    let text = String::from_utf8(wire::response(stream, &mut buffer).await?.to_vec())?;
    let lines = |name: &str| {
        let name = format!("{name}: ");
        text.lines()
            .filter_map(move |line| line.strip_prefix(&name).map(ToOwned::to_owned))
            .collect::<Vec<_>>()
    };
    let pairs: Vec<String> =
        lines("set-cookie").iter().filter_map(|line| line.split(';').next().map(ToOwned::to_owned)).collect();
    Ok(ParsedResponse { location: lines("location").pop(), cookies: pairs.join("; "), text })
}
