//! The tenants, users, clients and keys of a development store, saved in plain text in the store itself.

use domain::subscription::{Product, Products};
use domain::{
    AccountId, ClientKind, OperatorRole, Random as _, Realm, Secret, TenantId, password, redirect_uri,
};
use operator::admin::{Admin, NewClient, NewSubscription, NewUser};
use serde::{Deserialize, Serialize};
use store::{
    Account, AuditContext, CallbackIdToken, ClientUpdate, Consent, FIRST_REVISION, ListQuery, Pkce, Status,
    Store, TeamRole,
};

use crate::cli::Dev;
use crate::config::Server;
use crate::documents::{is_local_page, sign_in_redirect_uri};
use crate::exit::Failure;
use crate::wiring::SystemRandom;

/// A redirect URI that both clients always have.
pub(super) const CALLBACK_URI: &str = "http://localhost:8765/callback";
/// Marks a new store as a development store before anything else is written.
const UNFINISHED: &str = "unfinished";
/// The names of the two clients.
pub(super) const CLIENT_NAMES: [&str; 2] = ["Panel de ventas", "Otra aplicación"];
const TEAM_NAME: &str = "Panel";
pub(super) const PASSWORD: &str = "aldaba-dev-2026";
/// E-mail address, name, language, and the indexes of the user's tenants.
pub(super) const USERS: [(&str, &str, &str, &[usize]); 3] = [
    ("maria@example.com", "María", "es", &[0]),
    ("inaki@example.com", "Iñaki", "es", &[0, 1]),
    ("helen@example.com", "Helen", "en", &[2]),
];

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Credentials {
    pub(super) operator_token: String,
    pub(super) subscription: Keys,
    pub(super) payroll_subscription: Keys,
    pub(super) client: Client,
    pub(super) other_client: Client,
    pub(super) users: Vec<User>,
    /// In order of creation.
    pub(super) tenants: Vec<String>,
    /// The accounts for the portal and the console; a store of an earlier version gets them at its next start.
    #[serde(default)]
    pub(super) developer: Option<Person>,
    #[serde(default)]
    pub(super) operator: Option<Person>,
    /// Whether the sample records were loaded or skipped (`--empty`).
    pub(super) sample_is_settled: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Keys {
    pub(crate) primary_key: String,
    pub(crate) secondary_key: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(clippy::struct_field_names, reason = "the member names of the ready line")]
pub(crate) struct Client {
    pub(crate) client_id: String,
    pub(crate) client_secret: String,
    pub(crate) redirect_uri: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct User {
    pub(crate) email: String,
    pub(crate) password: String,
    pub(crate) tenants: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Person {
    pub(crate) email: String,
    pub(crate) password: String,
}

impl Credentials {
    pub(super) async fn save(&self, store: &dyn Store) -> Result<(), Failure> {
        let json = serde_json::to_string(self).map_err(|error| Failure::Failed(error.to_string()))?;
        Ok(store.save_dev_credentials(&json).await?)
    }
}

/// Loads the credentials of the store, or creates them in a new store.
pub(super) async fn load_or_create(admin: &Admin, args: &Dev) -> Result<Credentials, Failure> {
    let mut credentials = match admin.store.dev_credentials().await? {
        Some(json) if json == UNFINISHED => {
            return Err(Failure::Refused(
                "the first start on this store was interrupted; delete the store and start again".into(),
            ));
        }
        Some(json) => serde_json::from_str(&json).map_err(|error| {
            Failure::Failed(format!("cannot read the credentials of the development store: {error}"))
        })?,
        None if !admin.store.list_tenants(&ListQuery { after: None, rows_max: 1 }).await?.rows.is_empty() => {
            return Err(Failure::Refused(
                "this store was not created by `aldaba dev`; choose another --data folder or --store".into(),
            ));
        }
        None => {
            admin.store.save_dev_credentials(UNFINISHED).await?;
            create(admin).await?
        }
    };
    for client in [&mut credentials.client, &mut credentials.other_client] {
        admin.add_redirect_uris(&client.client_id, &args.redirect_uris).await?;
        args.redirect_uris.first().map_or(CALLBACK_URI, String::as_str).clone_into(&mut client.redirect_uri);
    }
    if credentials.developer.is_none() {
        let developer = person(admin, Realm::Developers, "diego@example.com", "Diego").await?;
        add_team(admin, &developer, &credentials.client).await?;
        credentials.developer = Some(developer);
    }
    if credentials.operator.is_none() {
        credentials.operator = Some(person(admin, Realm::Operators, "olga@example.com", "Olga").await?);
    }
    credentials.save(&*admin.store).await?;
    Ok(credentials)
}

/// The developer's team. It owns a client and has a subscription of its own; the printed ones belong to no team.
async fn add_team(admin: &Admin, developer: &Person, client: &Client) -> Result<(), Failure> {
    let account = admin.find_developer(&developer.email).await?;
    if !admin.developer_teams(&account).await?.is_empty() {
        return Ok(());
    }
    let team = admin.add_team(None, TEAM_NAME).await?.id;
    let new = NewSubscription {
        name: TEAM_NAME.to_owned(),
        products: Products::all(),
        daily_quota: None,
        team: Some(team.to_string()),
    };
    admin.add_subscription(new).await?;
    let update = ClientUpdate { team: Some(Some(team.clone())), ..ClientUpdate::default() };
    admin.update_client(&client.client_id, update, None).await?;
    // Last: it marks the team as complete.
    admin.add_team_member(team.as_str(), &developer.email, TeamRole::Owner).await?;
    Ok(())
}

/// Adds a developer or an operator.
async fn person(admin: &Admin, realm: Realm, email: &str, name: &str) -> Result<Person, Failure> {
    let hash = password::hash(&Secret::new(PASSWORD), &*admin.random);
    let account = Account {
        id: AccountId::from(admin.random.guid()),
        realm,
        email: email.to_owned(),
        given_name: name.to_owned(),
        family_name: String::new(),
        lang: "es".to_owned(),
        password_hash: hash.map_err(|why| Failure::Failed(why.to_owned()))?,
        status: Status::Active,
        role: (realm == Realm::Operators).then_some(OperatorRole::Admin),
        created_at: admin.clock.now(),
        updated_at: admin.clock.now(),
        revision: FIRST_REVISION,
    };
    // An earlier start may have been interrupted before it saved the credentials.
    if admin.store.find_account_by_email(realm, email).await?.is_none() {
        admin.store.add_account(&account, &[], &AuditContext::default()).await?;
    }
    Ok(Person { email: email.to_owned(), password: PASSWORD.to_owned() })
}

/// Registers the redirect URI of the page at `/docs/` for both clients, and removes those of other ports. The ready line does not
/// show it.
pub(super) async fn register_docs_page(
    admin: &Admin,
    credentials: &Credentials,
    server: &Server,
) -> Result<(), Failure> {
    let page = sign_in_redirect_uri(server)
        .filter(|uri| server.docs && redirect_uri::check(uri, ClientKind::Web).is_ok());
    for client in [&credentials.client, &credentials.other_client] {
        let registered = admin.client(&client.client_id).await?.redirect_uris;
        let is_old = |uri: &String| is_local_page(uri) && Some(uri) != page.as_ref();
        let old: Vec<String> = registered.into_iter().filter(is_old).collect();
        if let Some(page) = &page {
            admin.add_redirect_uris(&client.client_id, std::slice::from_ref(page)).await?;
        }
        if !old.is_empty() {
            admin.remove_redirect_uris(&client.client_id, &old).await?;
        }
    }
    Ok(())
}

async fn create(admin: &Admin) -> Result<Credentials, Failure> {
    let mut tenants = Vec::new();
    for (name, code) in
        [("Asesoría Peñalver", "4101"), ("Gestoría Ibáñez & Núñez", "4102"), ("Bodegas Güell", "4103")]
    {
        tenants.push(admin.add_tenant(None, name, Some(code)).await?.id);
    }
    let mut users = Vec::new();
    for (email, name, lang, indexes) in USERS {
        let members_of = indexes.iter().filter_map(|index| tenants.get(*index).cloned()).collect();
        users.push(user(admin, email, name, lang, members_of).await?);
    }
    let [name, other_name] = CLIENT_NAMES;
    let client = client(admin, name).await?;
    let other_client = self::client(admin, other_name).await?;
    Ok(Credentials {
        operator_token: SystemRandom.token(),
        subscription: keys(admin, "Desarrollo", Products::all()).await?,
        payroll_subscription: keys(admin, "Solo nóminas", [Product::Payroll].into_iter().collect()).await?,
        client,
        other_client,
        users,
        tenants: tenants.iter().map(ToString::to_string).collect(),
        developer: None,
        operator: None,
        sample_is_settled: false,
    })
}

async fn user(
    admin: &Admin,
    email: &str,
    name: &str,
    lang: &str,
    tenants: Vec<TenantId>,
) -> Result<User, Failure> {
    let tenant_ids = tenants.iter().map(ToString::to_string).collect();
    let new = NewUser {
        email: email.to_owned(),
        given_name: name.to_owned(),
        family_name: String::new(),
        lang: lang.to_owned(),
        password: Secret::new(PASSWORD),
        tenants,
    };
    admin.add_user(new).await?;
    Ok(User { email: email.to_owned(), password: PASSWORD.to_owned(), tenants: tenant_ids })
}

async fn client(admin: &Admin, name: &str) -> Result<Client, Failure> {
    let new = NewClient {
        id: None,
        name: name.to_owned(),
        redirect_uris: vec![CALLBACK_URI.to_owned()],
        post_logout_uris: Vec::new(),
        backchannel_logout_uri: None,
        pkce: Some(Pkce::IfSent),
        consent: Consent::None,
        kind: ClientKind::Web,
        callback_id_token: CallbackIdToken::Auto,
        products: Products::all(),
        team: None,
    };
    let (client, secret) = admin.add_client(new).await?;
    Ok(Client {
        client_id: client.id.to_string(),
        client_secret: secret.map(|secret| secret.reveal().to_owned()).unwrap_or_default(),
        redirect_uri: CALLBACK_URI.to_owned(),
    })
}

async fn keys(admin: &Admin, name: &str, products: Products) -> Result<Keys, Failure> {
    let new = NewSubscription { name: name.into(), products, daily_quota: None, team: None };
    let (_, keys) = admin.add_subscription(new).await?;
    Ok(Keys {
        primary_key: keys.primary.reveal().to_owned(),
        secondary_key: keys.secondary.reveal().to_owned(),
    })
}
