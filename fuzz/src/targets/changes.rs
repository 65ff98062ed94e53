//! One line of the ingest API, and the record that it makes.

use domain::change::{Action, Change};
use domain::json::Object;
use domain::{ErrorCode, Guid};

/// A change is refused with a code that is documented, or its record is one JSON object, its id within the limits, and its warnings have
/// codes that are documented. The same line is the same change.
pub(crate) fn change(data: &[u8]) -> u64 {
    let line = data.strip_suffix(b"\n").unwrap_or(data);
    let generate = || Guid::from_bytes([7; 16]);
    let parsed = match Change::parse(line, generate) {
        Ok(parsed) => parsed,
        Err(error) => {
            assert!(ErrorCode::from_name(&error.code).is_some() && !error.message.is_empty(), "{error:?}");
            assert!(
                Object::parse(line).is_ok() || error.code == ErrorCode::InvalidJson.as_str(),
                "{error:?}"
            );
            let field = error.field.unwrap_or_default();
            let field = field.rsplit('.').next().filter(|name| name.len() < 20).unwrap_or_default();
            return domain::fuzzing::signature(&format!("{} {field}", error.code));
        }
    };
    assert_eq!(Change::parse(line, generate).as_ref(), Ok(&parsed));
    let change = &parsed.change;
    assert!((1..=200).contains(&change.correlation_id.as_str().chars().count()), "{change:?}");
    if parsed.id_was_generated {
        assert_eq!(change.correlation_id.as_str(), generate().to_string());
    }
    assert!(
        parsed.warnings.iter().all(|warning| ErrorCode::from_name(&warning.code).is_some()),
        "{:?}",
        parsed.warnings
    );
    let mut outcome = change.resource.as_str().to_owned();
    if let Action::Upsert(upsert) = &change.action {
        let body = format!("{{{}}}", upsert.members);
        let Ok(object) = Object::parse(body.as_bytes()) else { panic!("{body}") };
        assert_eq!(object.text(), body);
        outcome.push_str("upsert");
    }
    for warning in &parsed.warnings {
        outcome.push_str(&warning.code);
    }
    domain::fuzzing::signature(&outcome)
}
