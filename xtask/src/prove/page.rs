//! `docs/reliability.md`: each scenario has a section, which its run replaces. Everything else on the page stays.

use std::fmt::Write as _;

use serde_json::Value;

/// The page with the section of a scenario replaced by what a run saw.
pub(super) fn with_section(page: &str, name: &str, report: &Value, run: &str) -> Result<String, String> {
    let (begin, end) = markers(name);
    let missing = || format!("docs/reliability.md has no `{begin}` before a `{end}`");
    let (before, rest) = page.split_once(&begin).ok_or_else(missing)?;
    let (_, after) = rest.split_once(&end).ok_or_else(missing)?;
    Ok(format!("{before}{begin}\n{}{end}{after}", section(name, report, run)))
}

fn markers(name: &str) -> (String, String) {
    (format!("<!-- written by `cargo xtask prove {name}` -->"), format!("<!-- end of {name} -->"))
}

fn section(scenario: &str, report: &Value, run: &str) -> String {
    let mut text = format!("\n{run} Repeat it with `cargo xtask prove {scenario}`.\n");
    for part in report["parts"].as_array().into_iter().flatten() {
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (name, tried) = (word(&part["name"]), word(&part["tried"]));
        let _ =
            write!(text, "\n**{}.** {tried}\n\n| Seen | | Must be |\n|---|---|---|\n", capitalized(&name));
        for figure in part["figures"].as_array().into_iter().flatten() {
            let bound = figure["bound"].as_str().unwrap_or("");
            let mark = if figure["is_met"] == false { " **(not met)**" } else { "" };
            let (name, value) = (word(&figure["name"]), word(&figure["value"]));
            let _ = writeln!(text, "| {} | {}{mark} | {} |", cell(&name), cell(&value), cell(bound));
        }
    }
    text + "\n"
}

fn capitalized(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default() + rest.as_str()
}

/// A text as a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::prove::input;
    use crate::prove::scenario::SCENARIOS;

    fn page() -> String {
        let (begin, end) = markers("nodes");
        format!("# Reliability\n\n## Nodes\n\n{begin}\nold\n{end}\n\n## Others\n")
    }

    #[test]
    fn section_is_replaced_and_the_rest_stays() {
        let figures = json!([
            {"name": "lost", "value": "0", "bound": "0", "is_met": true},
            {"name": "silence", "value": "9 s", "bound": "at most 8 s", "is_met": false},
        ]);
        let report = json!({"parts": [{"name": "kill", "tried": "Ten times.", "figures": figures}]});
        let written = with_section(&page(), "nodes", &report, "Run today.").unwrap();
        assert!(written.starts_with("# Reliability\n\n## Nodes\n") && written.ends_with("\n\n## Others\n"));
        assert!(
            written
                .contains("Run today. Repeat it with `cargo xtask prove nodes`.\n\n**Kill.** Ten times.\n")
        );
        assert!(written.contains("| lost | 0 | 0 |\n| silence | 9 s **(not met)** | at most 8 s |\n"));
        assert!(!written.contains("old"));
    }

    #[test]
    fn every_scenario_has_its_place_on_the_page() {
        let page = std::fs::read_to_string(crate::workspace::root().join("docs/reliability.md")).unwrap();
        for name in SCENARIOS.iter().map(|scenario| scenario.name).chain([input::NAME]) {
            let (begin, end) = markers(name);
            let (_, rest) = page.split_once(&begin).unwrap_or_else(|| panic!("no {begin}"));
            assert!(rest.contains(&end), "no {end}");
        }
    }
}
