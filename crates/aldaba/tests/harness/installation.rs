//! A folder set up by `aldaba init`: configuration, secrets and store.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::totp::{TimeStep, TotpSecret};
use domain::{AccountId, OperatorRole, Realm, Secret};
use store::sqlite::SqliteStore;
use store::{
    Account, Accounts as _, AuditContext, AuditEntry, AuditKind, FIRST_REVISION, FactorAddition,
    FactorEffects, FactorMethod, Maintenance as _, MasterKey, Ports, SecondFactor, SecondFactors as _,
    Session, Sessions as _, Status, Vault,
};
use tempfile::TempDir;

use super::Program;
use super::process::delete_after_exit;

pub(crate) struct Installation {
    folder: TempDir,
}

impl Installation {
    /// With an SQLite store in the same folder.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("aldaba.db").display());
        Self::init(folder, &url)
    }

    /// With the store at this URL.
    pub(crate) fn with_store(store: &str) -> Self {
        Self::init(tempfile::tempdir().unwrap(), store)
    }

    fn init(folder: TempDir, store: &str) -> Self {
        let installation = Self { folder };
        let path = installation.path().to_str().unwrap();
        Program::new(&["init", path, "--base-url", "http://127.0.0.1:8080", "--store", store]).run().code(0);
        installation
    }

    /// For an installation in a `static`, which Rust never drops: its folder is deleted when the test process ends.
    pub(crate) fn delete_after_exit(&self) {
        delete_after_exit(self.path());
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.path().join("aldaba.toml")
    }

    pub(crate) fn token(&self) -> String {
        std::fs::read_to_string(self.path().join("operator.token")).unwrap().trim().to_owned()
    }

    /// The program with this configuration.
    pub(crate) fn program(&self, arguments: &[&str]) -> Program {
        Program::new(&["--config", self.config().to_str().unwrap()]).with(arguments)
    }

    #[track_caller]
    pub(crate) fn add_tenant(&self, id: &str) {
        self.program(&["tenant", "add", "Asesoría", "--id", id]).run().code(0);
    }

    /// Adds an operator `<id>@operators.example`, who has no password.
    #[track_caller]
    pub(crate) fn add_operator(&self, id: &str, role: OperatorRole) {
        self.add_account(id, Realm::Operators, Some(role));
    }

    /// Adds a developer `<id>@developers.example`, who has no password.
    #[track_caller]
    pub(crate) fn add_developer(&self, id: &str) {
        self.add_account(id, Realm::Developers, None);
    }

    #[track_caller]
    pub(crate) fn add_account(&self, id: &str, realm: Realm, role: Option<OperatorRole>) {
        let base = aldaba::BasePorts::system();
        let account = Account {
            id: AccountId::new(id),
            realm,
            email: format!("{id}@{}.example", realm.as_str()),
            given_name: "Nuria".into(),
            family_name: String::new(),
            lang: "es".into(),
            password_hash: String::new(),
            status: Status::Active,
            role,
            created_at: base.clock.now(),
            updated_at: base.clock.now(),
            revision: FIRST_REVISION,
        };
        self.in_store(async |store| {
            store.add_account(&account, &[], &AuditContext::default()).await.unwrap();
        });
    }

    /// Gives an account an authenticator app.
    #[track_caller]
    pub(crate) fn add_second_factor(&self, realm: Realm, account: &str) {
        let base = aldaba::BasePorts::system();
        let factor = SecondFactor {
            id: base.random.guid(),
            realm,
            account: AccountId::new(account),
            name: "App".into(),
            method: FactorMethod::Totp {
                secret: TotpSecret::random(&*base.random).base32(),
                last_used: TimeStep(0),
            },
            created_at: base.clock.now(),
            last_used_at: None,
        };
        self.in_store(async |store| {
            let (effects, context) = (FactorEffects::default(), AuditContext::default());
            let added = store.add_second_factor(&factor, &[], None, &effects, &context).await;
            assert!(matches!(added, Ok(FactorAddition::Added { .. })), "{added:?}");
        });
    }

    /// Signs an account in.
    #[track_caller]
    pub(crate) fn add_session(&self, realm: Realm, account: &str) {
        let base = aldaba::BasePorts::system();
        let (now, context) = (base.clock.now(), AuditContext::default());
        let session = Session {
            id: base.random.guid(),
            realm,
            account: AccountId::new(account),
            authenticated_at: now,
            methods: "pwd".into(),
            expires_at: now + std::time::Duration::from_secs(60 * 60),
            address: "192.0.2.7".into(),
            user_agent: "Firefox".into(),
        };
        let entry = AuditEntry::new(AuditKind::signed_in(realm), now, &context);
        let cookie = Secret::new(base.random.token());
        self.in_store(async |store| {
            store.begin_session(&cookie, &session, None, None, &entry).await.unwrap();
        });
    }

    /// Opens the store beside the server.
    pub(crate) fn in_store<T>(&self, action: impl AsyncFnOnce(&SqliteStore) -> T) -> T {
        let base = aldaba::BasePorts::system();
        let master = std::fs::read_to_string(self.path().join("master.key")).unwrap();
        let vault = Arc::new(Vault::new(&MasterKey::parse(&master).unwrap()).unwrap());
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let ports = Ports { clock: base.clock, random: base.random, vault };
            let store = SqliteStore::open(&self.path().join("aldaba.db"), ports).unwrap();
            let result = action(&store).await;
            store.close().await;
            result
        })
    }

    /// Copies the master key of another installation, as an operator does before restoring its backup.
    pub(crate) fn copy_master_key_from(&self, other: &Self) {
        std::fs::copy(other.path().join("master.key"), self.path().join("master.key")).unwrap();
    }
}
