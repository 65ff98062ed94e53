//! `aldaba client`.

use operator::admin::{Admin, NewClient};
use serde::Serialize;
use serde_json::json;
use store::{Client as Kept, ClientUpdate, Consent, Pkce, Status};

use super::{all_pages, overlap, status_name};
use crate::cli::{Client, PkceMode};
use crate::config::Sources;
use crate::exit::Outcome;
use crate::output::Output;

#[derive(Serialize)]
struct Shown {
    client_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
    name: String,
    redirect_uris: Vec<String>,
    post_logout_uris: Vec<String>,
    pkce: &'static str,
    consent: bool,
    callback_id_token: bool,
    standing: String,
}

impl Shown {
    /// How it signs users in, for people.
    fn settings(&self) -> String {
        format!(
            "pkce               {}\nconsent            {}\ncallback_id_token  {}\npost_logout_uris   {}",
            self.pkce,
            self.consent,
            self.callback_id_token,
            listed(&self.post_logout_uris)
        )
    }

    /// Everything, for people.
    fn all(&self) -> String {
        let Self { client_id, name, standing, redirect_uris, .. } = self;
        format!(
            "client_id          {client_id}\nname               {name}\nstanding           {standing}\n\
             redirect_uris      {}\n{}",
            listed(redirect_uris),
            self.settings()
        )
    }
}

fn listed(uris: &[String]) -> String {
    if uris.is_empty() { "-".into() } else { uris.join(" ") }
}

fn shown(client: Kept, secret: Option<String>) -> Shown {
    Shown {
        client_id: client.id.to_string(),
        client_secret: secret,
        name: client.name,
        redirect_uris: client.redirect_uris,
        post_logout_uris: client.post_logout_uris,
        pkce: match client.pkce {
            Pkce::Required => "required",
            Pkce::IfSent => "if-sent",
            Pkce::Ignore => "ignore",
        },
        consent: client.consent == Consent::Required,
        callback_id_token: client.callback_id_token,
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

fn consent_of(is_asked: bool) -> Consent {
    if is_asked { Consent::Required } else { Consent::None }
}

pub(crate) async fn run(command: Client, sources: &Sources, output: Output) -> Outcome {
    let admin = super::admin(sources).await?;
    match command {
        Client::Add { name, id, redirect_uris, post_logout_uris, pkce, consent, no_callback_id_token } => {
            let (pkce, consent) = (pkce_of(pkce), consent_of(consent));
            let callback_id_token = !no_callback_id_token;
            let new =
                NewClient { id, name, redirect_uris, post_logout_uris, pkce, consent, callback_id_token };
            let (client, secret) = admin.add_client(new).await?;
            let client = shown(client, Some(secret.reveal().to_owned()));
            output.say("The secret is shown once; keep it safe.");
            output.result(&client, || {
                format!("client_id      {}\nclient_secret  {}", client.client_id, secret.reveal())
            });
        }
        Client::List => list(&admin, output).await?,
        Client::Show { id } => {
            let client = shown(admin.client(&id).await?, None);
            output.result(&client, || client.all());
        }
        Client::Disable { id } => set_status(&admin, &id, Status::Disabled, output).await?,
        Client::Enable { id } => set_status(&admin, &id, Status::Active, output).await?,
        Client::Redirect { id, uris } => {
            let client = shown(admin.add_redirect_uris(&id, &uris).await?, None);
            output.result(&client, || client.redirect_uris.join("\n"));
        }
        Client::Unredirect { id, uris } => {
            let client = shown(admin.remove_redirect_uris(&id, &uris).await?, None);
            output.result(&client, || client.redirect_uris.join("\n"));
        }
        Client::Set { id, pkce, consent, callback_id_token, post_logout_uris } => {
            let update = ClientUpdate {
                pkce: pkce.map(pkce_of),
                consent: consent.map(consent_of),
                callback_id_token,
                post_logout_uris: replacing(post_logout_uris),
                ..ClientUpdate::default()
            };
            let client = shown(admin.update_client(&id, update, None).await?, None);
            output.result(&client, || client.settings());
        }
        Client::Rotate { id, overlap: text } => {
            let secret = admin.rotate_client_secret(&id, overlap(&text)?).await?.secret;
            output.say(&format!("The old secret stays valid for {text}."));
            let data = json!({"client_id": id, "client_secret": secret.reveal()});
            output.result(&data, || secret.reveal().to_owned());
        }
    }
    admin.store.close().await;
    Ok(())
}

async fn list(admin: &Admin, output: Output) -> Outcome {
    let clients = all_pages(async |query| admin.store.list_clients(&query).await).await?;
    let all: Vec<Shown> = clients.into_iter().map(|client| shown(client, None)).collect();
    output.list(&all, &["CLIENT_ID", "NAME", "STANDING", "REDIRECT_URIS"], |one| {
        vec![one.client_id.clone(), one.name.clone(), one.standing.clone(), one.redirect_uris.join(" ")]
    });
    Ok(())
}

async fn set_status(admin: &Admin, id: &str, standing: Status, output: Output) -> Outcome {
    admin.set_client_status(id, standing).await?;
    let word = standing.as_str();
    output.done(&json!({"client_id": id, "standing": word}), &format!("client {id} is {word}"));
    Ok(())
}

/// A list that takes the place of another: one empty value empties it, no value leaves it.
fn replacing(values: Vec<String>) -> Option<Vec<String>> {
    match values.as_slice() {
        [] => None,
        [only] if only.is_empty() => Some(Vec::new()),
        _ => Some(values),
    }
}
