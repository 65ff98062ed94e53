//! The ingest API: accepted lines, events, generated ids, warnings and the response.

use serde_json::json;

use crate::harness::{
    IngestResponse, account, bank, charge, company, customer, is_guid, ndjson, shared_server,
};

#[test]
fn accepted_lines_get_sequence_numbers() {
    let ingest = shared_server().ingest_for_new_tenant();
    let answer = ingest.send_lines(&[
        company("c"),
        customer("c", "u", "Bar Manolo"),
        account("c", "a"),
        bank("b", "Caja"),
    ]);
    assert!(is_guid(&answer.process_id), "{answer:?}");
    assert_eq!(answer.counts(), (4, 0));
    assert_eq!(answer.last_sequence_version, "4");
    assert_eq!((&answer.errors[..], &answer.warnings[..], &answer.ids[..]), (&[][..], &[][..], &[][..]));
    let next = ingest.send_lines(&[bank("b2", "Caja")]);
    assert_eq!(next.head(), 5);
    assert_ne!(next.process_id, answer.process_id);
}

#[test]
fn json_array_is_accepted_like_lines() {
    let ingest = shared_server().ingest_for_new_tenant();
    let lines = [company("c"), charge("c", "1", 10), charge("nowhere", "2", 10), charge("c", "3", 10)];
    let array = serde_json::to_string_pretty(&lines).unwrap();
    let response =
        ingest.request().header("content-type", "application/json; charset=utf-8").body(array).send();
    let answer = IngestResponse::from_response(&response);
    assert_eq!((answer.counts(), answer.head()), ((3, 1), 3));
    assert_eq!(answer.rejected_lines(), [(3, "unknown_company")], "items are counted from 1");
    let again = ingest.send_lines(&lines);
    assert_eq!((again.counts(), again.head()), ((3, 1), 3), "the same records, so there are no new events");
    assert_eq!(ingest.request().body("[]").send().json()["accepted"], 0);
}

#[test]
fn json_body_must_start_with_an_array_or_object() {
    let ingest = shared_server().ingest_for_new_tenant();
    let as_type =
        |body: &str, media: &str| ingest.request().header("content-type", media).body(body.to_owned()).send();
    for body in ["nonsense", "7", "\"text\"", "null", "\u{0}", "\n x"] {
        let refused = as_type(body, "application/json");
        assert!(
            refused.problem(400).contains("begins neither an array nor an object"),
            "{body:?}: {refused:?}"
        );
        assert_eq!(refused.problem_code(), "not_changes");
        assert_eq!(
            IngestResponse::from_response(&as_type(body, "application/x-ndjson")).counts(),
            (0, 1),
            "text that is not JSON is a rejected line"
        );
    }
    let lines = ndjson(&[bank("1", "a"), bank("2", "b")]);
    for body in [lines.as_str(), "[]", "{}", "", "\u{feff}\n[]"] {
        assert_eq!(as_type(body, "application/json").status, 200, "{body:?}");
    }
    assert_eq!(ingest.head(), 2);
}

#[test]
fn empty_body_returns_the_head() {
    let ingest = shared_server().ingest_for_new_tenant();
    assert_eq!(ingest.head(), 0);
    ingest.send_lines(&[bank("1", "a"), bank("2", "b")]);
    for nothing in ["", "\n", " \r\n\n", "\u{feff}", "[]", " [ ] "] {
        let answer = ingest.send(nothing);
        assert_eq!((answer.counts(), answer.head()), ((0, 0), 2), "{nothing:?}");
        assert!(is_guid(&answer.process_id));
    }
}

#[test]
fn valid_lines_are_stored_next_to_rejected_ones() {
    let ingest = shared_server().ingest_for_new_tenant();
    let body = format!(
        "{}\nnot json\n\n{}\n{}\n   \n{}\n",
        bank("1", "a"),
        json!({"area": "invoicing", "resource": "Bank", "action": "delete", "correlationId": "nobody"}),
        bank("2", "b"),
        charge("nowhere", "x", 1),
    );
    let answer = ingest.send(body);
    assert_eq!((answer.counts(), answer.head()), ((2, 3), 2));
    let refused = [(2, "invalid_json"), (4, "unknown_record"), (7, "unknown_company")];
    assert_eq!(answer.rejected_lines(), refused, "blank lines are counted");
    assert_eq!(answer.errors[0].message, "expected a JSON object at column 1");
    assert_eq!(answer.errors[1].message, "there is no record \"nobody\" of Bank");
    assert_eq!(answer.errors[2].message, "there is no company \"nowhere\"");
    let fields: Vec<&str> = answer.errors.iter().map(|error| error.field.as_str()).collect();
    assert_eq!(fields, ["", "correlationId", "company"]);
    assert_eq!(ingest.send_lines(&[bank("1", "a"), bank("2", "b")]).head(), 2, "both valid lines are stored");
}

#[test]
fn line_without_an_id_is_stored_under_the_generated_id() {
    let ingest = shared_server().ingest_for_new_tenant();
    let without_id = |name: &str| {
        let mut line = bank("", name);
        line.as_object_mut().unwrap().remove("correlationId");
        line
    };
    let answer =
        ingest.send_lines(&[without_id("a"), bank("mine", "b"), without_id("c"), json!({}), without_id("d")]);
    assert_eq!((answer.counts(), answer.head()), ((4, 1), 4));
    let lines: Vec<u64> = answer.ids.iter().map(|generated| generated.line).collect();
    assert_eq!(lines, [1, 3, 5]);
    assert!(answer.ids.iter().all(|generated| is_guid(&generated.correlation_id)));
    let names = ["a", "c", "d"];
    let known: Vec<_> =
        answer.ids.iter().zip(names).map(|(generated, name)| bank(&generated.correlation_id, name)).collect();
    assert_eq!(
        ingest.send_lines(&known).head(),
        4,
        "the records exist under the generated ids, with this content"
    );
    assert_eq!(
        ingest.send_lines(&[without_id("a")]).head(),
        5,
        "a line without an id creates another record"
    );
}

