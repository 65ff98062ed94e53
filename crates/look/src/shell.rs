//! The shell that every page stands in.

use maud::{DOCTYPE, Markup, html};

use crate::{Glyph, Lang, address, asset, mark};

/// How wide a page is, and with it what kind of page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Width {
    /// One thing to do: a form, a message.
    #[default]
    Door,
    /// One thing to do, with a list to do it on.
    Hall,
    /// Something to look at.
    Room,
}

impl Width {
    const fn class(self) -> &'static str {
        match self {
            Self::Door => "door",
            Self::Hall => "hall",
            Self::Room => "room",
        }
    }
}

/// A page without its content.
#[derive(Clone, Copy, Debug)]
pub struct Shell<'a> {
    pub lang: Lang,
    /// Base path of the assets, without a slash at its end.
    pub assets: &'a str,
    /// The address of the same page in the other language.
    pub switch: Option<&'a str>,
    /// Never holds names that others chose: a tab's title cannot keep them apart.
    pub title: &'a str,
    pub width: Width,
}

/// The whole page. `aside` stands at the top beside the mark: who is here, and the way out.
pub fn page(shell: &Shell<'_>, aside: Option<&Markup>, content: &Markup) -> Markup {
    let file = |asset: &asset::Asset| format!("{}/{}", shell.assets, asset.name);
    html! {
        (DOCTYPE)
        html lang=(shell.lang.tag()) {
            head {
                meta charset="utf-8";
                title { (shell.title) " · Aldaba" }
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                link rel="stylesheet" href=(address(&file(asset::stylesheet())));
                link rel="icon" type="image/svg+xml" href=(address(&file(asset::icon())));
            }
            body class=(shell.width.class()) {
                header {
                    p.brand { (mark()) span { "Aldaba" } }
                    @if let Some(aside) = aside { div.aside { (aside) } }
                }
                main { (content) }
                @if let Some(switch) = shell.switch {
                    footer { (language(shell.lang.other(), switch)) }
                }
            }
        }
    }
}

fn language(other: Lang, switch: &str) -> Markup {
    html! {
        a.switch href=(address(switch)) lang=(other.tag()) hreflang=(other.tag()) rel="alternate" {
            (Glyph::Globe) span { (other.own_name()) }
        }
    }
}
