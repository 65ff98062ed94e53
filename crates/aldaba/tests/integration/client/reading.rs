//! Reading with the client: lists as streams, the payroll filter, and the feed.

use aldaba_client::api::{Api, State, filter};
use aldaba_client::sign_in::StaticToken;
use aldaba_client::{Area, Error, EventKind, Resource, Secret, Ticks, TryStreamExt as _};
use serde_json::{Value, json};

use super::{ClientFixture, dev, text};
use crate::harness::{account, change_line, charge, customer, texts};

#[test]
fn companies_are_streamed_over_several_pages() {
    let fixture = ClientFixture::new();
    let own: Vec<String> = (0..3).map(|_| fixture.company()).collect();
    let api = fixture.api();
    let read: Vec<String> = fixture
        .run(api.companies().page_size(2).stream().map_ok(|company| company.correlation_id).try_collect())
        .unwrap();
    let tenants = dev().ready["tenants"].as_array().unwrap();
    let tenant = tenants.iter().find(|tenant| tenant["id"] == fixture.tenant()).unwrap();
    let listed: Vec<&str> = tenant["companies"].as_array().unwrap().iter().map(text).collect();
    assert_eq!(read[..listed.len()], listed, "in order of creation");
    assert!(own.iter().all(|id| read.iter().filter(|other| *other == id).count() == 1), "{read:?}");
    let one = fixture.run(api.company(&own[1])).unwrap().unwrap();
    assert_eq!(
        (one.vat_name.as_str(), one.account_length, one.state),
        ("Panadería Ñandú", 9, State::Enabled)
    );
    assert_eq!(fixture.run(api.company("nobody's")).unwrap(), None);
}

#[test]
fn resources_are_read_in_their_company() {
    let fixture = ClientFixture::new();
    let (api, company) = (fixture.api(), fixture.company());
    let customers = (0..25).map(|number| customer(&company, &format!("c{number}"), "Ávila"));
    let others = [
        account(&company, "a/1 ñ"),
        charge(&company, "ch", 15),
        change_line("customers", &company, "c7", "disable"),
    ];
    let lines: Vec<Value> = customers.chain(others).collect();
    assert_eq!(fixture.ingest_client().send_lines(&lines).counts(), (28, 0));
    let read: Vec<_> = fixture.run(api.customers(&company).page_size(10).stream().try_collect()).unwrap();
    assert_eq!(read.len(), 25);
    let disabled: Vec<_> = read.iter().filter(|one| one.state == State::Disabled).collect();
    assert_eq!((disabled.len(), disabled[0].correlation_id.as_str()), (1, "c7"));
    let account = fixture.run(api.account(&company, "a/1 ñ")).unwrap().unwrap();
    assert_eq!((account.code.as_str(), account.description.as_str()), ("572000001", "Bancos"));
    let charges = Resource::find(Area::Accounting, "charges").unwrap();
    let charge = fixture.run(api.record(charges, &company, "ch")).unwrap().unwrap();
    assert_eq!((&charge.fields["amount"], charge.state), (&json!(15), None));
    for resource in Resource::accounting_family() {
        let page = fixture.run(api.records(resource, &company).page(1)).unwrap();
        assert!(page.position.is_some() && page.etag.is_some(), "{resource:?}");
    }
    let page = fixture.run(api.customers(&company).page(1)).unwrap();
    let etag = page.etag.unwrap();
    assert_eq!(fixture.run(api.customers(&company).page_unless(1, &etag)).unwrap(), None);
    fixture.ingest_client().send_lines(&[customer(&company, "c0", "Otra")]);
    assert!(fixture.run(api.customers(&company).page_unless(1, &etag)).unwrap().is_some());
}

