//! The event catalogue has every event of the AsyncAPI document, in both languages.

use serde_json::Value;
use testserver::TestServer;

use super::fixture::Developer;

#[test]
fn catalogue_has_every_event_of_the_document() {
    let server = TestServer::start();
    let developer = Developer::sign_in(&server, "diego");
    let document = server.get("/asyncapi.json").json();
    let messages = document["components"]["messages"].as_object().unwrap();
    assert_eq!(messages.len(), 19 * 5 + 16 * 3 + 2);
    for (lang, title) in [("es", "Eventos"), ("en", "Events")] {
        let list = developer.get_in(lang, "events");
        assert!(list.contains(&format!("<h1>{title}</h1>")), "{list}");
        for (id, message) in messages {
            let name = message["name"].as_str().unwrap();
            let link =
                format!("<a href=\"{}\"><code>{name}</code></a>", developer.path(&format!("events/{id}")));
            assert!(list.contains(&link), "{lang}: {id}");
        }
    }
    let json = developer.get("events?format=json").json();
    assert_eq!(json["events"].as_array().unwrap().len(), messages.len());
    let csv = developer.get("events?format=csv").text().to_owned();
    assert_eq!(csv.lines().count(), messages.len() + 1);
}

#[test]
fn page_of_each_event_has_its_schema_example_and_subscription() {
    let server = TestServer::start();
    let developer = Developer::sign_in(&server, "diego");
    let document = server.get("/asyncapi.json").json();
    for (id, message) in document["components"]["messages"].as_object().unwrap() {
        let shown = developer.get(&format!("events/{id}?format=json")).json();
        assert_eq!(shown["name"], message["name"], "{id}");
        let example: Value = serde_json::from_str(shown["example"].as_str().unwrap()).unwrap();
        assert_eq!(example, message["examples"][0]["payload"], "{id}");
        assert_eq!(shown["subscription"].is_object(), message["x-subscription"].is_object(), "{id}");
    }
    for (lang, words) in [
        ("es", ["Cuándo se envía", "Obligatorio", "Cabeceras de una entrega", "Cómo suscribirte"]),
        ("en", ["When it is sent", "Required", "Headers of a delivery", "How to subscribe"]),
    ] {
        let page = developer.get_in(lang, "events/Svc.ACC.Customers.CustomerDisabled");
        let from_document =
            ["never deleted", "PartitionClientId", "SvcSourceAction", "svc-webhook-signature", "webhook-id"];
        for word in words.iter().chain(&from_document) {
            assert!(page.contains(word), "{lang}: {word}: {page}");
        }
        let command = format!("{}/accounting/api/customers/webhooks/subscribe", server.base_url());
        assert!(page.contains(&command) && page.contains(&developer.path("signature")), "{page}");
    }
    let invoicing = developer.get_in("en", "events/Invoicing.Bank.Deleted");
    assert!(
        invoicing.contains("ms-signature") && invoicing.contains("/invoicing/api/webhooks"),
        "{invoicing}"
    );
    assert_eq!(developer.get("events/Svc.ACC.Customers.None").status, 404);
}

#[test]
fn catalogue_is_filtered_by_text_and_area() {
    let server = TestServer::start();
    let developer = Developer::sign_in(&server, "diego");
    let names = |query: &str| -> Vec<String> {
        let json = developer.get(&format!("events?format=json&{query}")).json();
        let events = json["events"].as_array().unwrap().clone();
        events.iter().map(|event| event["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("q=ACCOUNTDIS"), ["Svc.ACC.Accounts.AccountDisabled"]);
    assert_eq!(names("q=bank&area=invoicing"), ["Bank.Created", "Bank.Deleted", "Bank.Updated"]);
    assert_eq!(names("area=import").len(), 5);
    assert!(names("area=payroll").is_empty());
    let page = developer.get_in("en", "events?q=bank&area=invoicing");
    assert!(
        page.contains("3 events") && page.contains("value=\"bank\"") && !page.contains("Customer.Created")
    );
    assert!(developer.get_in("es", "events?q=nada-de-nada").contains("Ningún evento coincide"));
    let csv = developer.get("events?format=csv&q=bank&area=invoicing");
    assert!(csv.header("content-disposition").contains("events.csv"), "{csv:?}");
    assert_eq!(csv.text().lines().count(), 4);
}

#[test]
fn pages_of_another_team_do_not_exist() {
    let server = TestServer::start();
    let (developer, other) = (Developer::sign_in(&server, "diego"), Developer::sign_in(&server, "elisa"));
    for page in ["events", "events/Invoicing.Bank.Deleted", "reference"] {
        assert_eq!(developer.get(page).status, 200, "{page}");
        assert_eq!(developer.browser.get(&other.path(page)).status, 404, "{page}");
    }
}
