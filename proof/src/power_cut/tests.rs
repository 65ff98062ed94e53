//! The library under programs that everybody has.

use super::*;

const WRITE: &str = "dd if=/dev/zero of=a bs=512 count=4";

struct Recorded {
    folder: tempfile::TempDir,
    power: PowerCut,
    settings: NodeSettings,
}

impl Recorded {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut power = PowerCut::of(folder.path()).unwrap();
        let settings = power.record(NodeSettings::default(), None).unwrap();
        Self { folder, power, settings }
    }

    /// Runs a program in the folder; its changes are recorded.
    fn run(&self, words: &str) {
        let mut words = words.split(' ');
        let mut command = Command::new(words.next().unwrap());
        command.args(words).current_dir(self.folder.path()).envs(self.settings.environment.clone());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    /// The file's size after a power cut that nothing unsynced survives.
    fn size_after_cut(&mut self) -> Option<u64> {
        self.power.happen(Survival::Nothing, &mut Random::new(1)).unwrap();
        std::fs::metadata(self.folder.path().join("a")).ok().map(|file| file.len())
    }
}

#[test]
fn synced_file_in_a_synced_folder_survives() {
    let mut recorded = Recorded::new();
    recorded.run(&format!("{WRITE} conv=fsync"));
    recorded.run("sync .");
    assert_eq!(recorded.size_after_cut(), Some(2048));
}

#[test]
fn file_without_a_sync_is_empty() {
    let mut recorded = Recorded::new();
    recorded.run(WRITE);
    recorded.run("sync .");
    assert_eq!(recorded.size_after_cut(), Some(0));
}

#[test]
fn file_in_a_folder_without_a_sync_is_gone() {
    let mut recorded = Recorded::new();
    recorded.run(&format!("{WRITE} conv=fsync"));
    assert_eq!(recorded.size_after_cut(), None);
}

#[test]
fn disk_that_lies_loses_what_was_synced() {
    let mut recorded = Recorded::new();
    recorded.settings = recorded.power.record_without_syncs(NodeSettings::default()).unwrap();
    recorded.run(&format!("{WRITE} conv=fsync"));
    recorded.run("sync .");
    assert_eq!(recorded.size_after_cut(), None);
}

#[test]
fn change_that_the_library_does_not_know_is_refused() {
    let mut recorded = Recorded::new();
    recorded.run(WRITE);
    recorded.run("mv a b");
    assert!(recorded.power.happen(Survival::Nothing, &mut Random::new(1)).is_err());
}
