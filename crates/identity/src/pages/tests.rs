//! Checks of every page in every state and both languages, also with hostile text in every field.

mod factor_samples;
mod rules;
mod samples;

use std::collections::BTreeSet;

use domain::Realm;
use maud::Markup;
use ui::Lang;

use super::*;
use samples::{Page, every_page};

fn benign_pages() -> impl Iterator<Item = Page> {
    Lang::ALL.into_iter().flat_map(|lang| every_page(lang, "x"))
}

/// A tag: its name and its attributes, not unescaped.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tag {
    name: String,
    attributes: Vec<(String, String)>,
}

impl Tag {
    fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn is_hidden_input(&self) -> bool {
        self.name == "input" && (self.get("type") == Some("hidden") || self.get("hidden").is_some())
    }
}

/// The start and end tags in order, parsed as a browser does: brackets inside quotes do not count.
fn tags(page: &str) -> Vec<Tag> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let end = rest.find(|c: char| c.is_whitespace() || c == '>').unwrap();
        let name = rest[..end].to_owned();
        rest = &rest[end..];
        let mut attributes = Vec::new();
        loop {
            rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix('>') {
                rest = after;
                break;
            }
            let end = rest.find(|c: char| c.is_whitespace() || c == '=' || c == '>').unwrap();
            let attribute = rest[..end].to_owned();
            rest = &rest[end..];
            let mut value = String::new();
            if let Some(quoted) = rest.strip_prefix("=\"") {
                let (inside, after) = quoted.split_once('"').unwrap();
                (value, rest) = (inside.to_owned(), after);
            }
            attributes.push((attribute, value));
        }
        tags.push(Tag { name, attributes });
    }
    tags
}

/// The names of the tags and attributes, without values and text.
fn skeleton(page: &str) -> Vec<(String, Vec<String>)> {
    let names = |tag: Tag| (tag.name, tag.attributes.into_iter().map(|(name, _)| name).collect());
    tags(page).into_iter().map(names).collect()
}

#[test]
fn hostile_text_does_not_change_the_markup() {
    let long = "\"><script>alert(1)</script>".repeat(400);
    let hostile = [
        "\"><script>alert(1)</script>",
        "' onmouseover='alert(1)",
        "\" autofocus onfocus=\"alert(1)",
        "</textarea></title><script>alert(1)</script>",
        "<!--",
        "a\nb\r\n<b>",
        "\u{202e}\u{2067}evil\u{200f}",
        "&lt;&#60;&amp",
        "${x}{{x}}",
        "javascript:alert(1)",
        &long,
    ];
    for lang in Lang::ALL {
        let benign = every_page(lang, "x");
        for text in hostile {
            for ((name, benign), (_, page)) in benign.iter().zip(every_page(lang, text)) {
                assert_eq!(skeleton(benign), skeleton(&page), "{name} with {text:?}");
                assert!(!page.contains("<script>alert"), "{name}");
            }
        }
    }
}

#[test]
fn links_and_forms_never_target_a_script() {
    for lang in Lang::ALL {
        for text in ["javascript:alert(1)", " \tJAVASCRIPT:alert(1)", "data:text/html,<script>"] {
            for (name, page) in every_page(lang, text) {
                for tag in tags(&page) {
                    for target in ["href", "action"].into_iter().filter_map(|name| tag.get(name)) {
                        assert!(target == "#" || target.starts_with("/look/"), "{name}: {target}");
                    }
                    if tag.get("http-equiv").is_some() {
                        assert_eq!(tag.get("content"), Some("0; url=#"), "{name}");
                    }
                }
            }
        }
    }
}

#[test]
fn names_are_truncated_and_form_values_are_not() {
    let long = "ñ".repeat(10_000);
    for (name, page) in every_page(Lang::Es, &long) {
        for field in tags(&page).iter().filter(|tag| tag.get("name") == Some("ticket")) {
            assert_eq!(field.get("value"), Some(long.as_str()), "{name}");
        }
        let heading = page.split("<h1>").nth(1).and_then(|rest| rest.split("</h1>").next()).unwrap();
        assert!(heading.len() < 1_000, "{name}");
    }
}

