//! Throttling and bounds of the sign-in, with an explicit clock.

use std::time::Duration;

use domain::{Secret, Ticks};

use super::login_throttle::{AddressThrottled, LoginThrottle};
use super::password_hasher::PasswordHasher;
use super::{normalized_username, trimmed_username};

const NOW: Ticks = Ticks(639_000_000_000_000_000);

fn after(seconds: u64) -> Ticks {
    NOW + Duration::from_secs(seconds)
}

#[test]
fn username_is_trimmed_truncated_and_lowercased() {
    assert_eq!(normalized_username("  María@Example.COM \n"), "maría@example.com");
    let long = "ñ".repeat(1000);
    assert_eq!(trimmed_username(&long).len(), 254, "truncated at a character boundary");
    assert_eq!(normalized_username(""), "");
}

#[test]
fn account_delay_grows_with_failures_up_to_a_maximum() {
    let login_throttle = LoginThrottle::new(60);
    let waits: Vec<u64> = (0..10)
        .map(|_| u64::try_from(login_throttle.account_delay("maria", NOW).as_millis()).unwrap())
        .collect();
    assert_eq!(waits, [0, 0, 0, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
    assert_eq!(login_throttle.account_delay("other", NOW), Duration::ZERO, "accounts are independent");
    login_throttle.reset_account("maria");
    assert_eq!(login_throttle.account_delay("maria", NOW), Duration::ZERO);
}

#[test]
fn account_failures_are_forgotten_after_fifteen_minutes() {
    let login_throttle = LoginThrottle::new(60);
    for _ in 0..6 {
        login_throttle.account_delay("maria", NOW);
    }
    assert_eq!(login_throttle.account_delay("maria", after(900)), Duration::from_secs(4));
    assert_eq!(login_throttle.account_delay("maria", after(900 + 901)), Duration::ZERO);
}

#[test]
fn throttled_address_regains_attempts_over_time() {
    let login_throttle = LoginThrottle::new(3);
    let address = "203.0.113.9".parse().unwrap();
    for _ in 0..3 {
        assert_eq!(login_throttle.admit_address(address, NOW), Ok(()));
    }
    assert_eq!(login_throttle.admit_address(address, NOW), Err(AddressThrottled { seconds: 5 }));
    assert_eq!(login_throttle.admit_address("203.0.113.10".parse().unwrap(), NOW), Ok(()));
    assert_eq!(login_throttle.admit_address(address, after(4)), Err(AddressThrottled { seconds: 5 }));
    assert_eq!(login_throttle.admit_address(address, after(5)), Ok(()));
    assert_eq!(login_throttle.admit_address(address, after(5)), Err(AddressThrottled { seconds: 5 }));
    assert_eq!(login_throttle.admit_address(address, after(60)), Ok(()));
}

#[test]
fn successful_attempt_is_refunded() {
    let login_throttle = LoginThrottle::new(1);
    let address = "203.0.113.9".parse().unwrap();
    for _ in 0..5 {
        assert_eq!(login_throttle.admit_address(address, NOW), Ok(()));
        login_throttle.refund_address(address);
    }
    login_throttle.refund_address(address);
    assert_eq!(login_throttle.admit_address(address, NOW), Ok(()));
    assert!(login_throttle.admit_address(address, NOW).is_err());
}

#[test]
fn refills_continue_under_steady_attempts() {
    let login_throttle = LoginThrottle::new(3);
    let address = "203.0.113.9".parse().unwrap();
    for _ in 0..2 {
        login_throttle.admit_address(address, NOW).unwrap();
    }
    for second in 1..60 {
        assert_eq!(login_throttle.admit_address(address, after(second)), Ok(()), "{second}");
        login_throttle.refund_address(address);
    }
    for _ in 0..3 {
        assert_eq!(login_throttle.admit_address(address, after(60)), Ok(()), "both failures are forgotten");
    }
}

#[test]
fn ipv6_network_counts_as_one_address() {
    let login_throttle = LoginThrottle::new(1);
    login_throttle.admit_address("2001:db8:1:2::1".parse().unwrap(), NOW).unwrap();
    assert!(login_throttle.admit_address("2001:db8:1:2:ffff::9".parse().unwrap(), NOW).is_err());
    assert!(login_throttle.admit_address("2001:db8:1:3::1".parse().unwrap(), NOW).is_ok());
    login_throttle.admit_address("::ffff:203.0.113.9".parse().unwrap(), NOW).unwrap();
    assert!(login_throttle.admit_address("203.0.113.9".parse().unwrap(), NOW).is_err());
}

#[test]
fn long_series_of_client_failures_is_audited_only_at_first() {
    let login_throttle = LoginThrottle::new(60);
    let audited = (0..100).filter(|_| login_throttle.is_worth_auditing("app", NOW)).count();
    assert_eq!(audited, 8);
}

#[tokio::test]
async fn full_hashing_queue_refuses_at_once() {
    let password_hasher = PasswordHasher::new(1, 2);
    let (first, second, third) = tokio::join!(
        password_hasher.matches(Secret::new("one"), None),
        password_hasher.matches(Secret::new("two"), None),
        password_hasher.matches(Secret::new("three"), None),
    );
    assert_eq!((first, second, third), (Some(false), Some(false), None));
    assert_eq!(password_hasher.computed.get(), 2, "the refused request computes no hash");
    assert_eq!(password_hasher.matches(Secret::new("four"), None).await, Some(false), "slots are released");
}
