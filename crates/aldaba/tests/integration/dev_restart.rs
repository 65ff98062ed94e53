//! Restarting `aldaba dev` on the same store changes nothing; `dev` and `serve` refuse each other's stores.

use serde_json::{Value, json};

use crate::harness::{Database, Dev, FinishedProcess, HttpRequest, Installation, Program, bank, company};

/// The master key of `aldaba dev` is public: it is a constant in the program's source.
const DEV_MASTER_KEY: &[u8; 32] = b"aldaba dev: not for production!!";

fn dev_master_key() -> String {
    let halves = DEV_MASTER_KEY.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    halves.map(|half| char::from_digit(half.into(), 16).unwrap()).collect()
}

/// The ready line without addresses, whose ports change at every start.
fn without_addresses(ready: &Value) -> Value {
    let mut ready = ready.clone();
    for address in ["base_url", "auth_url", "operator_url", "console_url", "portal_url", "receiver_url"] {
        assert!(ready.as_object_mut().unwrap().remove(address).is_some());
    }
    ready
}

fn heads(dev: &Dev) -> Vec<u64> {
    (0..dev.tenants().len()).map(|tenant| dev.ingest_client(tenant).head()).collect()
}

#[track_caller]
fn expect_clean_exit(finished: &FinishedProcess) {
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
}

/// Starts dev twice on one store, with edits in between.
fn restart_keeps_everything(store_arguments: &[&str]) {
    let first = Dev::start(store_arguments);
    assert!(heads(&first).iter().all(|&head| head > 100), "the sample data is loaded");
    let edits = [bank("till", "Caja Rural"), company("another-company")];
    assert_eq!(first.ingest_client(0).send_lines(&edits).counts(), (2, 0));
    let (line, written) = (without_addresses(&first.ready), heads(&first));
    expect_clean_exit(&first.stop());

    let second = Dev::start(store_arguments);
    assert_eq!(heads(&second), written, "nothing is lost, and the sample is not loaded twice");
    let again = second.ingest_client(0).send_lines(&edits);
    assert_eq!((again.counts(), again.head()), ((2, 0), written[0]), "the edits are unchanged");
    let mut expected = line;
    let companies = expected["tenants"][0]["companies"].as_array_mut().unwrap();
    companies.push(json!("another-company"));
    assert_eq!(without_addresses(&second.ready), expected);
    expect_clean_exit(&second.stop());
}

#[test]
fn restart_keeps_everything_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("not/there/yet");
    restart_keeps_everything(&["--data", data.to_str().unwrap()]);
}

#[test]
fn restart_keeps_everything_in_postgres() {
    let database = Database::create();
    restart_keeps_everything(&["--store", &database.url()]);
}

#[test]
fn empty_store_stays_empty_and_redirect_uri_lasts_one_start() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let first = Dev::start(&["--data", data, "--empty", "--redirect-uri", "https://app.example/cb"]);
    assert_eq!(first.ready["client"]["redirect_uri"], "https://app.example/cb");
    let line = without_addresses(&first.ready);
    expect_clean_exit(&first.stop());
    let second = Dev::start(&["--data", data]);
    assert_eq!(heads(&second), [0, 0, 0], "a store created with --empty stays empty");
    let mut expected = line;
    for client in ["client", "other_client"] {
        expected[client]["redirect_uri"] = json!("http://localhost:8765/callback");
    }
    assert_eq!(without_addresses(&second.ready), expected);
}

/// The redirect URIs of a client of the ready line.
fn redirect_uris(dev: &Dev, client: &str) -> Value {
    let id = dev.ready[client]["client_id"].as_str().unwrap();
    let url = format!("{}/operator/v1/clients/{id}", dev.ready["operator_url"].as_str().unwrap());
    let token = format!("Bearer {}", dev.ready["operator_token"].as_str().unwrap());
    HttpRequest::get(&url).header("authorization", &token).send().json()["redirectUris"].clone()
}

#[test]
fn clients_can_sign_in_at_the_page_of_the_present_port() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--empty", "--data", folder.path().to_str().unwrap()];
    for _ in 0..2 {
        let dev = Dev::start(&arguments);
        let port = dev.ready["base_url"].as_str().unwrap().rsplit(':').next().unwrap();
        let page = format!("http://localhost:{port}/docs/oauth2-redirect.html");
        for client in ["client", "other_client"] {
            assert_eq!(redirect_uris(&dev, client), json!(["http://localhost:8765/callback", page]));
            assert_eq!(dev.ready[client]["redirect_uri"], "http://localhost:8765/callback");
        }
        expect_clean_exit(&dev.stop());
    }
    let dev = Dev::start(&["--empty", "--set", "server.docs=false"]);
    assert_eq!(redirect_uris(&dev, "client"), json!(["http://localhost:8765/callback"]));
}

#[test]
fn serve_refuses_a_development_store() {
    let folder = tempfile::tempdir().unwrap();
    expect_clean_exit(&Dev::start(&["--empty", "--data", folder.path().to_str().unwrap()]).stop());
    let store = format!("sqlite:{}", folder.path().join("aldaba.db").display());
    let installation = Installation::new();
    let any = ["serve", "--listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0", "--store", &store];
    let server = || installation.program(&any);
    server().run().expect_failure(4, "the master key does not open this store");
    let with_key = server().variable("ALDABA__STORE__MASTER_KEY", dev_master_key());
    with_key.run().expect_failure(5, "this store was created by `aldaba dev`");
}

#[test]
fn dev_refuses_a_production_store() {
    let installation = Installation::new();
    installation.add_tenant("of-production");
    let store = format!("sqlite:{}", installation.path().join("aldaba.db").display());
    Dev::program(&["--store", &store]).run().expect_failure(4, "the master key does not open this store");

    let folder = tempfile::tempdir().unwrap();
    let store = format!("store.url=sqlite:{}", folder.path().join("aldaba.db").display());
    let add = Program::new(&["--set", &store, "tenant", "add", "Asesoría"]);
    add.variable("ALDABA__STORE__MASTER_KEY", dev_master_key()).run().code(0);
    Dev::program(&["--data", folder.path().to_str().unwrap()])
        .run()
        .expect_failure(5, "this store was not created by `aldaba dev`");
}
