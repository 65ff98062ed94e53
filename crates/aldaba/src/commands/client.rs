//! `aldaba client`: registers, lists and changes OAuth clients.

use domain::ClientKind;
use domain::subscription::Products;
use operator::admin::{Admin, NewClient};
use serde::Serialize;
use serde_json::json;
use store::{CallbackIdToken, Client as StoredClient, ClientUpdate, Consent, ListFilter, Pkce, Status};

use super::{all_pages, existing_team, overlap, products_named, status_name, team_or_none};
use crate::cli::{CallbackIdTokenMode, Client, ClientAdd, ClientKindArg, PkceMode};
use crate::config::Sources;
use crate::exit::CommandResult;
use crate::output::Output;

#[derive(Serialize)]
struct ClientView {
    client_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
    name: String,
    kind: &'static str,
    redirect_uris: Vec<String>,
    post_logout_uris: Vec<String>,
    backchannel_logout_uri: Option<String>,
    pkce: &'static str,
    consent: bool,
    callback_id_token: &'static str,
    products: Vec<&'static str>,
    team: Option<String>,
    sandbox: bool,
    standing: String,
}

impl ClientView {
    /// The sign-in settings as text.
    fn settings(&self) -> String {
        format!(
            "pkce               {}\nconsent            {}\ncallback_id_token  {}\nproducts           {}\n\
             team               {}\npost_logout_uris   {}\nbackchannel_logout {}",
            self.pkce,
            self.consent,
            self.callback_id_token,
            self.products.join(" "),
            match (&self.team, self.sandbox) {
                (None, false) => "-".to_owned(),
                (None, true) => "- (sandbox)".to_owned(),
                (Some(team), false) => team.clone(),
                (Some(team), true) => format!("{team} (sandbox)"),
            },
            joined_or_dash(&self.post_logout_uris),
            self.backchannel_logout_uri.as_deref().unwrap_or("-")
        )
    }

    /// All settings as text.
    fn all(&self) -> String {
        let Self { client_id, name, kind, standing, redirect_uris, .. } = self;
        format!(
            "client_id          {client_id}\nname               {name}\nkind               {kind}\nstatus             {standing}\n\
             redirect_uris      {}\n{}",
            joined_or_dash(redirect_uris),
            self.settings()
        )
    }
}

fn joined_or_dash(uris: &[String]) -> String {
    if uris.is_empty() { "-".into() } else { uris.join(" ") }
}

fn view(client: StoredClient, secret: Option<String>) -> ClientView {
    let pkce = match client.pkce_rule() {
        Pkce::Required => "required",
        Pkce::IfSent => "if-sent",
        Pkce::Ignore => "ignore",
    };
    ClientView {
        client_id: client.id.to_string(),
        client_secret: secret,
        name: client.name,
        kind: client.kind.as_str(),
        redirect_uris: client.redirect_uris,
        post_logout_uris: client.post_logout_uris,
        backchannel_logout_uri: client.backchannel_logout_uri,
        pkce,
        consent: client.consent == Consent::Required,
        callback_id_token: client.callback_id_token.as_str(),
        products: client.products.names(),
        team: client.team.map(|team| team.to_string()),
        sandbox: client.is_sandbox,
        standing: status_name(client.status),
    }
}

fn pkce_of(mode: PkceMode) -> Pkce {
    match mode {
        PkceMode::Required => Pkce::Required,
        PkceMode::IfSent => Pkce::IfSent,
        PkceMode::Ignore => Pkce::Ignore,
    }
}

fn kind_of(kind: ClientKindArg) -> ClientKind {
    match kind {
        ClientKindArg::Web => ClientKind::Web,
        ClientKindArg::Browser => ClientKind::Browser,
        ClientKindArg::Native => ClientKind::Native,
        ClientKindArg::ResourceServer => ClientKind::ResourceServer,
    }
}

fn callback_id_token_of(mode: CallbackIdTokenMode) -> CallbackIdToken {
    match mode {
        CallbackIdTokenMode::Auto => CallbackIdToken::Auto,
        CallbackIdTokenMode::Always => CallbackIdToken::Always,
        CallbackIdTokenMode::Never => CallbackIdToken::Never,
    }
}

fn consent_of(is_required: bool) -> Consent {
    if is_required { Consent::Required } else { Consent::None }
}

