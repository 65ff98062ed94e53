//! Checks of a configuration file: any text as `aldaba.toml`.

use std::path::Path;
use std::sync::LazyLock;

use domain::fuzzing::signature;

use super::{address, layers, parse_duration, report, typed};

const NAME: &str = "aldaba.toml";
/// What a fault must not repeat.
const SECRET: &str = "correct-horse-battery";

static KEYS: LazyLock<usize> = LazyLock::new(|| layers::defaults().map_or(0, |defaults| defaults.len()));

/// Any text as the configuration file. Every fault names its line; what is accepted has all keys of the defaults, and neither a fault nor the
/// list of keys repeats the master key.
pub fn configuration(data: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(data);
    let _ = (parse_duration(&text), address::format_error(&text), address::host(&text));
    let (settings, mut faults) = match layers::gather_text(&text, NAME, Path::new("/nonexistent")) {
        Ok(gathered) => gathered,
        Err(faults) => {
            check_faults(&faults, &text);
            return faults.first().map_or(0, |fault| signature(&fault.message));
        }
    };
    let (_, of_values) = typed::read(&settings);
    faults.extend(of_values);
    check_faults(&faults, &text);
    let listed = report::keys(&settings);
    assert_eq!(listed.len(), *KEYS);
    let master_key = format!("{:?}", listed.iter().find(|one| one.key == "store.master_key"));
    assert!(!master_key.contains(SECRET), "{master_key}");
    faults.iter().fold(1, |outcome, fault| outcome.rotate_left(7) ^ signature(&fault.message))
}

fn check_faults(faults: &[super::ConfigFault], text: &str) {
    let lines = text.matches('\n').count() + 1;
    for fault in faults {
        assert!(!fault.message.is_empty() && !fault.origin.is_empty(), "{fault:?}");
        if let Some(line) = fault.origin.strip_prefix(NAME).and_then(|line| line.strip_prefix(':')) {
            assert!(line.parse::<usize>().is_ok_and(|line| (1..=lines).contains(&line)), "{fault:?}");
        }
    }
}
