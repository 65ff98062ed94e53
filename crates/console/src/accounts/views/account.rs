//! What the pages of users, developers and operators share.

use domain::{OperatorRole, Realm, Ticks};
use maud::{Markup, html};
use operator::admin::Permission;
use operator::audit::AuditRecordView;
use serde::Serialize;
use store::{FactorMethod, SecondFactor, Session, Status};
use ui::app::{Column, Table, copy_inline, facts, number, parts_name, table};
use ui::{DisplayName, Field, field, safe_href, timestamp};

use super::forms::{ActionForm, account_state, action_form, language_field, language_word, shown_link};
use super::people::realm_title;
use crate::accounts::text::{AccountText, PeopleText, role_word};
use crate::audit::{actor_text, kind_text, note_text};
use crate::context::Context;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AccountPart {
    pub(crate) id: String,
    pub(crate) email: String,
    pub(crate) name: String,
    pub(crate) given_name: String,
    pub(crate) family_name: String,
    pub(crate) lang: String,
    pub(crate) state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) role: Option<&'static str>,
    pub(crate) created: String,
    pub(crate) factors: Vec<FactorRow>,
    pub(crate) recovery_codes_left: u64,
    pub(crate) sessions: Vec<SessionRow>,
    pub(crate) sign_ins: Vec<RecordRow>,
    pub(crate) records: Vec<RecordRow>,
    /// With which the person chooses a new password, where no mail carries it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<String>,
    #[serde(skip)]
    pub(crate) realm: Realm,
    #[serde(skip)]
    pub(crate) status: Status,
    #[serde(skip)]
    pub(crate) operator_role: Option<OperatorRole>,
    #[serde(skip)]
    pub(crate) created_at: Ticks,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FactorRow {
    method: &'static str,
    name: String,
    since: String,
    last_used: Option<String>,
    #[serde(skip)]
    since_at: Ticks,
    #[serde(skip)]
    last_used_at: Option<Ticks>,
    #[serde(skip)]
    is_passkey: bool,
}

