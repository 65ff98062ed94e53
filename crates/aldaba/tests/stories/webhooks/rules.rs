//! What the contract asks of receivers, rule by rule: who keeps it is told, and who does not is told why not.

use serde_json::{Value, json};

use super::stage::{INVOICING, Stage};
use super::{CUSTOMERS, get};
use crate::harness::{Letter, bank, until};

/// What is answered: status and more lines of the head; none: never anything.
type Answer = Option<(u16, &'static str)>;

/// What a receiver may do wrong, by the path at which it does: the answer, and what is said of it.
const WRONGS: [(&str, Answer, &str); 8] = [
    ("/201", Some((201, "")), "the answer was 201"),
    ("/204", Some((204, "")), "the answer was 204"),
    ("/302", Some((302, "location: /well\r\n")), "the answer was 302"),
    ("/401", Some((401, "")), "the answer was 401"),
    ("/404", Some((404, "")), "the answer was 404"),
    ("/500", Some((500, "")), "the answer was 500"),
    ("/cookie", Some((200, "set-cookie: a=b\r\n")), "the answer sets a cookie"),
    ("/late", None, "timed out"),
];

fn wrong(letter: &Letter) -> Answer {
    let known = WRONGS.iter().find(|(path, ..)| *path == letter.target);
    known.map_or(Some((200, "")), |(_, answer, _)| *answer)
}

#[test]
fn an_acknowledge_is_accepted_by_200_in_time_and_without_cookies_alone() {
    let stage = Stage::new();
    stage.receiver.answers(wrong);
    let ids: Vec<String> = WRONGS.iter().map(|(path, ..)| stage.subscribe(path)).collect();
    let well = stage.contracted("/well");
    stage.put("early", "for who has accepted");
    for (id, (path, answer, reason)) in ids.iter().zip(WRONGS) {
        let attempts = until("a second attempt", || Some(stage.attempts(id)).filter(|all| all.len() >= 2));
        for attempt in attempts {
            assert_eq!(attempt["occasion"], "handshake", "{attempt}");
            assert_eq!(attempt["status"], json!(answer.map(|(status, _)| status)), "{attempt}");
            assert!(attempt["reason"].as_str().unwrap().starts_with(reason), "{path}: {attempt}");
        }
        assert_eq!(stage.record(id)["isActive"], false, "{path}");
    }
    stage.receiver.wait_for(1);
    assert!(stage.receiver.changes().iter().all(|letter| letter.json()["WebhookId"] == well));
}

#[test]
fn every_2xx_takes_a_delivery_once() {
    const GOOD: [(&str, u16); 6] =
        [("/200", 200), ("/201", 201), ("/202", 202), ("/204", 204), ("/206", 206), ("/299", 299)];
    let stage = Stage::new();
    let ids = GOOD.map(|(path, _)| stage.contracted(path));
    stage.receiver.answers(|letter| {
        let good = GOOD.iter().find(|(path, _)| *path == letter.target);
        good.map(|(_, status)| (*status, ""))
    });
    stage.put("1", "one");
    stage.put("1", "two");
    for (id, (path, _)) in ids.iter().zip(GOOD) {
        let all = until("both deliveries", || {
            Some(stage.deliveries(id, 2)).filter(|all| all.iter().all(|one| one["status"] == "delivered"))
        });
        assert!(all.iter().all(|one| one["attempts"] == json!([])), "no attempt failed: {all:?}");
        let came = stage.receiver.changes().iter().filter(|letter| letter.target == path).count();
        assert_eq!(came, 2, "{path}");
    }
}

#[test]
fn the_history_says_which_rule_was_broken() {
    let stage = Stage::new();
    let broken: Vec<_> = WRONGS
        .into_iter()
        .filter(|(_, answer, _)| answer.is_none_or(|(code, _)| code > 204 || code == 200))
        .collect();
    let ids: Vec<String> = broken.iter().map(|(path, ..)| stage.contracted(path)).collect();
    stage.receiver.answers(wrong);
    stage.put("1", "one");
    for (id, (path, answer, reason)) in ids.iter().zip(&broken) {
        let tried = stage.deliveries(id, 1).remove(0);
        let attempt = &tried["attempts"][0];
        assert_eq!(attempt["status"], json!(answer.map(|(status, _)| status)), "{attempt}");
        assert!(attempt["reason"].as_str().unwrap().starts_with(reason), "{path}: {attempt}");
        assert_eq!((&tried["deliveredAt"], &attempt["number"]), (&Value::Null, &json!(1)), "{tried}");
    }
    assert!(
        stage.receiver.changes().iter().all(|letter| letter.target != "/well"),
        "no redirect is followed"
    );
    // Each is taken in the end, as it was sent the first time.
    stage.receiver.answers(|_| Some((200, "")));
    for id in &ids {
        until("it to be delivered", || (stage.deliveries(id, 1)[0]["status"] == "delivered").then_some(()));
    }
    for (path, ..) in &broken {
        let mut bodies: Vec<_> = stage.receiver.changes();
        bodies.retain(|letter| letter.target == *path);
        assert!(bodies.len() >= 2 && bodies.iter().all(|letter| letter.body == bodies[0].body), "{path}");
    }
}

#[test]
fn who_asks_for_time_gets_it() {
    let stage = Stage::new();
    for (path, answer) in [("/429", (429, "retry-after: 2\r\n")), ("/503", (503, "retry-after: 2\r\n"))] {
        let id = stage.contracted(path);
        stage.receiver.answers(move |_| Some(answer));
        stage.put(path, "one");
        let waiting = stage.deliveries(&id, 1).remove(0);
        let moment = |text: &Value| domain::Ticks::parse_iso(text.as_str().unwrap()).unwrap();
        let (at, next) = (moment(&waiting["attempts"][0]["at"]), moment(&waiting["nextAttemptAt"]));
        let pause = next.since(at).as_millis();
        assert!((1_700..=2_300).contains(&pause), "{pause} ms: {waiting}");
        stage.receiver.answers(|_| Some((200, "")));
        until("it to be taken", || (stage.deliveries(&id, 1)[0]["status"] == "delivered").then_some(()));
    }
}

#[test]
fn an_echo_has_to_be_the_guid() {
    let stage = Stage::new();
    stage.receiver.says(Some("0b0a1c2d-0000-4000-8000-000000000000"));
    let id = stage.subscribe_invoicing("Created");
    stage.door.send_lines(&[bank("before", "Caja Rural")]);
    let health = format!("{INVOICING}/{id}/health");
    let told = until("a second attempt", || {
        let told = get(&stage.api, &health).json();
        (told["recentAttempts"].as_array().unwrap().len() >= 2).then_some(told)
    });
    let reason = told["recentAttempts"][0]["reason"].as_str().unwrap();
    assert_eq!(reason, "the body of the answer is not the GUID of the query's echo");
    assert_eq!(stage.invoicing(&id)["status"], "Pending");
    stage.receiver.says(None);
    stage.wait_invoicing(&id, "Effective");
    stage.door.send_lines(&[bank("after", "Caja Rural")]);
    assert_eq!(stage.receiver.wait_for(1)[0].record().as_deref(), Some("after"), "only what came after");
    let echoes: Vec<_> = stage.receiver.letters().into_iter().filter(|one| one.method == "GET").collect();
    assert!(
        echoes.len() >= 3 && echoes.iter().all(|one| one.target == echoes[0].target),
        "the same each time"
    );
    assert!(get(&stage.api, &format!("{CUSTOMERS}/webhooks")).json().as_array().unwrap().is_empty());
}
