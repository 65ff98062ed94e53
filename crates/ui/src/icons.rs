//! Inline SVG icons. They need no request and take the colour of the surrounding text. Every icon stands
//! beside a text, so screen readers skip it (`aria-hidden`).

use maud::{Markup, Render, html};

/// The product's logo.
pub fn logo() -> Markup {
    html! {
        svg.logo viewBox="0 0 40 40" width="40" height="40" aria-hidden="true" {
            path.logo-panel d="M5 39V16a15 15 0 0 1 30 0v23z" {}
            circle.logo-ring cx="20" cy="23" r="8" {}
            circle.logo-dot cx="20" cy="14.5" r="3.3" {}
            circle.logo-dot cx="20" cy="31" r="2.6" {}
        }
    }
}

/// A 20 × 20 icon of a single stroke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icon {
    Alert,
    Bell,
    Book,
    Building,
    Card,
    Check,
    Clock,
    Globe,
    Key,
    Envelope,
    Person,
    People,
    Sliders,
    Menu,
    Close,
    Home,
    Flask,
    List,
    Send,
    Shield,
}

impl Icon {
    const fn path(self) -> &'static str {
        match self {
            Self::Alert => "M10 2.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15M10 6v5M10 13.8v.2",
            Self::Bell => "M4.5 14h11c-1.2-1.2-1.5-2.6-1.5-5a4 4 0 0 0-8 0c0 2.4-.3 3.8-1.5 5M8.5 16.5h3",
            Self::Book => {
                "M4 3.5h9.5a2.5 2.5 0 0 1 2.5 2.5v10.5H6a2 2 0 0 1-2-2zM4 14.5a2 2 0 0 1 2-2h10M7.5 7h5"
            }
            Self::Building => {
                "M4.5 17V4a1 1 0 0 1 1-1h6a1 1 0 0 1 1 1v13M12.5 8.5h3v8.5M3 17h14M7 6.5h3M7 10h3M7 13.5h3"
            }
            Self::Card => {
                "M3.5 4.5h13a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-13a1 1 0 0 1-1-1v-9a1 1 0 0 1 1-1M5.5 12.5c.6-1.9 3.4-1.9 4 0M7.5 9.2v-.1M12 8.5h2.5M12 11.5h2.5"
            }
            Self::Check => "M4 10.5l4 4 8-9",
            Self::Clock => "M10 2.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15M10 6v4.2l2.8 1.8",
            Self::Globe => {
                "M10 2.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15M2.5 10h15M10 2.5c2.3 2 3.3 4.5 3.3 7.5s-1 5.5-3.3 7.5c-2.3-2-3.3-4.5-3.3-7.5s1-5.5 3.3-7.5"
            }
            Self::Key => "M6.5 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M10 10h7.5v2.5M14 10v2",
            Self::Envelope => {
                "M3.5 4.5h13a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-13a1 1 0 0 1-1-1v-9a1 1 0 0 1 1-1M3 6.5l7 4.7 7-4.7"
            }
            Self::Person => {
                "M10 3a3.2 3.2 0 1 0 0 6.4 3.2 3.2 0 0 0 0-6.4M3.8 17c.5-3.3 3-5 6.2-5s5.7 1.7 6.2 5"
            }
            Self::People => {
                "M7.5 4a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6M2.3 16.5c.4-3 2.4-4.5 5.2-4.5s4.8 1.5 5.2 4.5M13 4.3a2.8 2.8 0 0 1 0 5M15 12.5c1.5.7 2.5 2 2.7 4"
            }
            Self::Sliders => "M3 6h8M15 6h2M13 4v4M3 14h2M9 14h8M7 12v4",
            Self::Menu => "M3 5.5h14M3 10h14M3 14.5h14",
            Self::Close => "M5 5l10 10M15 5L5 15",
            Self::Home => "M3 9.5L10 3.5l7 6M5 8v8.5h10V8M8.5 16.5V12h3v4.5",
            Self::Flask => {
                "M8 3h4M8.5 3v5L4 15.5a1 1 0 0 0 .9 1.5h10.2a1 1 0 0 0 .9-1.5L11.5 8V3M6.3 12.5h7.4"
            }
            Self::List => "M7 5.5h10M7 10h10M7 14.5h10M3.3 5.5h.2M3.3 10h.2M3.3 14.5h.2",
            Self::Send => "M17 3L2.5 8.8l5.7 2.5M17 3l-5.2 14-3.6-5.7M17 3l-8.8 8.3",
            Self::Shield => "M10 2.5l6 2.2v4.8c0 4-2.6 6.6-6 8-3.4-1.4-6-4-6-8V4.7zM7.3 10l2 2 3.6-4",
        }
    }
}

impl Render for Icon {
    fn render(&self) -> Markup {
        html! {
            svg.icon viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" {
                path d=(self.path()) {}
            }
        }
    }
}
