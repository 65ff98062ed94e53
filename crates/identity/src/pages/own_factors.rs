//! The pages on which people see, add, name and remove their second factors.

use domain::Ticks;
use maud::{Markup, html};
use ui::app::{copy_button, download_button};
use ui::{
    Button, ButtonStyle, DisplayName, Field, Head, Lang, Layout, PageWidth, PasskeyCeremony, PasskeyForm,
    Severity, badge, button, field, hidden_field, minute_timestamp, notice, page_with_head, passkey_form,
    safe_href,
};

use super::debug_only;
use super::i18n::second_factor_text;

/// The element id of the notice.
const NOTICE_ID: &str = "notice";

/// What every page here needs.
#[derive(Clone, Copy)]
pub(crate) struct FactorFrame<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub language_switch: Option<&'a str>,
    pub action: &'a str,
    pub ticket: &'a str,
    pub email: &'a str,
    pub sign_out: &'a str,
    /// The page that this one belongs to.
    pub back: &'a str,
    pub news: Option<FactorNews>,
}

debug_only!(FactorFrame { lang, action, news });

/// What has just happened, or why it did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FactorNews {
    Added,
    Renamed,
    Removed,
    WrongCode,
    NameRefused,
    PasskeyRefused,
    NoScript,
    /// This app or passkey is registered already.
    Exists,
    TooMany,
    /// The page was open for too long.
    Expired,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct FactorRow<'a> {
    pub id: &'a str,
    pub name: &'a str,
    pub is_passkey: bool,
    pub since: Ticks,
    pub last_used: Option<Ticks>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnFactorsPage<'a> {
    pub frame: FactorFrame<'a>,
    pub factors: &'a [FactorRow<'a>],
    pub recovery_codes_left: u64,
    /// The account can do nothing else before it has a second factor.
    pub is_required: bool,
    /// The page that adds an app, if factors can be added.
    pub add_totp: Option<&'a str>,
    /// The same for a passkey, where passkeys work.
    pub add_passkey: Option<&'a str>,
}

/// A new authenticator app. The secret is in the code and in the text.
#[derive(Clone, Copy)]
pub(crate) struct AddTotpPage<'a> {
    pub frame: FactorFrame<'a>,
    pub qr_code: &'a Markup,
    /// Base32 in groups.
    pub secret: &'a str,
    pub name: &'a str,
}

debug_only!(AddTotpPage { frame, name });

#[derive(Clone, Copy)]
pub(crate) struct AddPasskeyPage<'a> {
    pub frame: FactorFrame<'a>,
    pub options: &'a str,
    pub name: &'a str,
}

debug_only!(AddPasskeyPage { frame, name });

/// New recovery codes, which are never shown again.
#[derive(Clone, Copy)]
pub(crate) struct RecoveryCodesPage<'a> {
    pub frame: FactorFrame<'a>,
    pub codes: &'a [&'a str],
    pub go_on: &'a str,
}

debug_only!(RecoveryCodesPage { frame, go_on });

pub(crate) fn own_factors(model: &OwnFactorsPage<'_>) -> Markup {
    let text = second_factor_text(model.frame.lang);
    let is_empty = model.factors.is_empty();
    let add = |href: Option<&str>, label: &str| {
        html! { @if let Some(href) = href { li { a.button.secondary href=(safe_href(href)) { (label) } } } }
    };
    let content = html! {
        @if is_empty { div.empty { p { b { (text.none.title) } (text.none.text) } } }
        @else {
            ul.access-list { @for factor in model.factors { li.access { (entry(model, factor)) } } }
            (recovery(model))
        }
        @if model.add_totp.is_some() {
            section.panel aria-labelledby="add" {
                h2 #add { (text.add) }
                ul.actions { (add(model.add_passkey, text.add_passkey)) (add(model.add_totp, text.add_totp)) }
                @if model.add_passkey.is_none() { p.note { (text.no_passkeys_here) } }
            }
        } @else if is_empty { p { (text.switched_off) } }
        @if !model.is_required { p { a href=(safe_href(model.frame.back)) { (text.back_to_account) } } }
    };
    let lead = if model.is_required { text.required_lead } else { text.lead };
    let head = Head { has_script: true, ..Head::default() };
    with_frame(&model.frame, (text.title, Some(lead)), &head, &content)
}

