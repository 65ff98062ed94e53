//! Tests of cursors and names of deliveries.

use super::*;

#[test]
fn only_cursors_as_they_are_written_are_accepted() {
    assert_eq!("17-3".parse(), Ok(DeliveryCursor { at: Ticks(17), sequence: 3 }));
    for wrong in ["", "17", "17-", "-17-3", "017-3", "17-03", "17-+3", "a-3", "17-3-4"] {
        assert!(wrong.parse::<DeliveryCursor>().is_err(), "{wrong}");
    }
}

#[test]
fn page_begins_before_its_cursor_and_before_until() {
    let at = |at, sequence| DeliveryCursor { at: Ticks(at), sequence };
    let start = |before, until| DeliveryPageQuery { until, before, ..DeliveryPageQuery::default() }.start();
    assert_eq!(start(None, None), None);
    assert_eq!(start(Some(at(17, 3)), None), Some(at(17, 3)));
    assert_eq!(start(None, Some(Ticks(17))), Some(at(17, 0)));
    assert_eq!(start(Some(at(17, 3)), Some(Ticks(17))), Some(at(17, 0)));
    assert_eq!(start(Some(at(16, 9)), Some(Ticks(17))), Some(at(16, 9)));
}

#[test]
fn deliveries_are_named_by_outgoing_id_or_by_sequence() {
    let id = Guid::from_bytes([7; 16]);
    assert_eq!(DeliveryName::parse(&id.to_string()), Some(DeliveryName::Outgoing(id)));
    assert_eq!(DeliveryName::parse("1018"), Some(DeliveryName::Sequence(1018)));
    for wrong in ["", "-1", "+1", "nothing", "10 18"] {
        assert_eq!(DeliveryName::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn names_on_the_wire_are_stable() {
    let statuses = DeliveryStatus::ALL.map(|status| serde_json::to_string(&status).unwrap());
    assert_eq!(statuses, ["\"delivered\"", "\"waiting\"", "\"failed\"", "\"unknown\""]);
    let occasions = AttemptOccasion::ALL.map(|occasion| serde_json::to_string(&occasion).unwrap());
    assert_eq!(occasions, ["\"event\"", "\"handshake\"", "\"replay\"", "\"test\""]);
    assert_eq!(DeliveryStatus::parse("unknown"), None);
}
