//! What holds for the whole look: colours that can be told apart, and a stylesheet that asks nobody else.

use std::collections::{BTreeMap, BTreeSet};

use maud::html;

use crate::{Lang, Shell, Width, asset, page};

type Palette = BTreeMap<&'static str, [u8; 3]>;

/// The colours between two places of the stylesheet.
fn colours(text: &'static str) -> Palette {
    let declarations = text.split([';', '{', '}']).filter_map(|part| part.trim().split_once(": #"));
    declarations
        .filter_map(|(name, hex)| {
            let channel = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
            Some((name.strip_prefix("--")?, [channel(0)?, channel(2)?, channel(4)?]))
        })
        .collect()
}

fn palettes() -> [(&'static str, Palette); 2] {
    let css = asset::stylesheet().body;
    let (light, rest) = css.split_once("@media (prefers-color-scheme: dark)").unwrap();
    let (dark, _) = rest.split_once("@media").unwrap();
    [("light", colours(light)), ("dark", colours(dark))]
}

/// WCAG 2.2, relative luminance.
fn luminance(colour: [u8; 3]) -> f64 {
    let [red, green, blue] = colour.map(|channel| {
        let part = f64::from(channel) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// What is read, and all that it is read on.
const TEXT: [(&str, &[&str]); 7] = [
    ("ink", &["wall", "arch", "surface", "sunken", "wash", "problem-wash", "caution-wash", "done-wash"]),
    ("soft", &["wall", "arch", "surface", "sunken", "wash"]),
    ("link", &["wall", "surface", "sunken"]),
    ("on-door", &["door", "door-lit"]),
    ("problem", &["surface", "sunken", "problem-wash"]),
    ("caution", &["caution-wash"]),
    ("done", &["done-wash"]),
];

/// What must be seen to use the page: borders of controls, rings around them, what is chosen.
const CONTROLS: [(&str, &[&str]); 5] = [
    ("edge", &["surface", "sunken"]),
    ("focus", &["wall", "arch", "surface", "sunken", "wash"]),
    ("door", &["wall", "surface", "wash"]),
    ("problem", &["surface", "sunken"]),
    ("knocker", &["mark"]),
];

#[test]
fn contrast_is_computed_as_wcag_says() {
    assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 0.001);
    assert!((contrast([0x77; 3], [255; 3]) - 4.48).abs() < 0.01);
}

#[test]
fn what_is_read_and_what_is_used_stands_out_in_both_themes() {
    for (theme, palette) in palettes() {
        for (pairs, ratio_min) in [(&TEXT[..], 4.5), (&CONTROLS[..], 3.0)] {
            for (front, backs) in pairs {
                for back in *backs {
                    let ratio = contrast(palette[front], palette[back]);
                    assert!(ratio >= ratio_min, "{theme}: {front} on {back} is {ratio:.2}, not {ratio_min}");
                }
            }
        }
    }
}

#[test]
fn both_themes_colour_the_same_things() {
    let [(_, light), (_, dark)] = palettes();
    let names = |palette: &Palette| palette.keys().copied().collect::<BTreeSet<_>>();
    assert_eq!(names(&light), names(&dark));
    assert!(light.len() >= 20, "the palette is found at all");
}

#[test]
fn every_colour_comes_from_the_palette() {
    let css = asset::stylesheet().body;
    let (_, rules) = css.split_once("*, *::before").unwrap();
    assert!(!rules.contains(": #"), "a colour of its own");
    for used in css.split("var(--").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(css.contains(&format!("--{used}:")), "{used} is not defined");
    }
}

#[test]
fn the_stylesheet_asks_nobody_else() {
    let css = asset::stylesheet().body;
    for foreign in ["url(", "@import", "@font-face", "http:", "https:", "expression("] {
        assert!(!css.contains(foreign), "{foreign}");
    }
    assert_eq!(css.matches('{').count(), css.matches('}').count());
}

#[test]
fn the_icon_can_do_nothing() {
    let svg = asset::icon().body;
    for active in ["<script", "<style", "href", "<foreignObject", "on"] {
        assert!(!svg.contains(&format!(" {active}")) && !svg.contains(&format!("{active}=")), "{active}");
    }
}

#[test]
fn a_page_names_its_language_its_files_and_its_other_self() {
    let shell = Shell {
        lang: Lang::Es,
        assets: "/auth/core/look",
        switch: Some("/x?a=1&lang=en"),
        title: "Hola",
        width: Width::Door,
    };
    let text = page(&shell, None, &html! { h1 { "Hola" } }).into_string();
    assert!(text.starts_with(r#"<!DOCTYPE html><html lang="es">"#));
    assert!(text.contains("<title>Hola · Aldaba</title>"));
    for asset in asset::all() {
        assert!(text.contains(&format!(r#"href="/auth/core/look/{}""#, asset.name)));
    }
    assert!(text.contains(r#"href="/x?a=1&amp;lang=en" lang="en" hreflang="en""#));
    assert!(text.contains("<main><h1>Hola</h1></main>"));
}
