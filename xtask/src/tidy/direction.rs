//! Checks the direction of dependencies between the workspace's crates: downward, never sideways. One table has the
//! allowed dependencies of each crate.

use toml::{Table, Value};

use super::{Violation, source_tree::SourceTree};

/// The layer above `domain`. These crates never import each other.
const LOWER: [&str; 3] = ["store", "ui", "web"];
/// The middle layer. These crates never import each other either.
const MIDDLE: [&str; 4] = ["identity", "gateway", "webhooks", "operator"];

/// Each crate and the groups of crates that it may import. `client` is what integrators import: only the program uses it.
const TABLE: [(&str, &[&[&str]]); 17] = [
    ("domain", &[]),
    ("store", &[&["domain"]]),
    ("ui", &[&["domain"]]),
    ("web", &[&["domain"]]),
    ("identity", &[&["domain"], &LOWER]),
    ("gateway", &[&["domain"], &LOWER]),
    ("webhooks", &[&["domain"], &LOWER]),
    ("operator", &[&["domain"], &LOWER]),
    ("pages", &[&["domain"], &LOWER, &MIDDLE]),
    ("portal", &[&["domain"], &LOWER, &MIDDLE, &["pages"]]),
    ("console", &[&["domain"], &LOWER, &MIDDLE, &["pages"]]),
    ("sample", &[&["domain"]]),
    ("aldaba", &[&["domain"], &LOWER, &MIDDLE, &["pages", "portal", "console", "sample", "client"]]),
    ("client", &[&["domain"]]),
    ("testkit", &[&["domain"]]),
    ("testserver", &[&["domain", "store", "aldaba", "testkit"]]),
    ("xtask", &[&["domain"]]),
];

/// The crate that every crate's tests may use.
const TESTKIT: &str = "testkit";

/// The crate whose tests exercise everything together and may import any crate.
const EXEMPT_TESTS: &str = "aldaba";

const SECTIONS: [&str; 3] = ["dependencies", "build-dependencies", "dev-dependencies"];

pub(super) fn violations(source_tree: &SourceTree) -> Vec<Violation> {
    let workspace_dependencies =
        source_tree.file("Cargo.toml").and_then(|file| file.text.parse::<Table>().ok()).unwrap_or_default();
    let workspace_dependencies = workspace_dependencies
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies"))
        .and_then(Value::as_table);
    let folders = source_tree.crates().into_iter().map(|name| (name, format!("crates/{name}/Cargo.toml")));
    folders
        .chain([("xtask", "xtask/Cargo.toml".to_owned())])
        .filter_map(|(name, path)| {
            source_tree.file(&path).map(|file| check_crate(name, &path, &file.text, workspace_dependencies))
        })
        .flatten()
        .collect()
}

fn check_crate(name: &str, path: &str, text: &str, workspace_dependencies: Option<&Table>) -> Vec<Violation> {
    let Some((_, groups)) = TABLE.iter().find(|(known, _)| *known == name) else {
        let what =
            format!("`{name}` is unknown: list its dependencies in xtask/src/tidy/direction.rs, TABLE");
        return vec![Violation::new(path, 1, what)];
    };
    let manifest = match text.parse::<Table>() {
        Ok(manifest) => manifest,
        Err(error) => {
            return vec![Violation::new(path, 1, format!("is not valid TOML: {}", error.message()))];
        }
    };
    let allowed = groups.concat();
    let mut violations = Vec::new();
    for (section, key, specification) in dependencies(&manifest) {
        let Some(target) = folder(key, specification, workspace_dependencies) else {
            continue;
        };
        // A crate's tests may switch on its own features.
        let is_own = target == ".";
        let is_exempt =
            section == "dev-dependencies" && (name == EXEMPT_TESTS || target == TESTKIT || is_own);
        if !is_exempt && !allowed.contains(&target.as_str()) {
            let list = if allowed.is_empty() { "none".to_owned() } else { allowed.join(", ") };
            let what = format!("`{name}` may not depend on `{target}`: of our crates it may import {list}");
            violations.push(Violation::new(path, line_of(text, section, key), what));
        }
    }
    violations
}

/// Every dependency of a manifest, for any target: the section, the key and the value.
fn dependencies(manifest: &Table) -> Vec<(&'static str, &str, &Value)> {
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let tables: Vec<&Table> = targets.filter_map(Value::as_table).chain([manifest]).collect();
    let mut found = Vec::new();
    for index in tables {
        for section in SECTIONS {
            let entries = index.get(section).and_then(Value::as_table).into_iter().flatten();
            found.extend(entries.map(|(key, specification)| (section, key.as_str(), specification)));
        }
    }
    found
}

