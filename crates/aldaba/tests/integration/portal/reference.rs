//! The reference page.

use testkit::TestServer;

use super::fixture::Developer;

#[test]
fn reference_names_the_apis_the_documents_and_the_tools() {
    let server = TestServer::start();
    let developer = Developer::sign_in(&server, "diego");
    let base = server.base_url();
    for (lang, words) in [
        ("es", ["Referencia", "Nóminas", "Línea de órdenes"]),
        ("en", ["Reference", "Payroll", "Command line"]),
    ] {
        let page = developer.get_in(lang, "reference");
        for word in words {
            assert!(page.contains(word), "{lang}: {word}: {page}");
        }
        for place in [
            "/accounting/api",
            "/accounting-core/api",
            "/accounting-import/api",
            "/payroll/api",
            "/invoicing/api",
        ] {
            assert!(page.contains(&format!("<code>{base}{place}</code>")), "{lang}: {place}: {page}");
        }
        for link in ["docs/", "openapi.json", "asyncapi.json"] {
            assert!(page.contains(&format!("href=\"{base}/{link}\"")), "{lang}: {link}: {page}");
        }
        for tool in ["/customers/changes?after=0", "aldaba listen", "aldaba verify", "aldaba_client"] {
            assert!(page.contains(tool), "{lang}: {tool}: {page}");
        }
    }
    let apis = developer.get("reference?format=json").json();
    assert_eq!(apis["apis"].as_array().unwrap().len(), 5);
    assert_eq!(developer.get("reference?format=csv").text().lines().count(), 6);
}

#[test]
fn reference_does_not_link_to_a_page_that_is_switched_off() {
    let server = TestServer::builder().set("server.docs", "false").start();
    let developer = Developer::sign_in(&server, "diego");
    let page = developer.get_in("en", "reference");
    assert!(!page.contains("/docs/") && page.contains("switched off"), "{page}");
}
