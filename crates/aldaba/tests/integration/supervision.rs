//! A background task that panics or ends makes the service not ready and ends the process.

use testserver::{Request, TestServer};

use crate::harness::Installation;

/// Every background task of a service on SQLite.
const TASKS: [&str; 15] = [
    "backchannel-logout",
    "commit-listener",
    "delivery-engine",
    "figures",
    "gateway-calls",
    "gateway-usage",
    "maintenance",
    "notices",
    "operator-listener",
    "overview",
    "public-listener",
    "shard-leases",
    "signing-keys",
    "store",
    "webhook-poll",
];

#[test]
fn the_list_of_tasks_is_complete() {
    assert_eq!(TestServer::start().supervisor().names(), TASKS);
}

#[test]
fn a_panic_of_any_task_makes_the_service_not_ready_and_names_the_task() {
    for task in TASKS {
        let server = TestServer::start();
        assert_eq!(server.get("/readyz").status, 200);
        server.supervisor().panic_task(task);
        let failure = server.block_on(server.supervisor().failed());
        assert_eq!(failure.task, task);
        let message = format!("the background task `{task}` panicked: a test asked for this panic");
        assert_eq!(failure.to_string(), message);

        if task != "public-listener" {
            let ready = server.get("/readyz");
            assert_eq!((ready.status, ready.text()), (503, r#"{"status":"not ready"}"#.to_owned()), "{task}");
        }
        if task != "operator-listener" {
            let ready = Request::get(&format!("{}/readyz", server.operator_url())).send();
            assert_eq!((ready.status, &ready.json()["failure"]), (503, &message.into()), "{task}");
        }
        assert_eq!(server.stop(), Some(failure), "{task}");
    }
}

#[test]
fn the_end_of_the_stores_writer_is_a_failure() {
    let server = TestServer::start();
    server.block_on(server.store().close());
    let failure = server.block_on(server.supervisor().failed());
    assert_eq!(failure.to_string(), "the background task `store` ended unexpectedly");
    assert_eq!(server.stop(), Some(failure));
}

#[test]
fn a_service_that_stops_in_order_reports_no_failure() {
    assert_eq!(TestServer::start().stop(), None);
}

#[test]
fn the_program_ends_with_code_9_and_a_log_line_that_names_the_task() {
    let any = "127.0.0.1:0";
    let installation = Installation::new();
    let program = installation.program(&["serve", "--listen", any, "--operator-listen", any]);
    let finished = program.variable("ALDABA_TEST_PANIC_TASK", "maintenance").start().wait_for_exit();
    assert_eq!(finished.code, Some(9), "{}", finished.stderr);
    assert!(finished.stderr.contains("the background task `maintenance` panicked"), "{}", finished.stderr);
}
