//! Every code block of docs/your-library.md equals a file in `clients/libraries`, or a marked region of one, and a driver
//! runs that application.

use super::{
    Violation,
    source_tree::{SourceFile, SourceTree},
};

const PAGE: &str = "docs/your-library.md";
const SOURCES: &str = "clients/libraries/";
/// The drivers; each names the folders that it runs.
const DRIVERS: [&str; 2] = ["clients/python/with_libraries.py", "clients/python/with_heavy_libraries.py"];
/// Folders that no driver runs: the first is for the test with Chromium, the second is written from documentation.
const NOT_DRIVEN: [&str; 2] = ["oidc-client-ts", "dotnet"];
/// A region begins with a comment that has this word and the region's name, and ends with the name `end`.
const MARKER: &str = "docs: ";

pub(super) fn violations(source_tree: &SourceTree) -> Vec<Violation> {
    let Some(page) = source_tree.file(PAGE) else { return Vec::new() };
    let blocks = blocks(&page.text);
    let mut found: Vec<Violation> =
        blocks.iter().filter_map(|block| check_block(source_tree, block)).collect();
    found.extend(unused_regions(source_tree, &blocks));
    found
}

/// A code block, and what the comment in the line above it names.
struct Block<'a> {
    line: usize,
    source: Option<(&'a str, Option<&'a str>)>,
    text: String,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let (mut above, mut is_open) = ("", false);
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            is_open = !is_open;
            if is_open {
                blocks.push(Block { line: index + 1, source: source(above), text: String::new() });
            }
        } else if is_open && let Some(block) = blocks.last_mut() {
            block.text.push_str(line);
            block.text.push('\n');
        }
        above = line;
    }
    blocks
}

/// `<!-- path region -->`, where the region may be missing.
fn source(line: &str) -> Option<(&str, Option<&str>)> {
    let inside = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    Some(inside.split_once(' ').map_or((inside, None), |(path, region)| (path, Some(region))))
}

fn check_block(source_tree: &SourceTree, block: &Block<'_>) -> Option<Violation> {
    let violation = |what: String| Some(Violation::new(PAGE, block.line, what));
    let Some((path, region)) = block.source else {
        return violation("has no source: name its file and region in a comment above it".to_owned());
    };
    let path = format!("{SOURCES}{path}");
    let Some(file) = source_tree.file(&path) else {
        return violation(format!("is from {path}, which does not exist"));
    };
    let folder = path[SOURCES.len()..].split('/').next().unwrap_or_default();
    if !is_driven(source_tree, folder) {
        return violation(format!("is from {path}, which no driver runs: add its folder to {}", DRIVERS[0]));
    }
    let text = match region {
        None => file.text.clone(),
        Some(name) => match regions(file).into_iter().find(|region| region.name == name) {
            Some(region) => region.text,
            None => return violation(format!("is from {path}, which has no region `{name}`")),
        },
    };
    (text != block.text)
        .then(|| Violation::new(PAGE, block.line, format!("differs from {path}: copy the text from there")))
}

fn is_driven(source_tree: &SourceTree, folder: &str) -> bool {
    let name = format!("\"{folder}\"");
    NOT_DRIVEN.contains(&folder)
        || DRIVERS.iter().any(|path| source_tree.file(path).is_some_and(|file| file.text.contains(&name)))
}

/// A marked part of a file, without the indentation that all its lines share.
struct Region<'a> {
    line: usize,
    name: &'a str,
    text: String,
}

fn regions(file: &SourceFile) -> Vec<Region<'_>> {
    let mut regions = Vec::new();
    let mut open: Option<(usize, &str, Vec<&str>)> = None;
    for (index, line) in file.text.lines().enumerate() {
        let comment = line.trim_start().trim_start_matches(['#', '/']).trim_start();
        match comment.strip_prefix(MARKER) {
            Some("end") => regions.extend(open.take().map(|(line, name, lines)| Region {
                line,
                name,
                text: without_indentation(&lines),
            })),
            Some(name) => open = Some((index + 1, name, Vec::new())),
            None => {
                if let Some((_, _, lines)) = &mut open {
                    lines.push(line);
                }
            }
        }
    }
    regions
}

/// The lines without empty ones at the end.
fn without_indentation(lines: &[&str]) -> String {
    let indentation = |line: &&str| line.len() - line.trim_start().len();
    let shared = lines.iter().filter(|line| !line.is_empty()).map(indentation).min().unwrap_or_default();
    let mut text = String::new();
    for line in lines {
        text.push_str(line.get(shared..).unwrap_or_default());
        text.push('\n');
    }
    format!("{}\n", text.trim_end())
}

/// Regions that the page does not show: they were renamed, or the page lost a block.
fn unused_regions(source_tree: &SourceTree, blocks: &[Block<'_>]) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in source_tree.files().filter(|file| file.path.starts_with(SOURCES)) {
        let shows = |name: &str| {
            blocks.iter().any(|block| block.source == Some((&file.path[SOURCES.len()..], Some(name))))
        };
        for region in regions(file).iter().filter(|region| !shows(region.name)) {
            let what =
                format!("{PAGE} does not show the region `{}`: show it, or remove its marks", region.name);
            found.push(Violation::new(&file.path, region.line, what));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const APP: &str = "import x\n\n  # docs: settings\n  a = 1\n\n    b = 2\n\n  # docs: end\nrun()\n";

    fn messages(page: &str, app: &str) -> Vec<String> {
        let tree = SourceTree::of(&[
            (PAGE, page),
            ("clients/libraries/flask/app.py", app),
            ("clients/libraries/other/app.py", "x\n"),
            (DRIVERS[0], "Application(\"Flask\", \"flask\")\n"),
        ]);
        violations(&tree).iter().map(Violation::to_string).collect()
    }

    #[test]
    fn block_equals_its_region() {
        let right = "<!-- flask/app.py settings -->\n```python\na = 1\n\n  b = 2\n```\n";
        assert!(messages(right, APP).is_empty(), "{:?}", messages(right, APP));
        assert_eq!(
            messages(&right.replace("b = 2", "b = 3"), APP),
            ["docs/your-library.md:2: differs from clients/libraries/flask/app.py: copy the text from there"]
        );
    }

    #[test]
    fn block_may_be_a_whole_file() {
        assert!(messages("<!-- flask/app.py -->\n```sh\nx\n```\n", "x\n").is_empty());
        assert_eq!(messages("<!-- flask/app.py -->\n```sh\ny\n```\n", "x\n").len(), 1);
    }

    #[test]
    fn block_without_a_source_is_reported() {
        for (page, what) in [
            ("```sh\nx\n```\n", "has no source"),
            ("<!-- flask/gone.py -->\n```sh\nx\n```\n", "which does not exist"),
            ("<!-- flask/app.py gone -->\n```sh\nx\n```\n", "has no region `gone`"),
            ("<!-- other/app.py -->\n```sh\nx\n```\n", "which no driver runs"),
        ] {
            let messages = messages(page, "x\n");
            assert!(matches!(&messages[..], [one] if one.contains(what)), "{messages:?}");
        }
    }

    #[test]
    fn region_that_the_page_does_not_show_is_reported() {
        let messages = messages("Text.\n", APP);
        assert!(
            matches!(&messages[..], [one] if one.starts_with("clients/libraries/flask/app.py:3: ")),
            "{messages:?}"
        );
    }
}
