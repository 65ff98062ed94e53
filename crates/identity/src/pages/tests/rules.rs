//! What each page must show, and in which order.

use domain::{Realm, Ticks};
use ui::Lang;

use super::super::*;
use super::{SIGN_IN, tags, tags_named};

const OPTION: TenantOption<'_> =
    TenantOption { id: "t1", name: "Soler", short_code: "4101", is_last_used: false, is_checked: false };

const CHOICE: TenantChoicePage<'_> = TenantChoicePage {
    lang: Lang::En,
    assets: "/look",
    language_switch: None,
    action: "/choice",
    ticket: "t",
    application: "Facturador",
    email: "marta@example.es",
    search: None,
    options: &[OPTION],
    consent: None,
    other_account: "/other",
    error: None,
};

const CONSENT: ConsentRequest<'_> = ConsentRequest {
    scopes: &["openid", "profile", "SVC.ES.NEWPOL.ACC.API", "new.scope"],
    returns_to: ReturnsTo::Host("facturador.example"),
};

/// Checks that these texts follow each other on the page.
#[track_caller]
fn assert_order(page: &str, texts: &[&str]) {
    let mut rest = page;
    for text in texts {
        let at = rest.find(text).unwrap_or_else(|| panic!("{text} is not where it should be: {page}"));
        rest = &rest[at + text.len()..];
    }
}

#[test]
fn password_can_be_shown_if_the_script_runs() {
    for lang in Lang::ALL {
        let page = sign_in(&SignInPage { lang, ..SIGN_IN }).into_string();
        let all = tags(&page);
        let control = all.iter().position(|tag| tag.get("data-reveals") == Some("password")).unwrap();
        assert!(all[control].get("name").is_none(), "it is not sent");
        assert_eq!(all[control - 1].get("hidden"), Some(""), "without a script there is no control");
        assert!(page.contains(&format!("/look/{}", ui::asset::page_script().name)));
    }
}

#[test]
fn consent_says_who_asks_where_it_returns_and_what_for() {
    let search = Some(Search { action: "/choice", query: "", shown_count: 9, total_count: 9 });
    let model = TenantChoicePage { consent: Some(CONSENT), search, ..CHOICE };
    let page = tenant_choice(&model).into_string();
    let order = [
        "<bdi>Facturador</bdi> asks for access to your organisation’s data",
        "You will then return to <b><bdi>facturador.example</bdi></b>",
        "Signed in as <bdi>marta@example.es</bdi>",
        "Of which organisation?",
        "role=\"search\"",
        "name=\"tenant\"",
        "If you allow it",
        "See the accounting",
        "<bdi>new.scope</bdi>",
        "Know who you are: your name and your language.",
        "in “Applications with access”",
        "class=\"form-actions\"",
        "value=\"allow\"",
        "value=\"deny\"",
    ];
    assert_order(&page, &order);
    for (returns_to, text) in [
        (ReturnsTo::Code, "get a code to copy into the application"),
        (ReturnsTo::Device, "return to the application on this device"),
    ] {
        let consent = Some(ConsentRequest { scopes: &["openid"], returns_to });
        let page = tenant_choice(&TenantChoicePage { consent, ..CHOICE }).into_string();
        assert_order(&page, &["</bdi> asks for access to your data<", text, "<h2>Organisation<"]);
    }
}

