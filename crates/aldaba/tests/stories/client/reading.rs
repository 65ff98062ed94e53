//! Reading with the client: lists as streams, the payroll filter, the feed.

use aldaba_client::api::{Api, State, filter};
use aldaba_client::sign_in::StaticToken;
use aldaba_client::{Area, Error, EventKind, Resource, Secret, Ticks, TryStreamExt as _};
use serde_json::{Value, json};

use super::{Stage, dev, text};
use crate::harness::{account, act, charge, customer, texts};

#[test]
fn companies_come_as_a_stream_over_several_pages() {
    let stage = Stage::new();
    let own: Vec<String> = (0..3).map(|_| stage.company()).collect();
    let api = stage.api();
    let read: Vec<String> = stage
        .run(api.companies().page_size(2).stream().map_ok(|company| company.correlation_id).try_collect())
        .unwrap();
    let tenants = dev().ready["tenants"].as_array().unwrap();
    let tenant = tenants.iter().find(|tenant| tenant["id"] == stage.tenant()).unwrap();
    let told: Vec<&str> = tenant["companies"].as_array().unwrap().iter().map(text).collect();
    assert_eq!(read[..told.len()], told, "the order is that of their making");
    assert!(own.iter().all(|id| read.iter().filter(|other| *other == id).count() == 1), "{read:?}");
    let one = stage.run(api.company(&own[1])).unwrap().unwrap();
    assert_eq!(
        (one.vat_name.as_str(), one.account_length, one.state),
        ("Panadería Ñandú", 9, State::Enabled)
    );
    assert_eq!(stage.run(api.company("nobody's")).unwrap(), None);
}

#[test]
fn customers_accounts_and_every_other_resource_are_read_in_their_company() {
    let stage = Stage::new();
    let (api, company) = (stage.api(), stage.company());
    let customers = (0..25).map(|number| customer(&company, &format!("c{number}"), "Ávila"));
    let others =
        [account(&company, "a/1 ñ"), charge(&company, "ch", 15), act("customers", &company, "c7", "disable")];
    let lines: Vec<Value> = customers.chain(others).collect();
    assert_eq!(stage.door().send_lines(&lines).counts(), (28, 0));
    let read: Vec<_> = stage.run(api.customers(&company).page_size(10).stream().try_collect()).unwrap();
    assert_eq!(read.len(), 25);
    let disabled: Vec<_> = read.iter().filter(|one| one.state == State::Disabled).collect();
    assert_eq!((disabled.len(), disabled[0].correlation_id.as_str()), (1, "c7"));
    let account = stage.run(api.account(&company, "a/1 ñ")).unwrap().unwrap();
    assert_eq!((account.code.as_str(), account.description.as_str()), ("572000001", "Bancos"));
    let charges = Resource::find(Area::Accounting, "charges").unwrap();
    let charge = stage.run(api.record(charges, &company, "ch")).unwrap().unwrap();
    assert_eq!((&charge.fields["amount"], charge.state), (&json!(15), None));
    for resource in Resource::accounting_family() {
        let page = stage.run(api.records(resource, &company).page(1)).unwrap();
        assert!(page.position.is_some() && page.etag.is_some(), "{resource:?}");
    }
    let page = stage.run(api.customers(&company).page(1)).unwrap();
    let etag = page.etag.unwrap();
    assert_eq!(stage.run(api.customers(&company).page_if_changed(1, &etag)).unwrap(), None);
    stage.door().send_lines(&[customer(&company, "c0", "Otra")]);
    assert!(stage.run(api.customers(&company).page_if_changed(1, &etag)).unwrap().is_some());
}