pub(crate) async fn run(command: Client, sources: &Sources, output: Output) -> CommandResult {
    let admin = super::admin(sources).await?;
    match command {
        Client::Add(new) => add(&admin, new, output).await?,
        Client::List { team } => list(&admin, team.as_deref(), output).await?,
        Client::Show { id } => {
            let client = view(admin.client(&id).await?, None);
            output.result(&client, || client.all());
        }
        Client::Disable { id } => set_status(&admin, &id, Status::Disabled, output).await?,
        Client::Enable { id } => set_status(&admin, &id, Status::Active, output).await?,
        Client::Redirect { id, uris } => {
            let client = view(admin.add_redirect_uris(&id, &uris).await?, None);
            output.result(&client, || client.redirect_uris.join("\n"));
        }
        Client::Unredirect { id, uris } => {
            let client = view(admin.remove_redirect_uris(&id, &uris).await?, None);
            output.result(&client, || client.redirect_uris.join("\n"));
        }
        Client::Set {
            id,
            pkce,
            consent,
            callback_id_token,
            products,
            post_logout_uris,
            backchannel_logout_uri,
            team,
            sandbox,
        } => {
            let update = ClientUpdate {
                pkce: pkce.map(pkce_of),
                consent: consent.map(consent_of),
                callback_id_token: callback_id_token.map(callback_id_token_of),
                products: products_named(&products),
                post_logout_uris: replacement(post_logout_uris),
                backchannel_logout_uri: backchannel_logout_uri
                    .map(|uri| Some(uri).filter(|uri| !uri.is_empty())),
                team: team.as_deref().map(team_or_none),
                is_sandbox: sandbox,
                ..ClientUpdate::default()
            };
            let client = view(admin.update_client(&id, update, None).await?, None);
            output.result(&client, || client.settings());
        }
        Client::Rotate { id, overlap: text } => {
            let secret = admin.rotate_client_secret(&id, overlap(&text)?).await?.secret;
            output.print_message(&format!("The old secret remains valid for {text}."));
            let data = json!({"client_id": id, "client_secret": secret.reveal()});
            output.result(&data, || secret.reveal().to_owned());
        }
    }
    admin.store.close().await;
    Ok(())
}

async fn add(admin: &Admin, new: ClientAdd, output: Output) -> CommandResult {
    let mode = if new.no_callback_id_token { CallbackIdTokenMode::Never } else { new.callback_id_token };
    let new = NewClient {
        id: new.id,
        name: new.name,
        kind: kind_of(new.kind),
        redirect_uris: new.redirect_uris,
        post_logout_uris: new.post_logout_uris,
        backchannel_logout_uri: new.backchannel_logout_uri,
        pkce: new.pkce.map(pkce_of),
        consent: consent_of(new.consent),
        callback_id_token: callback_id_token_of(mode),
        products: products_named(&new.products).unwrap_or_else(Products::all),
        team: new.team,
    };
    let (client, secret) = admin.add_client(new).await?;
    let client = view(client, secret.map(|secret| secret.reveal().to_owned()));
    output.print_message(match client.client_secret {
        Some(_) => "The secret is shown only now. Store it safely.",
        None => "The client is public: it has no secret and must use PKCE.",
    });
    output.result(&client, || match &client.client_secret {
        Some(secret) => format!("client_id      {}\nclient_secret  {secret}", client.client_id),
        None => format!("client_id      {}", client.client_id),
    });
    Ok(())
}

async fn list(admin: &Admin, team: Option<&str>, output: Output) -> CommandResult {
    let filter = ListFilter { team: existing_team(admin, team).await?, ..ListFilter::default() };
    let clients = all_pages(async |query| admin.store.list_clients(&filter, &query).await).await?;
    let all: Vec<ClientView> = clients.into_iter().map(|client| view(client, None)).collect();
    output.list(&all, &["CLIENT_ID", "NAME", "KIND", "STATUS", "REDIRECT_URIS"], |client| {
        vec![
            client.client_id.clone(),
            client.name.clone(),
            client.kind.to_owned(),
            client.standing.clone(),
            client.redirect_uris.join(" "),
        ]
    });
    Ok(())
}

async fn set_status(admin: &Admin, id: &str, status: Status, output: Output) -> CommandResult {
    admin.set_client_status(id, status).await?;
    let status = status.as_str();
    output.done(&json!({"client_id": id, "standing": status}), &format!("client {id} is {status}"));
    Ok(())
}

/// The new value of a list: none to leave it unchanged, or empty if the only value is ''.
fn replacement(values: Vec<String>) -> Option<Vec<String>> {
    match values.as_slice() {
        [] => None,
        [only] if only.is_empty() => Some(Vec::new()),
        _ => Some(values),
    }
}
