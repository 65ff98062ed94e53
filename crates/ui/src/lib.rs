//! HTML building blocks for the server-rendered pages: layout, components, icons, assets, and formatting in
//! Spanish and English. Pure functions: values in, markup out. Pages carry no inline styles and load nothing
//! from other hosts, so they work under a strict Content-Security-Policy.

pub mod app;
pub mod asset;
mod client_kind;
mod components;
mod format;
mod href;
mod icons;
mod lang;
mod layout;
pub mod mail;
mod notice_text;
mod passkey;
mod password_refusal;
mod qr;
#[cfg(test)]
mod tests;

pub use asset::Asset;
pub use client_kind::{ClientKindText, client_kind_field, client_kind_text};
pub use components::{
    Button, ButtonStyle, Field, InputType, RadioOption, Severity, badge, button, field, hidden_field, notice,
    radio_option, username_field,
};
pub use format::{DisplayName, duration, minute_timestamp, plain_name, short_day, tick_time, timestamp};
pub use href::safe_href;
pub use icons::{Icon, logo};
pub use lang::Lang;
pub use layout::{Head, Layout, PageWidth, page, page_with_head, page_with_script};
pub use notice_text::notice_title;
pub use passkey::{PASSKEY_FIELD, PasskeyCeremony, PasskeyForm, PasskeyMessages, passkey_form};
pub use password_refusal::{PasswordRefusalText, password_hint, password_refusal_text};
pub use qr::{QR_BYTES_MAX, QrTooLong, qr_code};
