//! What Debian has to bring where it is missing.

use std::{
    env, fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use crate::machine;

/// The variable that names the browser, for machines that are no Debian.
const CHROMIUM: &str = "ALDABA_TEST_CHROMIUM";

/// The browser, brought here if it is missing and we may.
pub(super) fn chromium() -> Result<PathBuf, String> {
    if let Some(given) = env::var_os(CHROMIUM).filter(|given| !given.is_empty()) {
        return Some(PathBuf::from(given))
            .filter(|program| program.is_file())
            .ok_or_else(|| format!("{CHROMIUM} names no program"));
    }
    if let Some(found) = find("chromium") {
        return Ok(found);
    }
    install("chromium", &format!("or set {CHROMIUM} to such a browser"))?;
    find("chromium").ok_or_else(|| "Debian's package chromium has brought no chromium".to_owned())
}

/// Installs a package, or says what to do where only somebody else can.
pub(super) fn install(package: &str, otherwise: &str) -> Result<(), String> {
    if !machine::is_root() || find("apt-get").is_none() {
        return Err(format!(
            "{package} is missing. Install it (`apt-get install {package}` as root), {otherwise}."
        ));
    }
    machine::install(package)
        .map_err(|failure| format!("{package} could not be installed: {}", failure.message))
}

/// A program on the path.
pub(super) fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|program| is_program(program))
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_on_the_path() {
        assert!(find("sh").is_some_and(|program| program.ends_with("sh")));
        assert_eq!(find("no-such-program"), None);
    }
}