impl FactorRow {
    pub(crate) fn new(factor: &SecondFactor) -> Self {
        Self {
            method: factor.method.as_str(),
            name: factor.name.clone(),
            since: factor.created_at.iso(),
            last_used: factor.last_used_at.map(Ticks::iso),
            since_at: factor.created_at,
            last_used_at: factor.last_used_at,
            is_passkey: matches!(factor.method, FactorMethod::Passkey(_)),
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionRow {
    id: String,
    signed_in: String,
    until: String,
    address: String,
    user_agent: String,
    #[serde(skip)]
    signed_in_at: Ticks,
    #[serde(skip)]
    until_at: Ticks,
}

impl SessionRow {
    pub(crate) fn new(session: &Session) -> Self {
        Self {
            id: session.id.to_string(),
            signed_in: session.authenticated_at.iso(),
            until: session.expires_at.iso(),
            address: session.address.clone(),
            user_agent: session.user_agent.clone(),
            signed_in_at: session.authenticated_at,
            until_at: session.expires_at,
        }
    }
}

impl SessionRow {
    /// The browser and the system, or what the browser says about itself if neither is known.
    fn device(&self) -> Markup {
        let device = identity::device_name(&self.user_agent);
        let shown = if device.is_empty() { &self.user_agent } else { &device };
        html! { span title=(self.user_agent) { (DisplayName(shown)) } }
    }
}

/// A record of the audit.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecordRow {
    id: String,
    at: String,
    kind: &'static str,
    actor: String,
    actor_email: Option<String>,
    address: String,
    note: String,
}

impl RecordRow {
    pub(crate) fn new(record: AuditRecordView) -> Self {
        let AuditRecordView { id, at, kind, actor, actor_email, address, note, .. } = record;
        Self { id, at, kind, actor, actor_email, address, note }
    }

    fn time(&self, context: &Context) -> Markup {
        html! { @if let Some(at) = Ticks::parse_iso(&self.at) { (timestamp(context.lang(), at)) } @else { (self.at) } }
    }
}

impl AccountPart {
    /// Where the account is, its name and its state.
    pub(crate) fn head(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, realm) = (AccountText::of(lang), self.realm);
        html! {
            p.crumbs { a href=(safe_href(&context.console_path(realm.as_str()))) { (realm_title(lang, realm)) } }
            div.title-row { h1 { (DisplayName(&self.name)) } (account_state(lang, self.status)) }
            @match self.status {
                Status::Active => {},
                Status::Disabled => p.lead { (text.disabled_text) },
                Status::Unconfirmed => p.lead { (text.unconfirmed_text) },
            }
            @if let Some(link) = &self.link { (shown_link(lang, text.link_title, text.link_text, link)) }
            section.card { (self.facts(context)) }
        }
    }

    fn facts(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = AccountText::of(lang);
        let mut rows = vec![
            (text.email, copy_inline(lang, "account-email", &self.email)),
            (text.id, copy_inline(lang, "account-id", &self.id)),
            (text.language, html! { (language_word(lang, &self.lang)) }),
            (text.since, timestamp(lang, self.created_at)),
        ];
        if let Some(role) = self.operator_role {
            rows.insert(0, (text.role, html! { (role_word(lang, role)) }));
        }
        facts(&rows)
    }

    pub(crate) fn sessions(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = AccountText::of(lang);
        let columns = [
            Column::main(text.browser),
            Column::text(text.address),
            Column::text(text.signed_in),
            Column::text(text.until),
        ];
        let cells = |one: &SessionRow| {
            vec![
                one.device(),
                html! { code { (one.address) } },
                timestamp(lang, one.signed_in_at),
                timestamp(lang, one.until_at),
            ]
        };
        html! {
            section.card {
                h2 { (text.sessions) }
                @if self.sessions.is_empty() { p.muted { (text.no_sessions) } }
                @else {
                    (table(lang, &Table {
                        caption: text.sessions,
                        columns: &columns,
                        rows: self.sessions.iter().map(|one| (one.id.clone(), cells(one))).collect(),
                        ..Table::default()
                    }))
                    @if context.may(Permission::Accounts) {
                        (action_form(context, &ActionForm { name: "end_sessions", label: text.end_sessions, text: self.named(text.end_sessions_text), is_dangerous: true, needs_proof: true, ..ActionForm::default() }))
                    }
                }
            }
        }
    }

    pub(crate) fn factors(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, common) = (AccountText::of(lang), CommonText::of(lang));
        let columns = [Column::main(text.factors), Column::text(text.since), Column::text(text.last_used)];
        let cells = |one: &FactorRow| {
            let method = if one.is_passkey { text.passkey } else { text.totp };
            vec![
                html! { (method) @if !one.name.is_empty() { span.sub { (DisplayName(&one.name)) } } },
                timestamp(lang, one.since_at),
                html! { @match one.last_used_at { Some(at) => (timestamp(lang, at)), None => (common.never) } },
            ]
        };
        html! {
            section.card {
                h2 { (text.factors) }
                @if self.factors.is_empty() { p.muted { (text.no_factors) } }
                @else {
                    (table(lang, &Table {
                        caption: text.factors,
                        columns: &columns,
                        rows: self.factors.iter().enumerate().map(|(at, one)| (at.to_string(), cells(one))).collect(),
                        ..Table::default()
                    }))
                    p { (text.recovery_codes) ": " b { (number(lang, self.recovery_codes_left)) } }
                    @if context.may(Permission::Accounts) {
                        (action_form(context, &ActionForm { name: "reset_factors", label: text.reset_factors, text: self.named(text.reset_factors_text), is_dangerous: true, needs_proof: true, ..ActionForm::default() }))
                    }
                }
            }
        }
    }