#[test]
fn every_page_has_one_heading_title_language_and_main_element() {
    for (name, page) in benign_pages() {
        let tags = tags(&page);
        let count = |wanted: &str| tags.iter().filter(|tag| tag.name == wanted).count();
        for once in ["h1", "title", "main", "html"] {
            assert_eq!(count(once), 1, "{once} in {name}");
        }
        let html = tags.iter().find(|tag| tag.name == "html").unwrap();
        assert!(name.ends_with(html.get("lang").unwrap()), "{name}");
        assert!(!page.contains("<title> ·"), "{name}");
    }
}

#[test]
fn every_field_has_a_label_and_every_id_reference_resolves() {
    for (name, page) in benign_pages() {
        let tags = tags(&page);
        let ids: Vec<_> = tags.iter().filter_map(|tag| tag.get("id")).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "ids of {name} are unique");
        let mut is_inside_label = false;
        for tag in &tags {
            match tag.name.as_str() {
                "label" => is_inside_label = true,
                "/label" => is_inside_label = false,
                "input" | "textarea" | "select" if !tag.is_hidden_input() && !is_inside_label => {
                    let id = tag.get("id").unwrap();
                    let labelled =
                        tags.iter().any(|label| label.name == "label" && label.get("for") == Some(id));
                    assert!(labelled, "{id} in {name}");
                }
                _ => {}
            }
            for id in tag.get("aria-describedby").into_iter().flat_map(str::split_whitespace) {
                assert!(ids.contains(&id), "{id} in {name}");
            }
        }
        assert!(tags.iter().filter(|tag| tag.get("autofocus").is_some()).count() <= 1, "{name}");
    }
}

#[test]
fn pages_comply_with_the_content_security_policy() {
    for (name, page) in benign_pages() {
        for tag in tags(&page) {
            let is_form_post = name.starts_with("form post");
            assert!(tag.name != "style" && tag.name != "iframe" && tag.name != "base", "{name}");
            // Scripts are files of ours; the pages that have them have a policy that allows them.
            let is_file = tag.get("src").is_some_and(|src| src.starts_with("/look/"));
            let has_reason = ["data-passkey=", "data-reveals=", "data-copy=", "<time "]
                .iter()
                .any(|mark| page.contains(mark))
                || name.starts_with("permissions");
            let is_allowed = is_form_post || is_file && (has_reason || name.starts_with("factors"));
            assert!(tag.name != "script" || is_allowed, "{name}");
            for (attribute, value) in &tag.attributes {
                assert!(attribute != "style" && !attribute.starts_with("on"), "{attribute} in {name}");
                assert!(!value.contains("://") && !value.starts_with("data:"), "{value} in {name}");
            }
        }
    }
}

