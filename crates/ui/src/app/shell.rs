//! The document around a page: header, navigation, content.

use maud::{DOCTYPE, Markup, html};

use crate::{DisplayName, Icon, Lang, asset, logo, safe_href};

/// How the operator presents the service.
#[derive(Clone, Copy, Debug)]
pub struct Brand<'a> {
    pub name: &'a str,
    /// URL of the operator's logo; without one, the product's.
    pub logo: Option<&'a str>,
    /// URL of a stylesheet with the operator's colour.
    pub stylesheet: Option<&'a str>,
}

/// One link of the navigation.
#[derive(Clone, Debug)]
pub struct NavItem {
    pub label: &'static str,
    pub href: String,
    pub icon: Icon,
    pub is_current: bool,
    /// Something to look at, such as a count of failing webhooks.
    pub badge: Option<String>,
}

#[derive(Clone, Debug)]
pub struct NavGroup {
    /// May be empty.
    pub label: &'static str,
    pub items: Vec<NavItem>,
}

/// Everything about a page except its content.
#[derive(Clone, Copy, Debug)]
pub struct Shell<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub brand: Brand<'a>,
    /// Stands beside the brand: the team, for example.
    pub place: &'a Markup,
    /// Without text from users or clients: a title cannot isolate it.
    pub title: &'a str,
    pub home: &'a str,
    /// URL of the same page in the other language; none where following it would lose what the page shows.
    pub language_switch: Option<&'a str>,
    pub nav: &'a [NavGroup],
    /// Links of the person: the account, sign-out.
    pub account_links: &'a Markup,
    pub footer: &'a Markup,
}

struct Words {
    skip: &'static str,
    menu: &'static str,
    close: &'static str,
    navigation: &'static str,
}

const fn words(lang: Lang) -> Words {
    match lang {
        Lang::Es => {
            Words {
                skip: "Ir al contenido", menu: "Menú", close: "Cerrar el menú", navigation: "Secciones"
            }
        }
        Lang::En => {
            Words { skip: "Skip to content", menu: "Menu", close: "Close menu", navigation: "Sections" }
        }
    }
}

/// A page with navigation.
pub fn app_page(shell: &Shell<'_>, content: &Markup) -> Markup {
    document(shell, "app", content)
}

/// A page without navigation: the front page, an error.
pub fn plain_app_page(shell: &Shell<'_>, content: &Markup) -> Markup {
    document(shell, "app plain", content)
}

fn document(shell: &Shell<'_>, class: &str, content: &Markup) -> Markup {
    let file = |asset: &asset::Asset| format!("{}/{}", shell.assets, asset.name);
    let words = words(shell.lang);
    html! {
        (DOCTYPE)
        html lang=(shell.lang.tag()) {
            head {
                meta charset="utf-8";
                title { (shell.title) " · " (shell.brand.name) }
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                link rel="stylesheet" href=(safe_href(&file(asset::stylesheet())));
                link rel="stylesheet" href=(safe_href(&file(asset::app_stylesheet())));
                @if let Some(url) = shell.brand.stylesheet { link rel="stylesheet" href=(safe_href(url)); }
                link rel="icon" type="image/svg+xml" href=(safe_href(&file(asset::favicon())));
                @for script in [asset::page_script(), asset::app_script()] {
                    script src=(safe_href(&file(script))) defer {}
                }
            }
            body class=(class) {
                a.skip href="#content" { (words.skip) }
                header {
                    p.brand {
                        a href=(safe_href(shell.home)) { (brand_logo(shell.brand)) span { (DisplayName(shell.brand.name)) } }
                        (shell.place)
                    }
                    @if !shell.nav.is_empty() { a.menu-link href="#menu" { (Icon::Menu) (words.menu) } }
                    div.aside { (shell.account_links) (language_link(shell)) }
                }
                @if !shell.nav.is_empty() { (navigation(shell, &words)) }
                main #content tabindex="-1" { (content) }
                footer { (shell.footer) }
            }
        }
    }
}

fn brand_logo(brand: Brand<'_>) -> Markup {
    html! {
        @match brand.logo {
            Some(url) => { img src=(safe_href(url)) alt=""; },
            None => (logo()),
        }
    }
}

fn language_link(shell: &Shell<'_>) -> Markup {
    let other = shell.lang.other();
    html! {
        @if let Some(url) = shell.language_switch {
            a href=(safe_href(url)) lang=(other.tag()) hreflang=(other.tag()) rel="alternate" { (other.native_name()) }
        }
    }
}

fn navigation(shell: &Shell<'_>, words: &Words) -> Markup {
    html! {
        nav.side #menu aria-label=(words.navigation) {
            a.close href="#" { (Icon::Close) (words.close) }
            @for group in shell.nav {
                @if !group.label.is_empty() { p.group { (group.label) } }
                ul {
                    @for item in &group.items {
                        li {
                            a href=(safe_href(&item.href)) aria-current=[item.is_current.then_some("page")] {
                                (item.icon) span { (item.label) }
                                @if let Some(badge) = &item.badge { span.badge { (badge) } }
                            }
                        }
                    }
                }
            }
            div.account-links { (shell.account_links) (language_link(shell)) }
        }
    }
}
