//! Every page in every state.
#![allow(clippy::too_many_lines, reason = "a list of pages")]

use domain::password_rules::PasswordRefusal;
use domain::{Realm, Ticks};
use maud::Markup;
use ui::Lang;

use super::factor_samples::second_factors;
use crate::pages::*;

/// The name of a page and its HTML.
pub(super) type Page = (String, String);

/// Every page in every state, with `text` in every text field of the models.
pub(super) fn every_page(lang: Lang, text: &str) -> Vec<Page> {
    let mut pages = Vec::new();
    let mut add =
        |name: String, page: Markup| pages.push((format!("{name} {}", lang.tag()), page.into_string()));
    let groups = [
        sign_ins(lang, text),
        choices(lang, text),
        errors(lang, text),
        accounts(lang, text),
        second_factors(lang, text),
        links(lang, text),
    ];
    for (name, page) in groups.into_iter().flatten() {
        add(name, page);
    }
    let (assets, language_switch, application) = ("/look", Some(text), text);
    for minutes in [0, 5] {
        add(
            "code".into(),
            code_page(&CodePage {
                lang,
                assets,
                language_switch,
                application,
                code: text,
                state: Some(text),
                minutes,
            }),
        );
    }
    add("continue".into(), continue_page(&ContinuePage { lang, assets, to: text }));
    add(
        "form post".into(),
        form_post(&FormPostPage { lang, assets, action: text, fields: &[(text, text), ("b", text)] }),
    );
    for application in [None, Some(text)] {
        let model = SignOutPage {
            lang,
            assets,
            language_switch,
            action: text,
            ticket: text,
            email: text,
            application,
            cancel: text,
        };
        add("sign out".into(), sign_out(&model));
        let back = application.map(|application| ReturnLink { href: text, application });
        add(
            "signed out".into(),
            signed_out(&SignedOutPage {
                lang,
                assets,
                language_switch,
                back,
                permissions: application,
                sign_in: text,
            }),
        );
    }
    let at = Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap();
    let access = PermissionEntry {
        key: text,
        client: text,
        application,
        tenant: text,
        since: at,
        last_used: at,
        scopes: &["openid", "profile", text],
        is_own: true,
        colleagues: 1,
        is_admin: false,
        webhooks: &[],
        webhooks_left_out: 0,
        is_kept_by_colleague: false,
    };
    let row = WebhookRow { resource: "Customers", host: text, last_delivered_at: Some(at) };
    let webhooks = [row, WebhookRow { last_delivered_at: None, ..row }];
    let with_webhooks = PermissionEntry {
        webhooks: &webhooks,
        webhooks_left_out: 3,
        is_kept_by_colleague: true,
        is_admin: true,
        ..access
    };
    let colleagues = PermissionEntry { is_own: false, colleagues: 2, ..with_webhooks };
    let never_used = PermissionEntry { last_used: Ticks::default(), ..access };
    let elsewhere = PermissionEntry { client: "another", ..access };
    for entries in [&[][..], &[access, elsewhere, never_used], &[with_webhooks, colleagues]] {
        let webhooks_go_on = entries.iter().any(|access| access.is_kept_by_colleague);
        let notice = (!entries.is_empty()).then_some(WithdrawnNotice {
            application: text,
            tenant: text,
            webhooks_go_on,
        });
        let model = PermissionsPage {
            lang,
            assets,
            language_switch,
            action: text,
            ticket: text,
            email: text,
            given_name: text,
            entries,
            notice,
            account: text,
            sign_out: text,
        };
        add("permissions".into(), permissions(&model));
    }
    pages
}