    /// The latest sign-ins and audit records.
    pub(crate) fn records(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = AccountText::of(lang);
        let target = format!("audit?target={}:{}", self.realm.person(), self.id);
        html! {
            section.card {
                h2 { (text.sign_ins) }
                @if self.sign_ins.is_empty() { p.muted { (text.no_sign_ins) } }
                @else { (records_table(context, text.sign_ins, &self.sign_ins)) }
            }
            section.card {
                h2 { (text.audit) }
                @if !self.records.is_empty() { (records_table(context, text.audit, &self.records)) }
                p { a href=(safe_href(&context.console_path(&target))) { (text.all_audit) } }
            }
        }
    }

    /// What will happen, and to whom.
    fn named(&self, explanation: &str) -> Markup {
        html! { b { (DisplayName(&self.email)) } ": " (explanation) }
    }

    /// The actions that every account has. `more` are those of its realm.
    pub(crate) fn actions(&self, context: &Context, more: &Markup) -> Markup {
        let lang = context.lang();
        let (text, people, common) = (AccountText::of(lang), PeopleText::of(lang), CommonText::of(lang));
        let disable_text = match self.realm {
            Realm::Users => text.disable_user_text,
            Realm::Developers => text.disable_developer_text,
            Realm::Operators => text.disable_operator_text,
        };
        let (name, label, explanation, is_dangerous) = if self.status == Status::Disabled {
            ("enable", text.enable, text.enable_text, false)
        } else {
            ("disable", text.disable, disable_text, true)
        };
        html! {
            @if context.may(Permission::Accounts) {
                section.card {
                    h2 { (common.actions) }
                    (action_form(context, &ActionForm {
                        name: "rename",
                        label: text.rename,
                        text: self.named(""),
                        fields: Some(html! {
                            (field(&Field { name: "name", label: people.name, value: context.typed("name").or(Some(&self.given_name)), is_required: true, ..Field::default() }))
                            // Developers and operators have no tokens that carry one.
                            @if self.realm == Realm::Users {
                                (field(&Field { name: "family_name", label: people.family_name, value: context.typed("family_name").or(Some(&self.family_name)), ..Field::default() }))
                            }
                            (language_field(lang, people.language, &self.lang))
                        }),
                        ..ActionForm::default()
                    }))
                    (more)
                    @if self.status != Status::Disabled {
                        (action_form(context, &ActionForm { name: "reset_password", label: text.reset_password, text: self.named(text.reset_password_text), needs_proof: true, ..ActionForm::default() }))
                    }
                    (action_form(context, &ActionForm { name, label, text: self.named(explanation), is_dangerous, needs_proof: true, ..ActionForm::default() }))
                }
            }
        }
    }
}

impl RecordRow {
    /// The address of who did it, or what else did.
    fn actor(&self, context: &Context) -> Markup {
        let (kind, id) = self.actor.split_once(':').unwrap_or((&self.actor, ""));
        let words = || format!("{} {id}", actor_text(context.lang(), kind));
        parts_name(&self.actor_email.clone().unwrap_or_else(words))
    }
}

fn records_table(context: &Context, caption: &'static str, records: &[RecordRow]) -> Markup {
    let lang = context.lang();
    let text = AccountText::of(lang);
    let columns = [
        Column::main(text.event),
        Column::text(CommonText::of(lang).time),
        Column::text(text.by),
        Column::text(text.address),
    ];
    let cells = |one: &RecordRow| {
        vec![
            html! { span title=(one.kind) { (kind_text(lang, one.kind)) } @if !one.note.is_empty() { span.sub { (DisplayName(&note_text(lang, &one.note))) } } },
            one.time(context),
            one.actor(context),
            html! { code { (one.address) } },
        ]
    };
    let rows = records.iter().map(|one| (one.id.clone(), cells(one))).collect();
    table(lang, &Table { caption, columns: &columns, rows, ..Table::default() })
}
