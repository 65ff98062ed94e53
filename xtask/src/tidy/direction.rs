//! The direction of dependencies between the workspace's crates: downward, never sideways. One table says
//! where each crate stands.

use toml::{Table, Value};

use super::{Fault, house::House};

/// The ground floor's neighbours, which never import each other.
const LOWER: [&str; 3] = ["store", "ui", "web"];
/// The four in the middle, which never import each other either.
const MIDDLE: [&str; 4] = ["identity", "gateway", "webhooks", "operator"];

/// Where each crate stands, and the groups of crates that it may import, from the ground up. `client` is what
/// integrators import, so it stands aside; of the product only the program uses it.
const TABLE: [(&str, &[&[&str]]); 12] = [
    ("domain", &[]),
    ("store", &[&["domain"]]),
    ("ui", &[&["domain"]]),
    ("web", &[&["domain"]]),
    ("identity", &[&["domain"], &LOWER]),
    ("gateway", &[&["domain"], &LOWER]),
    ("webhooks", &[&["domain"], &LOWER]),
    ("operator", &[&["domain"], &LOWER]),
    ("sample", &[&["domain"]]),
    ("aldaba", &[&["domain"], &LOWER, &MIDDLE, &["sample", "client"]]),
    ("client", &[&["domain"]]),
    ("xtask", &[&["domain"]]),
];

/// The crate whose tests see everything together, so that their dependencies are free.
const TESTS_ARE_FREE: &str = "aldaba";

const SECTIONS: [&str; 3] = ["dependencies", "build-dependencies", "dev-dependencies"];

pub(super) fn faults(house: &House) -> Vec<Fault> {
    let shared =
        house.file("Cargo.toml").and_then(|file| file.text.parse::<Table>().ok()).unwrap_or_default();
    let shared =
        shared.get("workspace").and_then(|workspace| workspace.get("dependencies")).and_then(Value::as_table);
    let folders = house.crates().into_iter().map(|name| (name, format!("crates/{name}/Cargo.toml")));
    folders
        .chain([("xtask", "xtask/Cargo.toml".to_owned())])
        .filter_map(|(name, path)| house.file(&path).map(|file| of_crate(name, &path, &file.text, shared)))
        .flatten()
        .collect()
}

fn of_crate(name: &str, path: &str, text: &str, shared: Option<&Table>) -> Vec<Fault> {
    let Some((_, groups)) = TABLE.iter().find(|(known, _)| *known == name) else {
        let what =
            format!("`{name}` is unknown: say in tidy where it stands (xtask/src/tidy/direction.rs, TABLE)");
        return vec![Fault::new(path, 1, what)];
    };
    let manifest = match text.parse::<Table>() {
        Ok(manifest) => manifest,
        Err(error) => return vec![Fault::new(path, 1, format!("is no TOML: {}", error.message()))],
    };
    let allowed = groups.concat();
    let mut faults = Vec::new();
    for (section, key, specification) in dependencies(&manifest) {
        let Some(target) = folder(key, specification, shared) else {
            continue;
        };
        let free = section == "dev-dependencies" && name == TESTS_ARE_FREE;
        if !free && !allowed.contains(&target.as_str()) {
            let may = if allowed.is_empty() { "none of them".to_owned() } else { allowed.join(", ") };
            let what = format!("`{name}` may not depend on `{target}`: of our crates it may import {may}");
            faults.push(Fault::new(path, line_of(text, section, key), what));
        }
    }
    faults
}

/// Every dependency of a manifest, for any target: the section's name, the key and what stands behind it.
fn dependencies(manifest: &Table) -> Vec<(&'static str, &str, &Value)> {
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let places: Vec<&Table> = targets.filter_map(Value::as_table).chain([manifest]).collect();
    let mut found = Vec::new();
    for place in places {
        for section in SECTIONS {
            let entries = place.get(section).and_then(Value::as_table).into_iter().flatten();
            found.extend(entries.map(|(key, specification)| (section, key.as_str(), specification)));
        }
    }
    found
}

/// The folder's name if the dependency is a crate of this workspace, which is always named by its path.
fn folder(key: &str, specification: &Value, shared: Option<&Table>) -> Option<String> {
    let inherited = specification.get("workspace").and_then(Value::as_bool).unwrap_or(false);
    let specification = if inherited { shared?.get(key)? } else { specification };
    let path = specification.get("path")?.as_str()?;
    Some(path.trim_end_matches('/').rsplit('/').next()?.to_owned())
}

/// Where the key stands below its section's heading; the first line if it is written in a way of its own.
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

    /// The faults of one crate with this manifest, as text.
    fn told(name: &str, manifest: &str) -> Vec<String> {
        let path =
            if name == "xtask" { "xtask/Cargo.toml".to_owned() } else { format!("crates/{name}/Cargo.toml") };
        let house = House::of(&[("Cargo.toml", ROOT), (&path, manifest)]);
        faults(&house).iter().map(Fault::to_string).collect()
    }

    #[test]
    fn downward_is_right() {
        let everything_below = "[dependencies]\ndomain.workspace = true\nstore = { workspace = true }\n\
                                web.workspace = true\ntoml.workspace = true\nserde = \"1\"\n";
        assert!(told("gateway", everything_below).is_empty());
        assert!(told("aldaba", &format!("{everything_below}gateway.workspace = true\n")).is_empty());
        assert!(
            told("aldaba", "[dependencies]\nsample.workspace = true\nclient.workspace = true\n").is_empty()
        );
        assert!(told("xtask", "[dependencies]\ndomain.workspace = true\n").is_empty());
    }

    #[test]
    fn upward_and_sideways_are_wrong() {
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
                let told =
                    told(name, &format!("[package]\nname = \"x\"\n[{section}]\n{target}.workspace = true\n"));
                assert_eq!(told.len(), 1, "{name} -> {target} in {section}");
                assert!(
                    told[0].contains(&format!("Cargo.toml:4: `{name}` may not depend on `{target}`")),
                    "{told:?}"
                );
            }
        }
    }

    #[test]
    fn the_programs_tests_are_free_and_nobody_elses() {
        let manifest = "[dev-dependencies]\nxtask = { path = \"../../xtask\" }\n";
        assert!(told("aldaba", manifest).is_empty());
        assert_eq!(told("gateway", manifest).len(), 1);
        assert_eq!(told("aldaba", &manifest.replace("dev-", "")).len(), 1);
    }

    #[test]
    fn a_dependency_hides_nowhere() {
        for manifest in [
            "[dependencies.web]\nworkspace = true\n",
            "[dependencies]\nsite = { path = \"../web\", package = \"aldaba-web\" }\n",
            "[target.'cfg(unix)'.dependencies]\nweb.workspace = true\n",
            "[target.'cfg(unix)'.build-dependencies.web]\npath = \"../web/\"\n",
        ] {
            let told = told("store", manifest);
            assert!(
                matches!(&told[..], [one] if one.contains("`store` may not depend on `web`")),
                "{manifest}"
            );
        }
    }

    #[test]
    fn a_new_crate_needs_a_place() {
        let told = told("attic", "[dependencies]\n");
        assert!(
            told[0].starts_with("crates/attic/Cargo.toml:1: `attic` is unknown: say in tidy where it stands")
        );
    }

    #[test]
    fn the_table_has_no_circles_and_no_strangers() {
        for (place, (name, groups)) in TABLE.iter().enumerate() {
            for target in groups.concat() {
                let below = TABLE.iter().position(|(known, _)| *known == target).unwrap();
                assert!(below < place || target == "client", "{name} -> {target}");
            }
        }
    }
}