#[test]
fn all_generated_ids_are_returned() {
    let ingest = shared_server().ingest_for_new_tenant();
    let line = r#"{"area":"invoicing","resource":"Contact","action":"upsert","data":{}}"#;
    let answer = ingest.send(format!("{line}\n").repeat(2500));
    assert_eq!((answer.counts(), answer.head()), ((2500, 0), 2500));
    assert!(answer.ids.iter().map(|generated| generated.line).eq(1..=2500));
    let mut ids: Vec<&str> = answer.ids.iter().map(|generated| generated.correlation_id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 2500);
}

#[test]
fn unchanged_upsert_makes_no_event() {
    let ingest = shared_server().ingest_for_new_tenant();
    let record =
        r#"{"area":"accounting","resource":"companies","action":"upsert","correlationId":"c","data":"#;
    let data = r#"{"vatName":"Ñ","vatNumber":"","chartOfAccountId":1,"accountLength":9}}"#;
    assert_eq!(ingest.send(format!("{record}{data}")).head(), 1);
    let reordered = r#"{"accountLength" : 9, "chartOfAccountId":1,"vatNumber":"","vatName":"\u00d1"}}"#;
    let same = ingest.send(format!("{record}{reordered}"));
    assert_eq!((same.counts(), same.head()), ((1, 0), 1), "accepted without an event");
    let payroll = |name: &str| {
        json!({
            "area": "payroll", "resource": "companies", "action": "upsert",
            "data": {"companyCode": 12, "companyName": name, "identifierNumber": ""}
        })
    };
    assert_eq!(ingest.send_lines(&[payroll("a"), payroll("a"), payroll("b"), payroll("b")]).head(), 3);
    assert_eq!(ingest.send_lines(&[payroll("b")]).head(), 3);
}

#[test]
fn each_state_change_makes_one_event() {
    let ingest = shared_server().ingest_for_new_tenant();
    let change_line = |resource: &str, id: &str, action: &str| {
        let mut line =
            json!({"area": "accounting", "resource": resource, "action": action, "correlationId": id});
        if resource != "companies" {
            line["company"] = json!("c");
        }
        line
    };
    ingest.send_lines(&[company("c"), customer("c", "u", "Bar"), charge("c", "x", 1)]);
    let heads: Vec<u64> = [
        change_line("customers", "u", "disable"),
        change_line("customers", "u", "disable"),
        change_line("customers", "u", "enable"),
        change_line("companies", "c", "disable"),
        change_line("charges", "x", "fail"),
        change_line("charges", "x", "delete"),
        change_line("companies", "c", "delete"),
    ]
    .iter()
    .map(|line| {
        let answer = ingest.send_lines(std::slice::from_ref(line));
        assert_eq!(answer.counts(), (1, 0), "{line}: {answer:?}");
        answer.head()
    })
    .collect();
    assert_eq!(heads, [4, 4, 5, 6, 7, 8, 9], "disabling a disabled record makes no event");
    let after = ingest.send_lines(&[charge("c", "y", 1)]);
    assert_eq!(after.only_error().code, "unknown_company", "a deleted company no longer exists");
}

#[test]
fn unusual_values_are_accepted_with_a_warning() {
    let ingest = shared_server().ingest_for_new_tenant();
    let mut unusual = company("c");
    unusual["data"]["vatNumber"] = json!("12345678A");
    let answer = ingest.send_lines(&[bank("1", "a"), unusual]);
    assert_eq!((answer.counts(), answer.errors.len(), answer.warnings.len()), ((2, 0), 0, 1));
    let warning = &answer.warnings[0];
    assert_eq!(
        (warning.line, warning.code.as_str(), warning.field.as_str()),
        (2, "wrong_control", "data.vatNumber")
    );
}

#[test]
fn at_most_1000_errors_are_listed_and_all_are_counted() {
    let ingest = shared_server().ingest_for_new_tenant();
    let body = format!("{}{}", "nothing\n".repeat(2345), ndjson(&[bank("1", "a")]));
    let answer = ingest.send(body);
    assert_eq!((answer.counts(), answer.head()), ((1, 2345), 1));
    assert!(answer.errors.iter().map(|error| error.line).eq(1..=1000));
}

#[test]
fn long_chunked_body_is_accepted() {
    let ingest = shared_server().ingest_for_new_tenant();
    let lines: Vec<_> = (0..3500).map(|number| bank(&format!("b{number}"), "a")).collect();
    let answer = ingest.send_lines(&lines);
    assert_eq!((answer.counts(), answer.head()), ((3500, 0), 3500));
    assert_eq!(ingest.send_lines(&lines).head(), 3500);
}

#[test]
fn http_2_is_accepted() {
    let ingest = shared_server().ingest_for_new_tenant();
    let lines: Vec<_> = (0..2500).map(|number| bank(&format!("b{number}"), &"x".repeat(200))).collect();
    let answer = IngestResponse::from_response(&ingest.request().body(ndjson(&lines)).http2().send());
    assert_eq!((answer.counts(), answer.head()), ((2500, 0), 2500));
    let refused = ingest.request().header("authorization", "").body(ndjson(&lines)).http2().send();
    refused.problem(401);
}