/// The folder's name if the dependency is a crate of this workspace: those always have a path.
fn folder(key: &str, specification: &Value, workspace_dependencies: Option<&Table>) -> Option<String> {
    let inherited = specification.get("workspace").and_then(Value::as_bool).unwrap_or(false);
    let specification = if inherited { workspace_dependencies?.get(key)? } else { specification };
    let path = specification.get("path")?.as_str()?;
    Some(path.trim_end_matches('/').rsplit('/').next()?.to_owned())
}

/// The line of the key in its section; line 1 if it is written in another form.
fn line_of(text: &str, section: &str, key: &str) -> usize {
    let is_key = |line: &str| {
        let rest = line.trim_start().strip_prefix(key);
        rest.is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
    };
    let mut inside = false;
    for (index, line) in text.lines().enumerate() {
        if line.starts_with('[') {
            inside = line.ends_with(&format!("{section}]"));
            if line.ends_with(&format!("{section}.{key}]")) {
                return index + 1;
            }
        } else if inside && is_key(line) {
            return index + 1;
        }
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = r#"
[workspace.dependencies]
domain = { path = "crates/domain", package = "aldaba-domain" }
store = { path = "crates/store", package = "aldaba-store" }
web = { path = "crates/web", package = "aldaba-web" }
gateway = { path = "crates/gateway", package = "aldaba-gateway" }
client = { path = "crates/client", package = "aldaba-client" }
sample = { path = "crates/sample", package = "aldaba-sample" }
toml = "1"
"#;

    /// The violations of one crate with this manifest, as text.
    fn messages(name: &str, manifest: &str) -> Vec<String> {
        let path =
            if name == "xtask" { "xtask/Cargo.toml".to_owned() } else { format!("crates/{name}/Cargo.toml") };
        let source_tree = SourceTree::of(&[("Cargo.toml", ROOT), (&path, manifest)]);
        violations(&source_tree).iter().map(Violation::to_string).collect()
    }

    #[test]
    fn downward_dependencies_are_allowed() {
        let everything_below = "[dependencies]\ndomain.workspace = true\nstore = { workspace = true }\n\
                                web.workspace = true\ntoml.workspace = true\nserde = \"1\"\n";
        assert!(messages("gateway", everything_below).is_empty());
        assert!(messages("aldaba", &format!("{everything_below}gateway.workspace = true\n")).is_empty());
        assert!(
            messages("aldaba", "[dependencies]\nsample.workspace = true\nclient.workspace = true\n")
                .is_empty()
        );
        assert!(messages("xtask", "[dependencies]\ndomain.workspace = true\n").is_empty());
    }

    #[test]
    fn upward_and_sideways_dependencies_are_reported() {
        for (name, target) in [
            ("domain", "store"),
            ("store", "web"),
            ("store", "gateway"),
            ("webhooks", "gateway"),
            ("gateway", "sample"),
            ("gateway", "client"),
            ("client", "store"),
            ("xtask", "store"),
        ] {
            for section in SECTIONS {
                let messages = messages(
                    name,
                    &format!("[package]\nname = \"x\"\n[{section}]\n{target}.workspace = true\n"),
                );
                assert_eq!(messages.len(), 1, "{name} -> {target} in {section}");
                assert!(
                    messages[0].contains(&format!("Cargo.toml:4: `{name}` may not depend on `{target}`")),
                    "{messages:?}"
                );
            }
        }
    }

    #[test]
    fn only_the_programs_tests_are_exempt() {
        let manifest = "[dev-dependencies]\nxtask = { path = \"../../xtask\" }\n";
        assert!(messages("aldaba", manifest).is_empty());
        assert_eq!(messages("gateway", manifest).len(), 1);
        assert_eq!(messages("aldaba", &manifest.replace("dev-", "")).len(), 1);
    }

    #[test]
    fn every_form_of_a_dependency_is_found() {
        for manifest in [
            "[dependencies.web]\nworkspace = true\n",
            "[dependencies]\nsite = { path = \"../web\", package = \"aldaba-web\" }\n",
            "[target.'cfg(unix)'.dependencies]\nweb.workspace = true\n",
            "[target.'cfg(unix)'.build-dependencies.web]\npath = \"../web/\"\n",
        ] {
            let messages = messages("store", manifest);
            assert!(
                matches!(&messages[..], [one] if one.contains("`store` may not depend on `web`")),
                "{manifest}"
            );
        }
    }

    #[test]
    fn new_crate_needs_an_entry() {
        let messages = messages("unlisted", "[dependencies]\n");
        assert!(
            messages[0]
                .starts_with("crates/unlisted/Cargo.toml:1: `unlisted` is unknown: list its dependencies")
        );
    }

    #[test]
    fn table_has_no_cycles_and_no_unknown_crates() {
        for (index, (name, groups)) in TABLE.iter().enumerate() {
            for target in groups.concat() {
                let below = TABLE.iter().position(|(known, _)| *known == target).unwrap();
                assert!(below < index || target == "client", "{name} -> {target}");
            }
        }
    }
}
