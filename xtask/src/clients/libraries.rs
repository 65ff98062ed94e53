//! Installs what the applications in `clients/libraries` need: below the cache, or as Debian packages.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::{Directories, debian, prepare, with_path};

/// The applications for Node, each in its folder.
const NODE: [&str; 3] = ["authjs", "express", "passport"];

/// The applications in Java, each a Maven project in its folder.
const JAVA: [&str; 2] = ["spring", "nimbus"];

/// Where Debian's package has the module of Apache.
const APACHE_MODULE: &str = "/usr/lib/apache2/modules/mod_auth_openidc.so";

/// What the application in Ruby loads, and the Debian package of each.
const RUBY: [(&str, &str); 3] = [
    ("omniauth_openid_connect", "ruby-omniauth-openid-connect"),
    ("sinatra/base", "ruby-sinatra"),
    ("puma", "puma"),
];

/// Whatever runs in the test command; returns the folder with the installations.
pub(super) fn prepare(directories: &Directories) -> Result<PathBuf, String> {
    let (sources, folder) = folders(directories)?;
    prepare::python(&sources, &folder.join("venv"))?;
    let node = prepare::node(&sources, &folder.join("node"))?;
    for name in NODE {
        prepare::copy(&sources.join(name), &node.join(name))?;
    }
    go(&sources.join("go"), &folder.join("go"))?;
    Ok(folder)
}

/// What runs in `cargo xtask prove clients` alone.
pub(super) fn prepare_heavy(directories: &Directories) -> Result<(), String> {
    let (sources, folder) = folders(directories)?;
    if !Path::new(APACHE_MODULE).is_file() {
        debian::install("libapache2-mod-auth-openidc", "because Apache runs with it")?;
    }
    for (library, package) in RUBY {
        if !has_ruby(library) {
            debian::install(package, "because the application in Ruby uses it")?;
        }
    }
    for (program, package) in [("javac", "default-jdk-headless"), ("mvn", "maven")] {
        if debian::find(program).is_none() {
            debian::install(package, "because the applications in Java are built with it")?;
        }
    }
    JAVA.iter().try_for_each(|name| java(&sources.join(name), &folder, name))
}

fn folders(directories: &Directories) -> Result<(PathBuf, PathBuf), String> {
    let (sources, folder) = (directories.sources.join("libraries"), directories.cache.join("libraries"));
    fs::create_dir_all(&folder).map_err(with_path(&folder))?;
    Ok((sources, folder))
}

/// Builds with any Go since 1.19, which Debian 12 has; `go.sum` has the hashes.
fn go(source: &Path, folder: &Path) -> Result<(), String> {
    if debian::find("go").is_none() {
        debian::install("golang-go", "or put Go 1.19 or newer on the path")?;
    }
    if !folder.exists() {
        println!("building the application in Go into {}", folder.display());
    }
    let mut build = Command::new("go");
    build.args(["build", "-mod=readonly", "-o"]).arg(folder.join("bin/app")).arg(".").current_dir(source);
    // No other toolchain is downloaded, and what is downloaded can be deleted.
    build.env("GOTOOLCHAIN", "local").env("GOFLAGS", "-modcacherw").env("GOWORK", "off");
    build.env("GOPATH", folder).env("GOCACHE", folder.join("cache"));
    prepare::finish("go build", &mut build)
}

fn has_ruby(library: &str) -> bool {
    let mut ruby = Command::new("ruby");
    ruby.args(["-r", library, "-e", "0"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    ruby.status().is_ok_and(|status| status.success())
}

/// Builds a Maven project into `folder/java/name`; wrong checksums are errors.
fn java(source: &Path, folder: &Path, name: &str) -> Result<(), String> {
    println!("building the application {name} with Maven");
    let property = |name: &str, path: PathBuf| format!("-D{name}={}", path.display());
    let mut maven = Command::new("mvn");
    maven
        .args(["--quiet", "--batch-mode", "--strict-checksums", "package", "--file"])
        .arg(source.join("pom.xml"));
    maven.arg(property("maven.repo.local", folder.join("maven")));
    maven.arg(property("buildDirectory", folder.join("java").join(name)));
    prepare::finish("mvn package", &mut maven)
}
