//! Tenants, users, clients and subscriptions for a test, made over the operator's API of its server.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::TestServer;

pub const CALLBACK: &str = "http://localhost:8765/callback";
/// The password of every test user.
pub const PASSWORD: &str = "una contraseña larga";

static USERS: AtomicU32 = AtomicU32::new(1);

#[derive(Clone, Debug)]
pub struct TestTenant {
    pub id: String,
}

#[derive(Clone, Debug)]
pub struct TestUser {
    pub id: String,
    pub email: String,
}

#[derive(Clone, Debug)]
pub struct TestClient {
    pub id: String,
    pub secret: String,
}

#[derive(Clone, Debug)]
pub struct TestSubscription {
    pub id: String,
    pub primary_key: String,
    pub secondary_key: String,
}

#[track_caller]
fn text(value: &Value, pointer: &str) -> String {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.unwrap_or_else(|| panic!("no text at {pointer} in {value}")).to_owned()
}

impl TestServer {
    #[track_caller]
    pub fn add_tenant(&self, name: &str) -> TestTenant {
        TestTenant { id: text(&self.operator_post("tenants", &json!({ "name": name })), "/id") }
    }

    /// A user of these tenants, with [`PASSWORD`].
    #[track_caller]
    pub fn add_user(&self, tenants: &[&TestTenant]) -> TestUser {
        let email = format!("user-{}@example.com", USERS.fetch_add(1, Ordering::Relaxed));
        let tenants: Vec<&str> = tenants.iter().map(|tenant| tenant.id.as_str()).collect();
        let body = json!({"email": email, "givenName": "Lucía", "password": PASSWORD, "tenants": tenants});
        TestUser { id: text(&self.operator_post("users", &body), "/id"), email }
    }

    /// A client with [`CALLBACK`] as its redirect address.
    #[track_caller]
    pub fn add_client(&self, name: &str) -> TestClient {
        let made = self.operator_post("clients", &json!({"name": name, "redirectUris": [CALLBACK]}));
        TestClient { id: text(&made, "/client/id"), secret: text(&made, "/clientSecret") }
    }

    /// A subscription with all products.
    #[track_caller]
    pub fn add_subscription(&self, name: &str) -> TestSubscription {
        let products = ["accounting", "payroll", "invoicing"];
        let made = self.operator_post("subscriptions", &json!({"name": name, "products": products}));
        TestSubscription {
            id: text(&made, "/subscription/id"),
            primary_key: text(&made, "/primaryKey"),
            secondary_key: text(&made, "/secondaryKey"),
        }
    }

    /// Sends changes through the ingest API. Fails the test where one is rejected.
    #[track_caller]
    pub fn apply_changes(&self, tenant: &TestTenant, changes: &Value) -> Value {
        let result = self.operator_post(&format!("tenants/{}/changes", tenant.id), changes);
        assert_eq!(result["rejected"], 0, "{result}");
        result
    }
}
