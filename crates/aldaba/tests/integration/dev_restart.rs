//! `aldaba dev` started again on the same place is the same again; and neither `dev` nor `server` takes the other's
//! store.

use serde_json::{Value, json};

use crate::harness::{Database, Dev, FinishedProcess, Installation, Program, bank, company};

/// Development's own master key is no secret: it stands in the program's source.
const DEV_MASTER_KEY: &[u8; 32] = b"aldaba dev: not for production!!";

fn dev_master_key() -> String {
    let halves = DEV_MASTER_KEY.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let digits: String = halves.map(|half| char::from_digit(half.into(), 16).unwrap()).collect();
    format!("store.master_key={digits}")
}

/// The line without the addresses, whose ports are chosen anew.
fn without_addresses(ready: &Value) -> Value {
    let mut ready = ready.clone();
    for address in ["base_url", "auth_url", "operator_url", "console_url", "receiver_url"] {
        assert!(ready.as_object_mut().unwrap().remove(address).is_some());
    }
    ready
}

fn heads(dev: &Dev) -> Vec<u64> {
    (0..dev.tenants().len()).map(|tenant| dev.ingest_client(tenant).head()).collect()
}

#[track_caller]
fn ended_well(done: &FinishedProcess) {
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
}

/// Starts twice on one place, with edits in between.
fn is_the_same_again(place: &[&str]) {
    let first = Dev::start(place);
    assert!(heads(&first).iter().all(|&head| head > 100), "the sample is in");
    let edits = [bank("till", "Caja Rural"), company("another-company")];
    assert_eq!(first.ingest_client(0).send_lines(&edits).counts(), (2, 0));
    let (line, written) = (without_addresses(&first.ready), heads(&first));
    ended_well(&first.stop());

    let second = Dev::start(place);
    assert_eq!(heads(&second), written, "nothing is lost, and the sample is not loaded twice");
    let again = second.ingest_client(0).send_lines(&edits);
    assert_eq!((again.counts(), again.head()), ((2, 0), written[0]), "the edits are there as they were");
    let mut expected = line;
    let companies = expected["tenants"][0]["companies"].as_array_mut().unwrap();
    companies.push(json!("another-company"));
    assert_eq!(without_addresses(&second.ready), expected);
    ended_well(&second.stop());
}

#[test]
fn the_same_again_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("not/there/yet");
    is_the_same_again(&["--data", data.to_str().unwrap()]);
}

#[test]
fn the_same_again_in_postgres() {
    let database = Database::create();
    is_the_same_again(&["--store", &database.url()]);
}

#[test]
fn empty_stays_empty_and_a_redirect_uri_is_for_one_start() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let first = Dev::start(&["--data", data, "--empty", "--redirect-uri", "https://app.example/cb"]);
    assert_eq!(first.ready["client"]["redirect_uri"], "https://app.example/cb");
    let line = without_addresses(&first.ready);
    ended_well(&first.stop());
    let second = Dev::start(&["--data", data]);
    assert_eq!(heads(&second), [0, 0, 0], "who wanted no records gets none later");
    let mut expected = line;
    for client in ["client", "other_client"] {
        expected[client]["redirect_uri"] = json!("http://localhost:8765/callback");
    }
    assert_eq!(without_addresses(&second.ready), expected);
}

#[test]
fn serve_refuses_a_development_store() {
    let folder = tempfile::tempdir().unwrap();
    ended_well(&Dev::start(&["--empty", "--data", folder.path().to_str().unwrap()]).stop());
    let store = format!("sqlite:{}", folder.path().join("aldaba.db").display());
    let installation = Installation::new();
    let server = |arguments: &[&str]| {
        let any = ["serve", "--listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0", "--store", &store];
        installation.program(&any).with(arguments).run()
    };
    server(&[]).expect_failure(4, "the master key does not open this store");
    server(&["--set", &dev_master_key()]).expect_failure(5, "this store was made by `aldaba dev`");
}

#[test]
fn dev_refuses_a_store_that_is_not_its_own() {
    let installation = Installation::new();
    installation.add_tenant("of-production");
    let store = format!("sqlite:{}", installation.path().join("aldaba.db").display());
    Dev::program(&["--store", &store]).run().expect_failure(4, "the master key does not open this store");

    let folder = tempfile::tempdir().unwrap();
    let store = format!("store.url=sqlite:{}", folder.path().join("aldaba.db").display());
    let add = ["--set", &store, "--set", &dev_master_key(), "tenant", "add", "Asesoría"];
    Program::new(&add).run().code(0);
    Dev::program(&["--data", folder.path().to_str().unwrap()])
        .run()
        .expect_failure(5, "this is not a development store");
}
