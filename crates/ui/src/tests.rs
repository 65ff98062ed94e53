//! Checks of the stylesheet (contrast, no external resources), the favicon and the layout.

use std::collections::{BTreeMap, BTreeSet};

use maud::html;

use crate::{Lang, Layout, PageWidth, asset, page};

type Palette = BTreeMap<&'static str, [u8; 3]>;

/// The colour variables that a part of the stylesheet defines.
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

fn contrast(first: [u8; 3], second: [u8; 3]) -> f64 {
    let (first, second) = (luminance(first), luminance(second));
    (first.max(second) + 0.05) / (first.min(second) + 0.05)
}

/// Text colours and the backgrounds that they occur on.
const TEXT: [(&str, &[&str]); 7] = [
    (
        "text",
        &[
            "background",
            "backdrop",
            "surface",
            "sunken",
            "primary-tint",
            "error-tint",
            "warning-tint",
            "success-tint",
        ],
    ),
    ("text-muted", &["background", "backdrop", "surface", "sunken", "primary-tint"]),
    ("link", &["background", "surface", "sunken"]),
    ("on-primary", &["primary", "primary-hover"]),
    ("error", &["surface", "sunken", "error-tint"]),
    ("warning", &["warning-tint"]),
    ("success", &["success-tint"]),
];

/// Colours of control borders, focus rings and selection marks, and the backgrounds that they occur on.
const CONTROLS: [(&str, &[&str]); 5] = [
    ("control-border", &["surface", "sunken"]),
    ("focus", &["background", "backdrop", "surface", "sunken", "primary-tint"]),
    ("primary", &["background", "surface", "primary-tint"]),
    ("error", &["surface", "sunken"]),
    ("logo-ring", &["logo"]),
];

#[test]
fn contrast_follows_wcag() {
    assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 0.001);
    assert!((contrast([0x77; 3], [255; 3]) - 4.48).abs() < 0.01);
}

#[test]
fn text_and_controls_have_enough_contrast_in_both_themes() {
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
fn both_themes_define_the_same_colours() {
    let [(_, light), (_, dark)] = palettes();
    let names = |palette: &Palette| palette.keys().copied().collect::<BTreeSet<_>>();
    assert_eq!(names(&light), names(&dark));
    assert!(light.len() >= 20, "the palette was not found");
}

#[test]
fn rules_use_palette_colours_only() {
    let css = asset::stylesheet().body;
    let (_, rules) = css.split_once("*, *::before").unwrap();
    assert!(!rules.contains(": #"), "a rule has a literal colour");
    for used in css.split("var(--").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(css.contains(&format!("--{used}:")), "{used} is not defined");
    }
}

#[test]
fn stylesheet_loads_nothing() {
    let css = asset::stylesheet().body;
    for external in ["url(", "@import", "@font-face", "http:", "https:", "expression("] {
        assert!(!css.contains(external), "{external}");
    }
    assert_eq!(css.matches('{').count(), css.matches('}').count());
}

#[test]
fn favicon_has_no_active_content() {
    let svg = asset::favicon().body;
    for active in ["<script", "<style", "href", "<foreignObject", "on"] {
        assert!(!svg.contains(&format!(" {active}")) && !svg.contains(&format!("{active}=")), "{active}");
    }
}

#[test]
fn page_refers_to_its_language_assets_and_translation() {
    let layout = Layout {
        lang: Lang::Es,
        assets: "/auth/core/assets",
        language_switch: Some("/x?a=1&lang=en"),
        title: "Hola",
        width: PageWidth::Narrow,
    };
    let text = page(&layout, None, &html! { h1 { "Hola" } }).into_string();
    assert!(text.starts_with(r#"<!DOCTYPE html><html lang="es">"#));
    assert!(text.contains("<title>Hola · Aldaba</title>"));
    for asset in [asset::stylesheet(), asset::favicon()] {
        assert!(text.contains(&format!(r#"href="/auth/core/assets/{}""#, asset.name)));
    }
    assert!(text.contains(r#"href="/x?a=1&amp;lang=en" lang="en" hreflang="en""#));
    assert!(text.contains("<main><h1>Hola</h1></main>"));
}

/// The scripts of the pages make no requests and evaluate no text; only the one of portal and console reads its own page again.
#[test]
fn script_of_pages_sends_nothing_and_evaluates_nothing() {
    let script = asset::page_script().body;
    for forbidden in [
        "fetch(",
        "XMLHttpRequest",
        "sendBeacon",
        "WebSocket",
        "import",
        "eval",
        "Function(",
        "innerHTML",
        "http:",
    ] {
        assert!(!script.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn box_that_shows_a_password_is_hidden_until_the_script_runs() {
    let password = crate::Field {
        name: "password",
        input_type: crate::InputType::Password,
        reveal: Some("Show"),
        ..crate::Field::default()
    };
    let text = crate::field(&password).into_string();
    let control = r#"<label class="reveal" hidden><input type="checkbox" data-reveals="password" autocomplete="off">Show</label>"#;
    assert!(text.contains(control), "{text}");
    assert!(asset::page_script().body.contains("input[data-reveals]"));
    let plain = crate::Field { reveal: None, ..password };
    assert!(!crate::field(&plain).into_string().contains("reveal"));
}

#[test]
fn page_loads_its_script_only_if_its_policy_allows_it() {
    let layout = Layout {
        lang: Lang::Es,
        assets: "/a",
        language_switch: None,
        title: "Hola",
        width: PageWidth::Narrow,
    };
    let content = html! { h1 { "Hola" } };
    assert!(!page(&layout, None, &content).into_string().contains("<script"));
    let text = crate::page_with_script(&layout, None, &content).into_string();
    assert!(
        text.contains(&format!(r#"<script src="/a/{}" defer></script>"#, asset::page_script().name)),
        "{text}"
    );
}

#[test]
fn palette_has_the_colours_and_no_rules() {
    assert!(
        asset::palette().contains("--surface: #ffffff") && asset::palette().contains("--surface: #151d1b")
    );
    assert!(!asset::palette().contains("body {"));
}
