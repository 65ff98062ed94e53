//! Commands beside a running dev: they find its store, say so, and never take it for a configured one.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;

use crate::harness::{Dev, HttpRequest, Program, wait_for};

fn dev(runtime: &Path, arguments: &[&str]) -> Dev {
    Dev::run(Dev::program(&["--empty"]).with(arguments).runtime_folder(runtime))
}

fn command(runtime: &Path, arguments: &[&str]) -> Program {
    Program::new(arguments).runtime_folder(runtime)
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

#[test]
fn commands_without_a_configuration_work_on_the_store_of_dev() {
    let runtime = tempfile::tempdir().unwrap();
    let dev = dev(runtime.path(), &[]);
    let listed = command(runtime.path(), &["client", "list"]).run().code(0);
    let using = format!("no configuration given: using the running dev at {}", dev.text("base_url"));
    assert!(listed.stderr.starts_with(&using), "{listed:?}");
    assert!(listed.stdout.contains("Panel de ventas"), "{listed:?}");
    let tenants = command(runtime.path(), &["tenant", "list", "--json"]).run().json();
    assert!(names(&tenants).contains(&"Asesoría Peñalver"), "{tenants}");

    // What a command adds, the running dev serves: its operator API shows the new client.
    let arguments = ["client", "add", "Mía", "--redirect-uri", "http://localhost:3000/cb", "--json"];
    let added = command(runtime.path(), &arguments).run().json();
    let id = added["client_id"].as_str().unwrap();
    let shown = HttpRequest::get(&format!("{}/operator/v1/clients/{id}", dev.text("operator_url")))
        .header("authorization", &format!("Bearer {}", dev.text("operator_token")))
        .send()
        .json();
    assert_eq!(shown["name"], "Mía", "{shown}");
    // The links of invitations lead to this dev.
    let invited = command(runtime.path(), &["operator", "invite", "eva@example.com", "--json"]).run().json();
    let port = dev.text("operator_url").rsplit(':').next().unwrap();
    assert!(invited.to_string().contains(&format!("localhost:{port}/")), "{invited}");
    let triggered = command(runtime.path(), &["trigger", "companies.created", "--json"]);
    let triggered =
        ["OPERATOR", "TOKEN", "TENANT"].iter().fold(triggered, |one, name| one.variable(name, ""));
    assert_eq!(triggered.run().json()["event"], "Svc.ACC.Companies.CompanyCreated");
    assert_eq!(dev.stop().code, Some(0));
    let after = command(runtime.path(), &["client", "list"]).run();
    after.expect_failure(3, "no configuration given, and no `aldaba dev` of this user is running");
}

#[test]
fn one_of_several_devs_is_chosen_by_process_or_url() {
    let runtime = tempfile::tempdir().unwrap();
    let first = dev(runtime.path(), &[]);
    let mut second = dev(runtime.path(), &[]);
    let add = |more: &[&str], name: &str| {
        let arguments = [&["tenant", "add", name][..], more].concat();
        command(runtime.path(), &arguments).run().code(0).stderr
    };
    assert!(add(&[], "Nueva").contains(second.text("base_url")), "the newest is the default");
    assert!(add(&["--dev", &first.process.id().to_string()], "Primera").contains(first.text("base_url")));
    let url = first.text("portal_url").to_owned();
    let listed = command(runtime.path(), &["tenant", "list", "--json", "--dev", &url]).run().json();
    assert!(names(&listed).contains(&"Primera") && !names(&listed).contains(&"Nueva"), "{listed}");
    let refused = command(runtime.path(), &["tenant", "list", "--dev", "http://127.0.0.1:9"]).run();
    refused.expect_failure(5, "no running dev has this process id or URL; running are");

    // One that crashed is not found any more.
    second.process.kill();
    let listed = wait_for("the crashed dev to be forgotten", || {
        let listed = command(runtime.path(), &["tenant", "list", "--json"]).run().json();
        (!names(&listed).contains(&"Nueva")).then_some(listed)
    });
    assert!(names(&listed).contains(&"Primera"), "{listed}");
}

#[test]
fn configured_command_never_works_on_dev() {
    let runtime = tempfile::tempdir().unwrap();
    let dev = dev(runtime.path(), &[]);
    let list = || command(runtime.path(), &["tenant", "list"]);
    let missing = "store.master_key";
    for configured in
        [list().with(&["--set", "logging.level=warn"]), list().variable("ALDABA__LOGGING__LEVEL", "warn")]
    {
        let finished = configured.run();
        assert!(finished.stderr.contains(missing) && !finished.stderr.contains("dev"), "{finished:?}");
        finished.code(3);
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("aldaba.toml"), "[logging]\nlevel = \"warn\"\n").unwrap();
    list().inside(folder.path()).run().expect_failure(3, missing);
    let file = folder.path().join("aldaba.toml");
    list().with(&["--config", file.to_str().unwrap()]).run().expect_failure(3, missing);
    list().inside(folder.path()).with(&["--dev", "1"]).run().expect_failure(2, "exclude each other");
    // Nor does one whose runtime folder others could write to.
    let open = runtime.path().join("aldaba");
    let mode = std::fs::Permissions::from_mode;
    std::fs::set_permissions(&open, mode(0o777)).unwrap();
    list().run().expect_failure(3, "no `aldaba dev` of this user is running");
    std::fs::set_permissions(&open, mode(0o700)).unwrap();
    list().run().code(0);
    assert_eq!(dev.stop().code, Some(0));
}

#[test]
fn other_commands_refuse_to_choose_a_dev() {
    for command in [&["serve"][..], &["dev"], &["check"], &["openapi"]] {
        let refused = Program::new(&["--dev", "1"]).with(command).run();
        refused.expect_failure(2, "--dev is for commands that work beside a running dev");
    }
}