fn entry(model: &OwnFactorsPage<'_>, factor: &FactorRow<'_>) -> Markup {
    let (frame, lang) = (&model.frame, model.frame.lang);
    let text = second_factor_text(lang);
    let name = DisplayName(factor.name);
    let fields = html! { (hidden_field("ticket", frame.ticket)) (hidden_field("factor", factor.id)) };
    let name_id = format!("name-{}", factor.id);
    html! {
        h2 { (name) " " (badge(if factor.is_passkey { text.passkey } else { text.totp })) }
        dl.facts {
            div { dt { (text.since) } dd { (minute_timestamp(lang, factor.since)) } }
            div {
                dt { (text.last_used) }
                dd { @match factor.last_used { Some(at) => (minute_timestamp(lang, at)), None => (text.never_used) } }
            }
        }
        details {
            summary { (text.rename) span.visually-hidden { " " (name) } }
            form.stack method="post" action=(safe_href(frame.action)) {
                (fields)
                div.field {
                    label for=(name_id) { (text.name) }
                    input id=(name_id) name="name" type="text" value=(factor.name) autocomplete="off" required;
                }
                (button(&Button { label: text.save_name, style: ButtonStyle::Secondary, name_and_value: Some(("do", "rename")), ..Button::default() }))
            }
        }
        details.revocation {
            summary { (text.remove) span.visually-hidden { " " (name) } }
            form method="post" action=(safe_href(frame.action)) {
                p { (if model.factors.len() == 1 { text.remove_last_explanation } else { text.remove_explanation }) }
                (fields)
                (button(&Button { label: text.remove_submit, style: ButtonStyle::Destructive, name_and_value: Some(("do", "remove")), ..Button::default() }))
            }
        }
    }
}

fn recovery(model: &OwnFactorsPage<'_>) -> Markup {
    let text = second_factor_text(model.frame.lang);
    html! {
        section.panel aria-labelledby="recovery" {
            h2 #recovery { (text.recovery_codes) }
            p { ((text.recovery_left)(model.recovery_codes_left)) }
            details {
                summary { (text.new_recovery_codes) }
                form.stack method="post" action=(safe_href(model.frame.action)) {
                    p { (text.new_recovery_codes_explanation) }
                    (hidden_field("ticket", model.frame.ticket))
                    (button(&Button { label: text.new_recovery_codes, style: ButtonStyle::Secondary, name_and_value: Some(("do", "codes")), ..Button::default() }))
                }
            }
        }
    }
}

pub(crate) fn add_totp(model: &AddTotpPage<'_>) -> Markup {
    let (frame, text) = (&model.frame, second_factor_text(model.frame.lang));
    let is_wrong = frame.news == Some(FactorNews::WrongCode);
    let content = html! {
        ol.steps {
            li { p { (text.scan) } (model.qr_code) p { (text.or_type) } p { code.secret { (model.secret) } } }
            li {
                p { (text.confirm_step) }
                form.stack method="post" action=(safe_href(frame.action)) {
                    (hidden_field("ticket", frame.ticket))
                    (name_field(frame, model.name))
                    (field(&Field {
                        name: "code",
                        label: text.first_code,
                        autocomplete: Some("one-time-code"),
                        inputmode: Some("numeric"),
                        placeholder: Some("123456"),
                        error_id: is_wrong.then_some(NOTICE_ID),
                        is_focused: is_wrong,
                        is_required: true,
                        ..Field::default()
                    }))
                    (button(&Button { label: text.confirm_totp, ..Button::default() }))
                }
            }
        }
        p { a href=(safe_href(frame.back)) { (text.cancel) } }
    };
    framed(frame, (text.add_totp, None), &content)
}

