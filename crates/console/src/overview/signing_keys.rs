//! The page of the keys that sign tokens.

use domain::Ticks;
use domain::signing_key::{KeyState, SigningKeyInfo};
use maud::{Markup, html};
use operator::admin::Permission;
use pages::{Csv, View};
use serde::Serialize;
use ui::app::{Column, State, Table, copy_inline, state, table};
use ui::{Button, ButtonStyle, Field, Lang, button, field, timestamp};

use super::text::KeyText;
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

/// Who replaces all keys types the beginning of the one that signs.
pub(super) const CONFIRMED_CHARS: usize = 8;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SigningKeysPage {
    /// Newest first.
    pub(crate) signing_keys: Vec<KeyRow>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeyRow {
    kid: String,
    state: &'static str,
    created_at: String,
    signs_from: String,
    signs_until: Option<String>,
    ends_at: Option<String>,
    #[serde(skip)]
    key: SigningKeyInfo,
}

impl From<SigningKeyInfo> for KeyRow {
    fn from(key: SigningKeyInfo) -> Self {
        Self {
            kid: key.kid.clone(),
            state: key.state.as_str(),
            created_at: key.created_at.iso(),
            signs_from: key.signs_from.iso(),
            signs_until: key.signs_until.map(Ticks::iso),
            ends_at: key.ends_at.map(Ticks::iso),
            key,
        }
    }
}

impl View<Context> for SigningKeysPage {
    fn section(&self) -> Section {
        Section::SigningKeys
    }

    fn title(&self, lang: Lang) -> &'static str {
        CommonText::of(lang).signing_keys
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = KeyText::of(lang);
        html! {
            h1 { (self.title(lang)) }
            p.lead { (text.lead) }
            (self.table(context))
            @if context.may(Permission::Keys) {
                section.card {
                    h2 { (text.rotate) }
                    (self.rotate_form(context))
                    (self.replace_form(context))
                }
            } @else { p.muted.after { (text.admins_only) } }
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let row = |one: &KeyRow| {
            vec![
                one.kid.clone(),
                one.state.to_owned(),
                one.created_at.clone(),
                one.signs_from.clone(),
                text(&one.signs_until),
                text(&one.ends_at),
            ]
        };
        Some(Csv {
            name: "signing-keys",
            columns: vec!["kid", "state", "created_at", "signs_from", "signs_until", "ends_at"],
            rows: self.signing_keys.iter().map(row).collect(),
        })
    }
}

impl SigningKeysPage {
    fn table(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, common) = (KeyText::of(lang), CommonText::of(lang));
        let columns = [
            Column::main(text.key),
            Column::text(common.state),
            Column::text(text.created),
            Column::text(text.signs_from),
            Column::text(text.signs_until),
            Column::text(text.ends),
        ];
        let time = |at: Option<Ticks>| html! { @match at { Some(at) => (timestamp(lang, at)), None => "–" } };
        let rows = self.signing_keys.iter().enumerate().map(|(index, row)| {
            let key = &row.key;
            let (kind, word) = match key.state {
                KeyState::Next => (State::Waiting, text.next),
                KeyState::Signing => (State::Ok, text.signing),
                KeyState::Verifying => (State::Waiting, text.verifying),
                KeyState::Past => (State::Off, text.past),
            };
            let cells = vec![
                copy_inline(lang, &format!("kid-{index}"), &key.kid),
                state(kind, word),
                timestamp(lang, key.created_at),
                timestamp(lang, key.signs_from),
                time(key.signs_until),
                time(key.ends_at),
            ];
            (key.kid.clone(), cells)
        });
        table(
            lang,
            &Table {
                caption: common.signing_keys,
                columns: &columns,
                rows: rows.collect(),
                csv: Some(context.here(&[], [("format", "csv")])),
                ..Table::default()
            },
        )
    }

    /// Only while there is no next key.
    fn rotate_form(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = KeyText::of(lang);
        let next = self.signing_keys.iter().find(|row| row.key.state == KeyState::Next);
        html! {
            @match next {
                Some(row) => p { (text.has_next) " " (timestamp(lang, row.key.signs_from)) "." },
                None => {
                    details.more open[context.is_refused("rotate")] {
                        summary { (text.rotate_next) }
                        form method="post" {
                            (context.form_token())
                            p { (text.rotate_next_text) }
                            p.muted { (CommonText::of(lang).fresh_needed) }
                            (button(&Button { label: text.rotate_next, name_and_value: Some(("do", "rotate")), ..Button::default() }))
                        }
                    }
                },
            }
        }
    }

    fn replace_form(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = KeyText::of(lang);
        let signing = self.signing_keys.iter().find(|row| row.key.state == KeyState::Signing);
        let beginning = signing.and_then(|row| row.kid.get(..CONFIRMED_CHARS)).unwrap_or_default();
        let style = ButtonStyle::Destructive;
        html! {
            details.more.danger open[context.is_refused("replace")] {
                summary { (text.replace) }
                form method="post" {
                    (context.form_token())
                    p { (text.replace_text) }
                    p { (text.replace_confirm) " " code { (beginning) } }
                    (field(&Field { name: "confirm", label: text.beginning, value: context.typed("confirm"), autocomplete: Some("off"), is_required: true, ..Field::default() }))
                    p.muted { (CommonText::of(lang).fresh_needed) }
                    (button(&Button { label: text.replace, style, name_and_value: Some(("do", "replace")), ..Button::default() }))
                }
            }
        }
    }
}
