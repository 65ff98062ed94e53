//! The one visual language: the shell of a page, its parts, its styles and signs, and the words that every
//! page shares, in Spanish and English. Pure: values in, markup out. No scripts, no inline styles, nothing
//! fetched from elsewhere, so that the strictest content policy holds.

mod address;
pub mod asset;
mod glyph;
mod lang;
mod part;
mod say;
mod shell;
#[cfg(test)]
mod tests;

pub use address::address;
pub use asset::Asset;
pub use glyph::{Glyph, mark};
pub use lang::Lang;
pub use part::{Button, Choice, Emphasis, Field, Kind, Tone, badge, button, choice, field, hidden, notice};
pub use say::{Name, moment, span};
pub use shell::{Shell, Width, page};
