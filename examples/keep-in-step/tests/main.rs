//! Tests the settings. The integration tests of the program run the example against a real service.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::process::Command;

#[test]
fn missing_setting_is_named() {
    let copy = std::env::temp_dir().join(format!("keep-in-step-{}.db", std::process::id()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_keep-in-step"));
    let output =
        command.env_clear().env("COPY", &copy).env("BASE_URL", "http://127.0.0.1:9").output().unwrap();
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{suffix}", copy.display()));
    }
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), stderr.trim()),
        (Some(2), "CLIENT_SECRET is not set; `aldaba dev` prints its value")
    );
}
