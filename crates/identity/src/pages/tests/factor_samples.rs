//! The pages about second factors, in every state.

use domain::Ticks;
use maud::Markup;
use ui::Lang;

use crate::pages::*;

pub(super) fn second_factors(lang: Lang, text: &str) -> Vec<(String, Markup)> {
    let mut pages = steps(lang, text);
    let news = [
        None,
        Some(FactorNews::Added),
        Some(FactorNews::Renamed),
        Some(FactorNews::Removed),
        Some(FactorNews::WrongCode),
        Some(FactorNews::NameRefused),
        Some(FactorNews::PasskeyRefused),
        Some(FactorNews::NoScript),
        Some(FactorNews::Exists),
        Some(FactorNews::TooMany),
        Some(FactorNews::Expired),
    ];
    for news in news {
        let frame = FactorFrame {
            lang,
            assets: "/look",
            language_switch: Some(text),
            action: text,
            ticket: text,
            email: text,
            sign_out: text,
            back: text,
            news,
        };
        pages.extend(lists(frame, text));
        let qr = ui::qr_code(b"otpauth://totp/x", totp_qr_label(lang)).unwrap();
        let totp = AddTotpPage { frame, qr_code: &qr, secret: text, name: text };
        pages.push((format!("add app {news:?}"), add_totp(&totp)));
        let passkey = AddPasskeyPage { frame, options: text, name: text };
        pages.push((format!("add passkey {news:?}"), add_passkey(&passkey)));
        let codes = RecoveryCodesPage { frame, codes: &[text, text], go_on: text };
        pages.push((format!("recovery codes {news:?}"), recovery_codes(&codes)));
    }
    pages
}

/// The second step of a sign-in.
fn steps(lang: Lang, text: &str) -> Vec<(String, Markup)> {
    use SecondFactorError::{NoScript, PasskeyRefused, Throttled, WrongCode, WrongRecoveryCode};
    let errors = [
        None,
        Some(WrongCode),
        Some(WrongRecoveryCode),
        Some(PasskeyRefused),
        Some(NoScript),
        Some(Throttled { seconds: 120 }),
    ];
    let mut pages = Vec::new();
    for error in errors {
        for (passkey_options, has_totp) in [(None, true), (Some(text), false), (Some(text), true)] {
            let model = SecondFactorPage {
                lang,
                assets: "/look",
                language_switch: Some(text),
                action: text,
                ticket: text,
                email: text,
                passkey_options,
                has_totp,
                error,
                other_account: text,
            };
            pages.push((format!("second factor {error:?} {has_totp}"), second_factor(&model)));
        }
    }
    pages
}

fn lists(frame: FactorFrame<'_>, text: &str) -> Vec<(String, Markup)> {
    let at = Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap();
    let app = FactorRow { id: "one", name: text, is_passkey: false, since: at, last_used: None };
    let passkey = FactorRow { id: "two", is_passkey: true, last_used: Some(at), ..app };
    let none = OwnFactorsPage {
        frame,
        factors: &[],
        recovery_codes_left: 0,
        is_required: true,
        add_totp: Some(text),
        add_passkey: None,
    };
    let off = OwnFactorsPage { is_required: false, add_totp: None, ..none };
    let one = OwnFactorsPage { factors: &[app], recovery_codes_left: 1, ..none };
    let two = OwnFactorsPage {
        factors: &[app, passkey],
        recovery_codes_left: 7,
        is_required: false,
        add_passkey: Some(text),
        ..none
    };
    let all = [("none", none), ("off", off), ("one", one), ("two", two)];
    all.into_iter()
        .map(|(name, model)| (format!("factors {name} {:?}", frame.news), own_factors(&model)))
        .collect()
}