#[test]
fn choice_without_consent_has_one_button() {
    let decisions = |model: &TenantChoicePage<'_>| {
        let buttons = tags_named(tenant_choice(model), "button", "decision");
        buttons.iter().map(|tag| tag.get("value").unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(decisions(&CHOICE), ["allow"]);
    assert_eq!(decisions(&TenantChoicePage { consent: Some(CONSENT), ..CHOICE }), ["allow", "deny"]);
    let nothing = TenantChoicePage { options: &[], consent: Some(CONSENT), ..CHOICE };
    assert_eq!(decisions(&nothing), ["deny"], "a search that finds nothing");
}

#[test]
fn organisations_have_labelled_codes_and_only_the_last_used_is_marked() {
    let options = [
        TenantOption { is_last_used: true, is_checked: true, ..OPTION },
        TenantOption { id: "t2", short_code: "B12345678", ..OPTION },
        TenantOption { id: "t3", short_code: "", ..OPTION },
    ];
    for (lang, code, badge) in
        [(Lang::Es, "Código 4101", "Última usada"), (Lang::En, "Code 4101", "Last used")]
    {
        let page = tenant_choice(&TenantChoicePage { lang, options: &options, ..CHOICE }).into_string();
        assert_order(&page, &[code, badge, "NIF B12345678"]);
        assert_eq!(page.matches("class=\"badge\"").count(), 1);
        assert_eq!(page.matches("class=\"choice-note\"").count(), 2, "no label without a code");
        let checked: Vec<bool> = tags(&page)
            .iter()
            .filter(|tag| tag.get("name") == Some("tenant"))
            .map(|tag| tag.get("checked").is_some())
            .collect();
        assert_eq!(checked, [true, false, false]);
    }
}

#[test]
fn missing_choice_is_told_by_the_page_and_not_by_the_browser() {
    let model = TenantChoicePage { error: Some(TenantChoiceError::NothingChosen), ..CHOICE };
    let page = tenant_choice(&model).into_string();
    let form = tags(&page).into_iter().find(|tag| tag.name == "form").unwrap();
    assert!(form.get("novalidate").is_some());
    assert_order(
        &page,
        &["role=\"alert\" id=\"error\"", "Choose an organisation", "aria-describedby=\"error\""],
    );
}

#[test]
fn search_tells_how_much_of_the_list_is_shown() {
    let count = |lang, query, shown_count| {
        let search = Some(Search { action: "/choice", query, shown_count, total_count: 300 });
        tenant_choice(&TenantChoicePage { lang, search, ..CHOICE }).into_string()
    };
    assert!(count(Lang::Es, " ", 200).contains("Se muestran 200 de 300. Busca para encontrar las demás."));
    assert!(count(Lang::En, "", 300).contains(">300 organisations<"));
    assert!(count(Lang::En, "sol", 12).contains("12 of 300"));
    let page = count(Lang::En, "sol", 12);
    let tickets = tags(&page).iter().filter(|tag| tag.get("name") == Some("ticket")).count();
    assert_eq!(tickets, 2, "the search form needs it too");
}

fn permissions_page(lang: Lang, entries: &[PermissionEntry<'_>]) -> String {
    permissions(&PermissionsPage {
        lang,
        assets: "/look",
        language_switch: None,
        action: "/permissions",
        ticket: "t",
        email: "marta@example.es",
        given_name: "Marta",
        entries,
        notice: None,
        account: "/account",
        sign_out: "/logout",
    })
    .into_string()
}

fn permission<'a>(client: &'a str, tenant: &'a str, webhooks: &'a [WebhookRow<'a>]) -> PermissionEntry<'a> {
    let at = Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap();
    PermissionEntry {
        key: "k",
        client,
        application: client,
        tenant,
        since: at,
        last_used: at,
        scopes: CONSENT.scopes,
        is_own: true,
        colleagues: 0,
        is_admin: false,
        webhooks,
        webhooks_left_out: 0,
        is_kept_by_colleague: false,
    }
}

#[test]
fn permissions_are_grouped_by_application() {
    let entries =
        [permission("A", "Soler", &[]), permission("B", "Soler", &[]), permission("A", "Prat", &[])];
    let page = permissions_page(Lang::Es, &entries);
    let order = [
        "<h2><bdi>A</bdi>",
        "<h3><bdi>Soler</bdi>",
        "<h3><bdi>Prat</bdi>",
        "<h2><bdi>B</bdi>",
        "<h3><bdi>Soler</bdi>",
    ];
    assert_order(&page, &order);
    assert_eq!((page.matches("<h2>").count(), page.matches("class=\"access\"").count()), (2, 3));
}

#[test]
fn permissions_are_folded_and_have_the_words_of_the_consent() {
    for lang in Lang::ALL {
        let consent =
            tenant_choice(&TenantChoicePage { lang, consent: Some(CONSENT), ..CHOICE }).into_string();
        let page = permissions_page(lang, &[permission("A", "Soler", &[])]);
        let list = |page: &str| {
            let (_, rest) = page.split_once("<ul class=\"scopes\">").unwrap();
            rest.split("</ul>").next().unwrap().to_owned()
        };
        assert_eq!(list(&page), list(&consent), "{}", lang.tag());
        assert_order(&page, &["<details class=\"permissions\">", "<ul class=\"scopes\">", "</details>"]);
        assert!(!page.contains("<details class=\"permissions\" open"));
    }
    let page = permissions_page(Lang::En, &[permission("A", "Soler", &[])]);
    assert!(page.contains("withdraw") && !page.contains("emove"), "the word of the consent is withdraw");
}

#[test]
fn permissions_show_webhooks_and_times_that_the_browser_can_localize() {
    let at = Ticks::parse_iso("2026-11-15T09:00:00Z").unwrap();
    let row = WebhookRow { resource: "Customers", host: "erp.example", last_delivered_at: Some(at) };
    let page = permissions_page(Lang::Es, &[permission("A", "Soler", &[row])]);
    let order = ["Recibe avisos de cambios", "Customers", "erp.example", "datetime=\"2026-11-15T09:00:00"];
    assert_order(&page, &order);
    let (folded, _) = page.split_once("Recibe avisos de cambios").unwrap();
    assert_eq!(
        folded.matches("<details").count(),
        folded.matches("</details>").count(),
        "webhooks are not folded"
    );
    let times: Vec<_> = tags(&page).into_iter().filter(|tag| tag.name == "time").collect();
    assert!(
        times.len() == 3 && times.iter().all(|time| time.get("data-part") == Some("minute")),
        "{times:?}"
    );
    assert!(page.contains(&ui::asset::page_script().name));
    assert!(page.contains("class=\"button destructive\""));
}

const ERROR: ErrorPage<'_> = ErrorPage {
    lang: Lang::En,
    assets: "/look",
    language_switch: Some("?lang=es"),
    realm: Realm::Users,
    status: 400,
    kind: ErrorKind::RedirectUnregistered,
    detail: "",
    request_id: "r",
    retry: None,
    home: "/home",
    addresses: None,
};

#[test]
fn errors_have_a_way_on_and_the_other_language() {
    let page = error_page(&ERROR).into_string();
    assert_order(
        &page,
        &["href=\"/home\"", "See your applications with access", "href=\"?lang=es\"", "Español"],
    );
    assert!(!page.contains("Try again"));
    let retry = error_page(&ErrorPage { kind: ErrorKind::Busy, retry: Some("?a=1"), ..ERROR }).into_string();
    assert_order(&retry, &["href=\"?a=1\"", "Try again", "href=\"/home\""]);
    for (realm, text) in [(Realm::Developers, "developer portal"), (Realm::Operators, "operator console")] {
        assert!(error_page(&ErrorPage { realm, ..ERROR }).into_string().contains(text));
    }
}

#[test]
fn error_shows_both_addresses_to_developers_alone() {
    let registered = ["http://localhost:8765/callback".to_owned()];
    let with = |sent| {
        let addresses = Some(RedirectAddresses { client: "panel", sent, registered: &registered });
        error_page(&ErrorPage { addresses, ..ERROR }).into_string()
    };
    let page = with("http://localhost:8765/callback/");
    let command = "aldaba client redirect panel 'http://localhost:8765/callback/'";
    assert_order(
        &page,
        &["http://localhost:8765/callback/</code>", "http://localhost:8765/callback</code>", command],
    );
    for not_for_a_shell in ["http://localhost:8765/';reboot;'", "http://evil.example/", "x\ny"] {
        assert!(!with(not_for_a_shell).contains("--redirect-uri"), "{not_for_a_shell}");
    }
    assert!(!error_page(&ERROR).into_string().contains("8765"));
}