fn sign_ins(lang: Lang, text: &str) -> Vec<(String, Markup)> {
    use SignInError::{Busy, Empty, Expired, NoCookies, NoScript, PasskeyRefused, Throttled, Wrong};
    let problems = [
        None,
        Some(Wrong),
        Some(Expired),
        Some(NoCookies),
        Some(Busy { seconds: 1 }),
        Some(Empty),
        Some(Throttled { seconds: 90 }),
        Some(PasskeyRefused),
        Some(NoScript),
    ];
    let blank = SignInPage {
        lang,
        assets: "/look",
        language_switch: Some(text),
        action: text,
        ticket: text,
        realm: Realm::Users,
        application: None,
        username: "",
        help: ForgottenHelp::Ask(""),
        register: None,
        error: None,
        passkey: None,
    };
    let mut pages: Vec<(String, Markup)> = Realm::ALL
        .map(|realm| (format!("sign in, {}", realm.as_str()), sign_in(&SignInPage { realm, ..blank })))
        .into();
    for (help, register) in [
        (ForgottenHelp::Ask(text), None),
        (ForgottenHelp::Link(text), None),
        (ForgottenHelp::Link(text), Some(text)),
    ] {
        pages.push(("sign in, help".into(), sign_in(&SignInPage { help, register, ..blank })));
    }
    for error in problems {
        let model = SignInPage { application: Some(text), username: text, error, ..blank };
        pages.push((format!("sign in {error:?}"), sign_in(&model)));
        pages.push((format!("sign in {error:?}, no name"), sign_in(&SignInPage { username: "", ..model })));
    }
    pages
}

fn choices(lang: Lang, text: &str) -> Vec<(String, Markup)> {
    let option =
        TenantOption { id: text, name: text, short_code: text, is_last_used: true, is_checked: true };
    let options = [option, TenantOption { short_code: "", is_last_used: false, is_checked: false, ..option }];
    let asked = [text, "openid", "SVC.ES.Webhooks"];
    let request = |returns_to| Some(ConsentRequest { scopes: &asked, returns_to });
    let identity = Some(ConsentRequest { scopes: &["openid"], returns_to: ReturnsTo::Device });
    let search = Search { action: text, query: text, shown_count: 2, total_count: 340 };
    let mut pages = Vec::new();
    for consent in [None, request(ReturnsTo::Host(text)), request(ReturnsTo::Code), identity] {
        for search in [None, Some(search)] {
            for options in [&[][..], &options] {
                for error in [None, Some(TenantChoiceError::NothingChosen), Some(TenantChoiceError::NotYours)]
                {
                    let model = TenantChoicePage {
                        lang,
                        assets: "/look",
                        language_switch: Some(text),
                        action: text,
                        ticket: text,
                        application: text,
                        email: text,
                        search,
                        options,
                        consent,
                        other_account: text,
                        error,
                    };
                    let name = format!("choice {error:?} {} {}", search.is_some(), options.len());
                    pages.push((name, tenant_choice(&model)));
                }
            }
        }
    }
    pages
}

fn errors(lang: Lang, text: &str) -> Vec<(String, Markup)> {
    use ErrorKind::{
        BadRequest, Busy, Expired, Internal, NotFound, RedirectMissing, RedirectUnregistered, UnknownClient,
    };
    let kinds =
        [UnknownClient, RedirectMissing, RedirectUnregistered, BadRequest, Expired, NotFound, Busy, Internal];
    let language_switch = Some(text);
    let page = |kind| ErrorPage {
        lang,
        assets: "/look",
        language_switch,
        status: 400,
        kind,
        detail: text,
        request_id: text,
        realm: Realm::Users,
        retry: None,
        home: text,
        addresses: None,
    };
    let mut pages = kinds.map(|kind| (format!("error {kind:?}"), error_page(&page(kind)))).to_vec();
    pages.push(("error, no detail".into(), error_page(&ErrorPage { detail: "", ..page(Internal) })));
    pages.push(("error, retry".into(), error_page(&ErrorPage { retry: Some(text), ..page(Busy) })));
    for registered in [vec![], vec![text.to_owned(), text.to_owned()]] {
        let addresses = Some(RedirectAddresses { client: "panel", sent: text, registered: &registered });
        pages.push((
            "error, addresses".into(),
            error_page(&ErrorPage { addresses, ..page(RedirectUnregistered) }),
        ));
    }
    pages
}

