//! Programs that come from Debian packages.

use std::{
    env, fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use crate::machine;

/// The environment variable with the browser's path, for machines without Debian's package.
const CHROMIUM: &str = "ALDABA_TEST_CHROMIUM";

/// The same for promtool.
const PROMTOOL: &str = "ALDABA_TEST_PROMTOOL";

/// Chromium without windows: the same engine for a third of the processor time.
const HEADLESS_SHELL: &str = "chromium-headless-shell";

/// The browser, installed if it is missing and this user may install packages.
pub(super) fn chromium() -> Result<PathBuf, String> {
    if let Some(browser) = env::var_os(CHROMIUM).filter(|browser| !browser.is_empty()) {
        return Some(PathBuf::from(browser))
            .filter(|program| program.is_file())
            .ok_or_else(|| format!("{CHROMIUM} is not the path of a program"));
    }
    if let Some(found) = find(HEADLESS_SHELL) {
        return Ok(found);
    }
    let installed = install(HEADLESS_SHELL, &format!("or set {CHROMIUM} to the path of a Chromium"));
    if let (Err(_), Some(found)) = (&installed, find("chromium")) {
        return Ok(found);
    }
    installed?;
    find(HEADLESS_SHELL).ok_or_else(|| {
        format!("Debian's package {HEADLESS_SHELL} was installed, but the path has no program of that name")
    })
}

/// Prometheus' `promtool`. Its Debian package also has a server that would start, so only the files are unpacked, into
/// `folder`.
pub(super) fn promtool(folder: &Path) -> Result<PathBuf, String> {
    if let Some(program) = env::var_os(PROMTOOL).filter(|program| !program.is_empty()) {
        return Some(PathBuf::from(program))
            .filter(|program| is_program(program))
            .ok_or_else(|| format!("{PROMTOOL} is not the path of a program"));
    }
    let unpacked = folder.join("usr/bin/promtool");
    if let Some(found) = find("promtool").or_else(|| Some(unpacked.clone()).filter(|path| is_program(path))) {
        return Ok(found);
    }
    println!("unpacking Debian's package prometheus into {}", folder.display());
    let failed = |why: String| {
        format!(
            "promtool is missing: install Debian's package prometheus, or set {PROMTOOL} to its path. {why}"
        )
    };
    fs::create_dir_all(folder).map_err(|error| failed(error.to_string()))?;
    machine::download("prometheus", folder).map_err(|failure| failed(failure.message))?;
    Some(unpacked)
        .filter(|path| is_program(path))
        .ok_or_else(|| failed("The package contains no usr/bin/promtool.".to_owned()))
}

/// Installs a package as root; otherwise the error says what to do.
pub(crate) fn install(package: &str, alternative: &str) -> Result<(), String> {
    if !machine::is_root() || find("apt-get").is_none() {
        return Err(format!(
            "{package} is missing. Install it (`apt-get install {package}` as root), {alternative}."
        ));
    }
    machine::install(package)
        .map_err(|failure| format!("{package} could not be installed: {}", failure.message))
}

/// A program on the path.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
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
    fn find_searches_the_path() {
        assert!(find("sh").is_some_and(|program| program.ends_with("sh")));
        assert_eq!(find("no-such-program"), None);
    }
}
