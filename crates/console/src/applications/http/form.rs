//! What the forms of the area have in common.

use std::time::Duration;

use domain::TeamId;
use domain::subscription::{Product, Products};
use operator::admin::{AdminError, Permission};
use pages::{PageError, Params};

use crate::context::Context;

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// For actions that give or end access: the role first, then a fresh proof of identity.
pub(super) fn require(context: &Context, permission: Permission) -> Result<(), PageError> {
    context.authority().require(permission)?;
    context.require_fresh()
}

/// A field without surrounding space; empty where there is none.
pub(super) fn text(form: &Params, name: &str) -> String {
    form.get(name).unwrap_or_default().trim().to_owned()
}

pub(super) fn optional(form: &Params, name: &str) -> Option<String> {
    Some(text(form, name)).filter(|text| !text.is_empty())
}

/// The lines of a field that are not blank.
pub(super) fn lines(form: &Params, name: &str) -> Vec<String> {
    let lines = form.get(name).unwrap_or_default().lines().map(str::trim);
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

pub(super) fn products(form: &Params) -> Products {
    form.all("product").filter_map(Product::from_name).collect()
}

/// A quota; None: the configured one.
pub(super) fn quota(form: &Params) -> Result<Option<u64>, PageError> {
    let why = || PageError::Refused("the quota is a whole number of calls a day".into());
    optional(form, "quota").map(|text| text.parse().map_err(|_| why())).transpose()
}

/// The team that a form names.
pub(super) fn team(form: &Params) -> Option<TeamId> {
    optional(form, "team").map(TeamId::new)
}

/// The revision of the row that the page showed.
pub(super) fn revision(form: &Params) -> Option<u64> {
    form.get("revision").and_then(|text| text.parse().ok())
}

/// How long the old key or secret stays valid.
pub(super) fn overlap(form: &Params) -> Duration {
    match form.get("overlap") {
        Some("none") => Duration::ZERO,
        Some("hour") => HOUR,
        Some("week") => 7 * DAY,
        _ => DAY,
    }
}

/// How long a token is valid; None: until it is revoked.
pub(super) fn lifetime(form: &Params) -> Option<Duration> {
    match form.get("lifetime") {
        Some("never") => None,
        Some("month") => Some(30 * DAY),
        Some("year") => Some(365 * DAY),
        _ => Some(90 * DAY),
    }
}

/// An action that cannot be undone needs the name of its object.
pub(super) fn confirmed(form: &Params, name: &str) -> Result<(), PageError> {
    if form.get("confirm").map(str::trim) == Some(name) {
        return Ok(());
    }
    Err(PageError::Refused(format!("type {name} to confirm")))
}

/// What a form names and does not exist is a refusal, not a page that does not exist.
pub(super) fn named<T>(result: Result<T, AdminError>) -> Result<T, PageError> {
    result.map_err(|error| match error {
        AdminError::NotFound(_) => PageError::Refused(error.to_string()),
        error => error.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_without_the_space_around_them() {
        let form = Params::parse(
            b"name=+Panel+&team=+&uris=+a%0D%0A%0D%0A+b&product=payroll&product=x&quota=12&confirm=+k+",
        );
        assert_eq!(text(&form, "name"), "Panel");
        assert_eq!(team(&form), None);
        assert_eq!(lines(&form, "uris"), ["a", "b"]);
        assert_eq!(products(&form).names(), ["payroll"]);
        assert_eq!(quota(&form).unwrap(), Some(12));
        assert!(confirmed(&form, "k").is_ok() && confirmed(&form, "key").is_err());
        let other = Params::parse(b"quota=many&lifetime=never");
        assert!(quota(&other).is_err());
        assert_eq!(lifetime(&other), None);
        assert_eq!(quota(&Params::default()).unwrap(), None);
        assert_eq!(lifetime(&Params::default()), Some(90 * DAY), "a token ends by default");
    }
}