#[test]
fn payroll_is_filtered_and_ordered_by_what_was_built() {
    let stage = Stage::new();
    let api = stage.api();
    let line = |code: i64, name: &str, at: &str| {
        let data = json!({"companyCode": code, "companyName": name, "identifierNumber": "B12345674", "lastUpdate": at});
        json!({"area": "payroll", "resource": "companies", "action": "upsert", "data": data})
    };
    let lines = [
        line(900_001, "O'Brien & 'Söhne'", "2031-01-01T00:00:00.000Z"),
        line(900_002, "Núñez", "2031-01-02T10:00:00.500Z"),
        line(900_003, "O'Brien", "2031-01-03T00:00:00.000Z"),
    ];
    assert_eq!(stage.door().send_lines(&lines).counts(), (3, 0));
    let codes = |filter: &filter::Filter, order: &filter::OrderBy| {
        let list = api.payroll_companies().filter(filter).order_by(order).page_size(1);
        stage.run(list.stream().map_ok(|one| one.company_code).try_collect::<Vec<i64>>()).unwrap()
    };
    let ours = filter::code().at_least(900_001).and(filter::code().at_most(900_003));
    let by_code = filter::code().ascending();
    let obrien = filter::name().contains("O'Brien");
    assert_eq!(codes(&ours.clone().and(obrien.clone()), &by_code), [900_001, 900_003]);
    assert_eq!(codes(&ours.clone().and(filter::not(obrien)), &by_code), [900_002]);
    let quoted = filter::name().ends_with("'Söhne'");
    assert_eq!(codes(&quoted, &by_code), [900_001]);
    let after = filter::last_update().after(Ticks::parse_iso("2031-01-02T10:00:00.499Z").unwrap());
    assert_eq!(codes(&ours.clone().and(after), &filter::last_update().newest_first()), [900_003, 900_002]);
}

#[test]
fn a_snapshot_and_the_feed_have_no_gap_between_them() {
    let stage = Stage::new();
    let (api, company) = (stage.api(), stage.company());
    stage.door().send_lines(&[customer(&company, "1", "Uno"), customer(&company, "2", "Dos")]);
    let snapshot = stage.run(api.customers(&company).snapshot()).unwrap();
    assert_eq!(snapshot.records.len(), 2);
    let later = [
        customer(&company, "3", "Tres"),
        customer(&company, "1", "Uno más"),
        act("customers", &company, "2", "disable"),
    ];
    stage.door().send_lines(&later);
    let feed = api.changes(Resource::customers(), Some(&company), snapshot.position).page_size(2);
    let changes: Vec<_> = stage.run(feed.stream().try_collect()).unwrap();
    let told: Vec<_> =
        changes.iter().map(|change| (change.correlation_id.as_str(), change.kind().unwrap())).collect();
    let expected = [("3", EventKind::Created), ("1", EventKind::Updated), ("2", EventKind::Disabled)];
    assert_eq!(told, expected);
    let of_list = stage.run(api.customer(&company, "1")).unwrap().unwrap();
    assert_eq!(of_list.sequence_version, changes[1].sequence_version);
    assert_eq!(texts(&later, "correlationId"), ["3", "1", "2"]);
}

#[test]
fn refusals_say_what_to_do() {
    let stage = Stage::new();
    let api = stage.api();
    let told = stage.run(api.customers("nobody's").page(1)).unwrap_err();
    assert!(told.is_not_found() && told.to_string().contains("check the company"), "{told}");
    let token = stage.signed_in().tokens.access_token;
    let wrong_key = Api::new(dev().text("base_url"), Secret::new("wrong"), StaticToken(token)).unwrap();
    let told = stage.run(wrong_key.companies().page(1)).unwrap_err();
    assert!(told.to_string().contains("invalid subscription key"), "{told}");
    assert!(!told.api_error().unwrap().request_id.is_empty());
    let key = Secret::new(text(&dev().ready["subscription"]["primary_key"]));
    let wrong_token = Api::new(dev().text("base_url"), key.clone(), StaticToken(Secret::new("x"))).unwrap();
    let told = stage.run(wrong_token.companies().page(1)).unwrap_err();
    assert!(matches!(told, Error::SignInRequired { .. }), "{told:?}");
    let nobody = Api::new("http://127.0.0.1:9", key, StaticToken(Secret::new("x"))).unwrap();
    let told = stage.run(nobody.companies().page(1)).unwrap_err();
    assert!(matches!(told, Error::Unreachable { .. }), "{told:?}");
}
