//! Delays and bounds of the sign-in, on a clock that tests turn.

use std::time::Duration;

use domain::{Secret, Ticks};

use super::guard::{Guard, TooMany};
use super::hashing::Hashing;
use super::{account, clipped};

const NOW: Ticks = Ticks(639_000_000_000_000_000);

fn after(seconds: u64) -> Ticks {
    NOW + Duration::from_secs(seconds)
}

#[test]
fn a_name_is_trimmed_cut_and_read_in_any_case() {
    assert_eq!(account("  María@Example.COM \n"), "maría@example.com");
    let long = "ñ".repeat(1000);
    assert_eq!(clipped(&long).len(), 254, "cut between letters");
    assert_eq!(account(""), "");
}

#[test]
fn answers_wait_longer_with_every_failure_and_never_for_ever() {
    let guard = Guard::new(60);
    let waits: Vec<u64> =
        (0..10).map(|_| u64::try_from(guard.delay("maria", NOW).as_millis()).unwrap()).collect();
    assert_eq!(waits, [0, 0, 0, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
    assert_eq!(guard.delay("other", NOW), Duration::ZERO, "each account has its own");
    guard.succeeded("maria");
    assert_eq!(guard.delay("maria", NOW), Duration::ZERO);
}

#[test]
fn failures_are_forgotten_after_a_quiet_quarter_of_an_hour() {
    let guard = Guard::new(60);
    for _ in 0..6 {
        guard.delay("maria", NOW);
    }
    assert_eq!(guard.delay("maria", after(900)), Duration::from_secs(4));
    assert_eq!(guard.delay("maria", after(900 + 901)), Duration::ZERO);
}

#[test]
fn an_address_that_fails_too_often_waits_and_gets_its_tries_back() {
    let guard = Guard::new(3);
    let address = "203.0.113.9".parse().unwrap();
    for _ in 0..3 {
        assert_eq!(guard.admit(address, NOW), Ok(()));
    }
    assert_eq!(guard.admit(address, NOW), Err(TooMany { seconds: 5 }));
    assert_eq!(guard.admit("203.0.113.10".parse().unwrap(), NOW), Ok(()));
    assert_eq!(guard.admit(address, after(4)), Err(TooMany { seconds: 5 }));
    assert_eq!(guard.admit(address, after(5)), Ok(()));
    assert_eq!(guard.admit(address, after(5)), Err(TooMany { seconds: 5 }));
    assert_eq!(guard.admit(address, after(60)), Ok(()));
}

#[test]
fn a_try_that_succeeds_costs_an_address_nothing() {
    let guard = Guard::new(1);
    let address = "203.0.113.9".parse().unwrap();
    for _ in 0..5 {
        assert_eq!(guard.admit(address, NOW), Ok(()));
        guard.spare(address);
    }
    guard.spare(address);
    assert_eq!(guard.admit(address, NOW), Ok(()));
    assert!(guard.admit(address, NOW).is_err());
}

#[test]
fn a_busy_office_forgets_its_mistakes_too() {
    let guard = Guard::new(3);
    let address = "203.0.113.9".parse().unwrap();
    for _ in 0..2 {
        guard.admit(address, NOW).unwrap();
    }
    for second in 1..60 {
        assert_eq!(guard.admit(address, after(second)), Ok(()), "{second}");
        guard.spare(address);
    }
    for _ in 0..3 {
        assert_eq!(guard.admit(address, after(60)), Ok(()), "nothing is left of the two mistakes");
    }
}

#[test]
fn a_network_of_six_is_one_address() {
    let guard = Guard::new(1);
    guard.admit("2001:db8:1:2::1".parse().unwrap(), NOW).unwrap();
    assert!(guard.admit("2001:db8:1:2:ffff::9".parse().unwrap(), NOW).is_err());
    assert!(guard.admit("2001:db8:1:3::1".parse().unwrap(), NOW).is_ok());
    guard.admit("::ffff:203.0.113.9".parse().unwrap(), NOW).unwrap();
    assert!(guard.admit("203.0.113.9".parse().unwrap(), NOW).is_err());
}

#[test]
fn a_long_row_of_client_failures_is_no_news() {
    let guard = Guard::new(60);
    let noted = (0..100).filter(|_| guard.is_worth_noting("app", NOW)).count();
    assert_eq!(noted, 8);
}

#[tokio::test]
async fn who_comes_when_too_many_wait_is_sent_away_at_once() {
    let hashing = Hashing::new(1, 2);
    let (first, second, third) = tokio::join!(
        hashing.matches(Secret::new("one"), None),
        hashing.matches(Secret::new("two"), None),
        hashing.matches(Secret::new("three"), None),
    );
    assert_eq!((first, second, third), (Some(false), Some(false), None));
    assert_eq!(hashing.computed.get(), 2, "no work was done for the third");
    assert_eq!(hashing.matches(Secret::new("four"), None).await, Some(false), "places come back");
}
