//! It says what it needs. How it keeps in step is told by the program's stories, against a real Aldaba.
#![allow(clippy::unwrap_used, reason = "a story that cannot go on stops where it stands")]

use std::process::Command;

#[test]
fn a_missing_setting_is_named() {
    let copy = std::env::temp_dir().join(format!("keep-in-step-{}.db", std::process::id()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_keep-in-step"));
    let done = command.env_clear().env("COPY", &copy).env("BASE_URL", "http://127.0.0.1:9").output().unwrap();
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", copy.display()));
    }
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(
        (done.status.code(), said.trim()),
        (Some(2), "CLIENT_SECRET is not set; `aldaba dev` prints its value")
    );
}