#[test]
fn form_post_page_contains_the_script_that_the_policy_allows() {
    let model = FormPostPage {
        lang: Lang::Es,
        assets: "/look",
        action: "https://a.example/cb",
        fields: &[("code", "c&d")],
    };
    let page = form_post(&model).into_string();
    assert_eq!(page.matches("<script>").count(), 1);
    assert!(page.contains(&format!("<script>{FORM_POST_SCRIPT}</script>")));
    assert!(page.contains(r#"<input type="hidden" name="code" value="c&amp;d">"#));
    assert!(page.contains(r#"method="post" action="https://a.example/cb""#) && page.contains("Continuar"));
}

/// The tags of a page with this tag name and `name` attribute.
fn tags_named(page: Markup, of: &str, name: &str) -> Vec<Tag> {
    let is_it = |tag: &Tag| tag.name == of && tag.get("name") == Some(name);
    tags(&page.into_string()).into_iter().filter(is_it).collect()
}

const SIGN_IN: SignInPage<'_> = SignInPage {
    lang: Lang::Es,
    assets: "/look",
    language_switch: None,
    action: "/sign-in",
    ticket: "t",
    realm: Realm::Users,
    application: Some("Facturador"),
    username: "",
    help: ForgottenHelp::Ask(""),
    register: None,
    error: None,
    passkey: None,
};

/// Password managers ignore fields of the type `hidden`.
#[test]
fn form_for_a_new_password_names_its_account() {
    let mut count = 0;
    for (name, page) in every_page(Lang::Es, "marta@example.es") {
        let mut has_account = false;
        for tag in tags(&page) {
            match tag.get("autocomplete") {
                Some("username" | "email") => has_account = tag.get("type") != Some("hidden"),
                Some("new-password") => {
                    assert!(has_account, "{name}");
                    count += 1;
                }
                _ => has_account &= tag.name != "form",
            }
        }
    }
    assert!(count >= 6, "{count}");
}

#[test]
fn rule_of_a_new_password_stands_beside_its_field() {
    let mut count = 0;
    for (name, page) in every_page(Lang::En, "marta@example.es") {
        let all = tags(&page);
        for field in all.iter().filter(|tag| tag.get("name") == Some("new_password")) {
            let described_by = field.get("aria-describedby").unwrap_or_default();
            assert!(described_by.ends_with("new_password-hint"), "{name}: {described_by}");
            assert!(page.contains(ui::password_hint(Lang::En)), "{name}");
            count += 1;
        }
    }
    assert!(count >= 3, "{count}");
}

#[test]
fn first_empty_field_has_the_focus() {
    let focused = |model: &SignInPage<'_>, name| {
        tags_named(sign_in(model), "input", name)[0].get("autofocus").is_some()
    };
    assert!(focused(&SIGN_IN, "username") && !focused(&SIGN_IN, "password"));
    let named = SignInPage { username: "marta@example.es", ..SIGN_IN };
    assert!(!focused(&named, "username") && focused(&named, "password"));
}

#[test]
fn wrong_credentials_are_announced_without_saying_which_one_is_wrong() {
    let model = SignInPage { username: "marta@example.es", error: Some(SignInError::Wrong), ..SIGN_IN };
    for name in ["username", "password"] {
        let field = &tags_named(sign_in(&model), "input", name)[0];
        assert_eq!((field.get("aria-invalid"), field.get("aria-describedby")), (Some("true"), Some("error")));
    }
    let page = sign_in(&model).into_string();
    assert!(page.contains(r#"role="alert" id="error""#) && page.contains("El correo o la contraseña"));
    assert!(
        tags_named(sign_in(&model), "input", "password")[0].get("value").is_none(),
        "the password is not echoed"
    );
}

#[test]
fn missing_cookies_are_explained_without_marking_a_field() {
    for (lang, text) in [(Lang::Es, "no acepta cookies"), (Lang::En, "does not accept cookies")] {
        let model = SignInPage { lang, error: Some(SignInError::NoCookies), ..SIGN_IN };
        assert!(sign_in(&model).into_string().contains(text));
        assert_eq!(tags_named(sign_in(&model), "input", "password")[0].get("aria-invalid"), None);
    }
}

#[test]
fn waiting_times_have_units_and_plurals() {
    let notice_for = |lang, error| {
        sign_in(&SignInPage { lang, error: Some(error), ..SIGN_IN }).into_string().replace('\u{a0}', " ")
    };
    assert!(notice_for(Lang::Es, SignInError::Busy { seconds: 1 }).contains("dentro de 1 segundo."));
    assert!(
        notice_for(Lang::Es, SignInError::Throttled { seconds: 840 }).contains("Espera 14 minutos antes")
    );
    assert!(notice_for(Lang::En, SignInError::Throttled { seconds: 60 }).contains("Wait 1 minute before"));
    let code = |minutes| {
        let model = CodePage {
            lang: Lang::Es,
            assets: "",
            language_switch: None,
            application: "A",
            code: "c",
            state: None,
            minutes,
        };
        code_page(&model).into_string().replace('\u{a0}', " ")
    };
    assert!(code(0).contains("válido durante menos de un minuto y"));
    assert!(code(1).contains("válido durante 1 minuto y"));
}

#[test]
fn signed_out_page_says_that_applications_keep_access() {
    let model = SignedOutPage {
        lang: Lang::Es,
        assets: "/look",
        language_switch: None,
        back: None,
        permissions: Some("/auth/core/permissions"),
        sign_in: "/auth/core/login",
    };
    let page = signed_out(&model).into_string();
    let end = r#"retirarlo en <a href="/auth/core/permissions">Aplicaciones con acceso</a>."#;
    assert!(page.contains("lo conservan; puedes ") && page.contains(end), "{page}");
}

#[test]
fn debug_output_has_no_secrets() {
    let code = CodePage {
        lang: Lang::Es,
        assets: "",
        language_switch: None,
        application: "A",
        code: "hush",
        state: Some("hush"),
        minutes: 1,
    };
    let post = FormPostPage { lang: Lang::Es, assets: "", action: "/", fields: &[("code", "hush")] };
    let sign_in = SignInPage { ticket: "hush", username: "hush", ..SIGN_IN };
    for text in [format!("{code:?}"), format!("{post:?}"), format!("{sign_in:?}")] {
        assert!(!text.contains("hush"), "{text}");
    }
}
