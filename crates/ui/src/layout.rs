//! The HTML document around the content of every page.

use maud::{DOCTYPE, Markup, html};

use crate::{Icon, Lang, asset, logo, safe_href};

/// The width of a page's content column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageWidth {
    /// A short form or a message.
    #[default]
    Narrow,
    /// A form with a list.
    Medium,
    /// A list of details.
    Wide,
}

impl PageWidth {
    const fn class(self) -> &'static str {
        match self {
            Self::Narrow => "narrow",
            Self::Medium => "medium",
            Self::Wide => "wide",
        }
    }
}

/// Everything about a page except its content.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    pub lang: Lang,
    /// Base path of the assets, without a trailing slash.
    pub assets: &'a str,
    /// URL of the same page in the other language.
    pub language_switch: Option<&'a str>,
    /// Must not contain text from users or clients: a title cannot isolate it (see [`crate::DisplayName`]).
    pub title: &'a str,
    pub width: PageWidth,
}

/// Unusual parts of a document's head.
#[derive(Clone, Copy, Debug, Default)]
pub struct Head<'a> {
    /// The whole title, instead of the layout's. For programs that read it, so it must be percent-encoded text.
    pub exact_title: Option<&'a str>,
    /// Where the browser goes on at once.
    pub refresh: Option<&'a str>,
    /// Whether the page loads [`asset::page_script`]; its policy must allow it.
    pub has_script: bool,
}

/// Renders the document. `aside` stands in the header beside the logo: the account and the sign-out link.
pub fn page(layout: &Layout<'_>, aside: Option<&Markup>, content: &Markup) -> Markup {
    page_with_head(layout, &Head::default(), aside, content)
}

/// The document with [`asset::page_script`]; the policy of the response must allow it.
pub fn page_with_script(layout: &Layout<'_>, aside: Option<&Markup>, content: &Markup) -> Markup {
    page_with_head(layout, &Head { has_script: true, ..Head::default() }, aside, content)
}

pub fn page_with_head(
    layout: &Layout<'_>,
    head: &Head<'_>,
    aside: Option<&Markup>,
    content: &Markup,
) -> Markup {
    let file = |asset: &asset::Asset| format!("{}/{}", layout.assets, asset.name);
    html! {
        (DOCTYPE)
        html lang=(layout.lang.tag()) {
            head {
                meta charset="utf-8";
                @match head.exact_title {
                    Some(title) => { title { (title) } },
                    None => { title { (layout.title) " · Aldaba" } },
                }
                @if let Some(url) = head.refresh {
                    meta http-equiv="refresh" content={ "0; url=" (safe_href(url)) };
                }
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                link rel="stylesheet" href=(safe_href(&file(asset::stylesheet())));
                link rel="icon" type="image/svg+xml" href=(safe_href(&file(asset::favicon())));
                @if head.has_script { script src=(safe_href(&file(asset::page_script()))) defer {} }
            }
            body class=(layout.width.class()) {
                header {
                    p.brand { (logo()) span { "Aldaba" } }
                    @if let Some(aside) = aside { div.aside { (aside) } }
                }
                main { (content) }
                @if let Some(url) = layout.language_switch {
                    footer { (language_link(layout.lang.other(), url)) }
                }
            }
        }
    }
}

fn language_link(other: Lang, url: &str) -> Markup {
    html! {
        a.language-switch href=(safe_href(url)) lang=(other.tag()) hreflang=(other.tag()) rel="alternate" {
            (Icon::Globe) span { (other.native_name()) }
        }
    }
}