#[test]
fn payroll_is_filtered_and_ordered_with_the_builder() {
    let fixture = ClientFixture::new();
    let api = fixture.api();
    let line = |code: i64, name: &str, at: &str| {
        let data = json!({"companyCode": code, "companyName": name, "identifierNumber": "B12345674", "lastUpdate": at});
        json!({"area": "payroll", "resource": "companies", "action": "upsert", "data": data})
    };
    let lines = [
        line(900_001, "O'Brien & 'Söhne'", "2031-01-01T00:00:00.000Z"),
        line(900_002, "Núñez", "2031-01-02T10:00:00.500Z"),
        line(900_003, "O'Brien", "2031-01-03T00:00:00.000Z"),
    ];
    assert_eq!(fixture.ingest_client().send_lines(&lines).counts(), (3, 0));
    let codes = |filter: &filter::Filter, order: &filter::OrderBy| {
        let list = api.payroll_companies().filter(filter).order_by(order).page_size(1);
        fixture.run(list.stream().map_ok(|one| one.company_code).try_collect::<Vec<i64>>()).unwrap()
    };
    let in_range = filter::code().at_least(900_001).and(filter::code().at_most(900_003));
    let by_code = filter::code().ascending();
    let obrien = filter::name().contains("O'Brien");
    assert_eq!(codes(&in_range.clone().and(obrien.clone()), &by_code), [900_001, 900_003]);
    assert_eq!(codes(&in_range.clone().and(filter::not(obrien)), &by_code), [900_002]);
    let quoted = filter::name().ends_with("'Söhne'");
    assert_eq!(codes(&quoted, &by_code), [900_001]);
    let after = filter::last_update().after(Ticks::parse_iso("2031-01-02T10:00:00.499Z").unwrap());
    assert_eq!(
        codes(&in_range.clone().and(after), &filter::last_update().newest_first()),
        [900_003, 900_002]
    );
}

#[test]
fn snapshot_and_feed_have_no_gap() {
    let fixture = ClientFixture::new();
    let (api, company) = (fixture.api(), fixture.company());
    fixture.ingest_client().send_lines(&[customer(&company, "1", "Uno"), customer(&company, "2", "Dos")]);
    let snapshot = fixture.run(api.customers(&company).snapshot()).unwrap();
    assert_eq!(snapshot.records.len(), 2);
    let later = [
        customer(&company, "3", "Tres"),
        customer(&company, "1", "Uno más"),
        change_line("customers", &company, "2", "disable"),
    ];
    fixture.ingest_client().send_lines(&later);
    let feed = api.changes(Resource::customers(), Some(&company), snapshot.position).page_size(2);
    let changes: Vec<_> = fixture.run(feed.stream().try_collect()).unwrap();
    let kinds: Vec<_> =
        changes.iter().map(|change| (change.correlation_id.as_str(), change.kind().unwrap())).collect();
    let expected = [("3", EventKind::Created), ("1", EventKind::Updated), ("2", EventKind::Disabled)];
    assert_eq!(kinds, expected);
    let of_list = fixture.run(api.customer(&company, "1")).unwrap().unwrap();
    assert_eq!(of_list.sequence_version, changes[1].sequence_version);
    assert_eq!(texts(&later, "correlationId"), ["3", "1", "2"]);
}

#[test]
fn errors_say_what_to_do() {
    let fixture = ClientFixture::new();
    let api = fixture.api();
    let error = fixture.run(api.customers("nobody's").page(1)).unwrap_err();
    assert!(error.is_not_found() && error.to_string().contains("check the company"), "{error}");
    let token = fixture.signed_in().tokens.access_token;
    let wrong_key = Api::new(dev().text("base_url"), Secret::new("wrong"), StaticToken(token)).unwrap();
    let error = fixture.run(wrong_key.companies().page(1)).unwrap_err();
    assert!(error.to_string().contains("invalid subscription key"), "{error}");
    assert!(!error.refused().unwrap().request_id.is_empty());
    let key = Secret::new(text(&dev().ready["subscription"]["primary_key"]));
    let wrong_token = Api::new(dev().text("base_url"), key.clone(), StaticToken(Secret::new("x"))).unwrap();
    let error = fixture.run(wrong_token.companies().page(1)).unwrap_err();
    assert!(matches!(error, Error::SignInAgain { .. }), "{error:?}");
    let nobody = Api::new("http://127.0.0.1:9", key, StaticToken(Secret::new("x"))).unwrap();
    let error = fixture.run(nobody.companies().page(1)).unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
}