pub(crate) fn add_passkey(model: &AddPasskeyPage<'_>) -> Markup {
    let (frame, text) = (&model.frame, second_factor_text(model.frame.lang));
    let form = PasskeyForm {
        ceremony: PasskeyCeremony::Create,
        options: model.options,
        action: frame.action,
        assets: frame.assets,
        button: Button { label: text.create_passkey, ..Button::default() },
        messages: text.passkey_messages,
    };
    let fields = html! { (hidden_field("ticket", frame.ticket)) (name_field(frame, model.name)) };
    let content = html! {
        (passkey_form(&form, &fields))
        p { a href=(safe_href(frame.back)) { (text.cancel) } }
    };
    framed(frame, (text.add_passkey, Some(text.passkey_lead)), &content)
}

fn name_field(frame: &FactorFrame<'_>, name: &str) -> Markup {
    field(&Field {
        name: "name",
        label: second_factor_text(frame.lang).name,
        value: Some(name),
        autocomplete: Some("off"),
        error_id: (frame.news == Some(FactorNews::NameRefused)).then_some(NOTICE_ID),
        is_required: true,
        ..Field::default()
    })
}

pub(crate) fn recovery_codes(model: &RecoveryCodesPage<'_>) -> Markup {
    let (frame, text) = (&model.frame, second_factor_text(model.frame.lang));
    let content = html! {
        // A line each, for those who copy or save them.
        ul.recovery-codes #codes { @for code in model.codes { li { code { (code) } } "\n" } }
        div.actions { (copy_button(frame.lang, "codes")) (download_button(frame.lang, "codes", text.codes_file)) }
        p { (text.codes_advice) }
        p { a.button href=(safe_href(model.go_on)) { (text.codes_saved) } }
    };
    let head = Head { has_script: true, ..Head::default() };
    with_frame(frame, (text.codes_title, Some(text.codes_lead)), &head, &content)
}

/// The title, and what stands below it.
type Heading<'a> = (&'a str, Option<&'a str>);

fn framed(frame: &FactorFrame<'_>, heading: Heading<'_>, content: &Markup) -> Markup {
    with_frame(frame, heading, &Head::default(), content)
}

fn with_frame(
    frame: &FactorFrame<'_>,
    (title, lead): Heading<'_>,
    head: &Head<'_>,
    content: &Markup,
) -> Markup {
    let FactorFrame { lang, assets, language_switch, .. } = *frame;
    let layout = Layout { lang, assets, language_switch, title, width: PageWidth::Wide };
    let aside = html! {
        span { (DisplayName(frame.email)) }
        a href=(safe_href(frame.sign_out)) { (second_factor_text(lang).sign_out) }
    };
    let content = html! {
        h1 { (title) }
        @if let Some(lead) = lead { p.lead { (lead) } }
        @if let Some(news) = frame.news { (notice_of(lang, news)) }
        (content)
    };
    page_with_head(&layout, head, Some(&aside), &content)
}

fn notice_of(lang: Lang, news: FactorNews) -> Markup {
    let text = second_factor_text(lang);
    let (severity, message) = match news {
        FactorNews::Added => (Severity::Success, text.added),
        FactorNews::Renamed => (Severity::Success, text.renamed),
        FactorNews::Removed => (Severity::Success, text.removed),
        FactorNews::WrongCode => (Severity::Error, text.wrong_code),
        FactorNews::NameRefused => (Severity::Error, text.name_refused),
        FactorNews::PasskeyRefused => (Severity::Error, text.passkey_refused),
        FactorNews::NoScript => (Severity::Error, text.no_script),
        FactorNews::Exists => (Severity::Error, text.exists),
        FactorNews::TooMany => (Severity::Error, text.too_many_factors),
        FactorNews::Expired => (Severity::Warning, text.expired),
    };
    let explanation = (!message.text.is_empty()).then(|| html! { (message.text) });
    notice(severity, NOTICE_ID, &html! { (message.title) }, explanation.as_ref())
}

/// What a new app, a new passkey and the QR code are called.
pub(crate) fn default_totp_name(lang: Lang) -> &'static str {
    second_factor_text(lang).default_totp_name
}

pub(crate) fn default_passkey_name(lang: Lang) -> &'static str {
    second_factor_text(lang).default_passkey_name
}

pub(crate) fn totp_qr_label(lang: Lang) -> &'static str {
    second_factor_text(lang).qr_label
}