fn accounts(lang: Lang, text: &str) -> Vec<(String, Markup)> {
    use AccountNews::*;
    let news = [
        None,
        Some(ProfileSaved),
        Some(PasswordChanged),
        Some(SessionsEnded),
        Some(NameRefused),
        Some(CurrentPasswordWrong),
        Some(NewPasswordRefused(PasswordRefusal::TooShort)),
        Some(RepetitionDiffers),
        Some(Throttled { seconds: 7 }),
        Some(Busy { seconds: 5 }),
        Some(Expired),
    ];
    let since = Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap();
    let current = SessionRow { id: text, device: text, address: text, since, is_current: true };
    let other = SessionRow { is_current: false, device: "", ..current };
    let sessions = [current, other];
    let model = AccountPage {
        lang,
        assets: "/look",
        language_switch: Some(text),
        realm: Realm::Users,
        action: text,
        ticket: text,
        email: text,
        given_name: text,
        family_name: text,
        account_lang: lang,
        sessions: &sessions,
        news: None,
        portal: Some(text),
        permissions: Some(text),
        second_factors: text,
        sign_out: text,
    };
    let with =
        |news: Option<AccountNews>| (format!("account {news:?}"), account(&AccountPage { news, ..model }));
    let in_realm = |realm: Realm| {
        let model = AccountPage { realm, permissions: None, sessions: &sessions[..1], ..model };
        (format!("account, {}", realm.as_str()), account(&model))
    };
    news.into_iter().map(with).chain(Realm::ALL.map(in_realm)).collect()
}

fn links(lang: Lang, text: &str) -> Vec<(String, Markup)> {
    let (assets, language_switch) = ("/look", Some(text));
    let errors = [
        None,
        Some(LinkError::NameRefused),
        Some(LinkError::EmailRefused),
        Some(LinkError::Password(PasswordRefusal::Common)),
        Some(LinkError::RepetitionDiffers),
        Some(LinkError::AccountExists),
        Some(LinkError::Throttled { seconds: 90 }),
        Some(LinkError::Busy { seconds: 5 }),
        Some(LinkError::Expired),
        Some(LinkError::NoCookies),
    ];
    let mut pages = Vec::new();
    for (error, fixed_email) in errors.into_iter().flat_map(|error| [(error, None), (error, Some(text))]) {
        for realm in Realm::ALL {
            let model = InvitationPage {
                lang,
                assets,
                language_switch,
                realm,
                action: text,
                ticket: text,
                fixed_email,
                email: text,
                name: text,
                error,
            };
            pages.push((format!("invitation, {error:?}"), invitation(&model)));
        }
        let model =
            ResetPage { lang, assets, language_switch, action: text, ticket: text, email: text, error };
        pages.push((format!("reset, {error:?}"), reset(&model)));
        for purpose in [MailPurpose::Reset, MailPurpose::Registration] {
            let model = AddressPage {
                lang,
                assets,
                language_switch,
                purpose,
                action: text,
                ticket: text,
                email: text,
                sign_in: text,
                error,
            };
            pages.push((format!("{purpose:?}, {error:?}"), address(&model)));
        }
    }
    let model = PasswordSetPage { lang, assets, language_switch, sign_in: text };
    pages.push(("password set".into(), password_set(&model)));
    for contact in ["", text] {
        for purpose in [MailPurpose::Reset, MailPurpose::Registration] {
            let model = MailSentPage { lang, assets, language_switch, purpose, contact, sign_in: text };
            pages.push((format!("mail sent, {purpose:?}"), mail_sent(&model)));
        }
        for (kind, forgot) in
            [(LinkKind::Invitation, None), (LinkKind::Reset, None), (LinkKind::Reset, Some(text))]
        {
            let sign_in = text;
            let model = VoidLinkPage { lang, assets, language_switch, kind, contact, forgot, sign_in };
            pages.push((format!("void link, {kind:?}"), void_link(&model)));
        }
    }
    pages
}
